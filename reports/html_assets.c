/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/html_assets.c -- the embedded style sheet and scripts. */
#include "reports/html_assets.h"

#include "gen/chartjs.h"
#include "gen/chartjs_license.h"
#include "gen/html_charts_js.h"
#include "gen/html_page_css.h"

const char *const assay__html_css = page_css;
const char *const assay__html_charts_js = charts_js;
const char *const assay__html_chartjs = chartjs;
const char *const assay__html_chartjs_license = chartjs_license;
