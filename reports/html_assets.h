/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/html_assets.h -- what every report page carries inside (made from files by the build). */
#ifndef ASSAY_REPORTS_HTML_ASSETS_H
#define ASSAY_REPORTS_HTML_ASSETS_H

extern const char *const assay__html_css;
extern const char *const assay__html_charts_js;
extern const char *const assay__html_chartjs;
extern const char *const assay__html_chartjs_license;

#endif
