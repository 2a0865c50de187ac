/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/plugins/shadow.c -- what a host program does that links a BLAS of its own: names that the
 * libraries behind plug-ins have too, visible to all. */
void cblas_sgemm(void);
void bli_sgemm(void);
void dnnl_version(void);
void Sleef_expf8_u10(void);

void cblas_sgemm(void)
{
}

void bli_sgemm(void)
{
}

void Sleef_expf8_u10(void)
{
}

void dnnl_version(void)
{
}
