#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* Nothing. */
layout(local_size_x_id = 0) in;

void main()
{
}
