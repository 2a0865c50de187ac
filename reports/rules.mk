# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
TOOL_SRCS += $(sort $(wildcard reports/*.c))

# Report pages work offline: their style sheet and scripts are part of the program.
html_assets := $(addprefix $(BUILD)/gen/,html_page_css.h html_charts_js.h chartjs.h chartjs_license.h)
GEN_HEADERS += $(html_assets)
$(BUILD)/gen/html_page_css.h: reports/html_page.css scripts/embed
	@mkdir -p $(@D)
	$(call say,GEN  $@)
	@scripts/embed page_css $< > $@
$(BUILD)/gen/html_charts_js.h: reports/html_charts.js scripts/embed
	@mkdir -p $(@D)
	$(call say,GEN  $@)
	@scripts/embed charts_js $< > $@
$(BUILD)/gen/chartjs.h: third_party/chartjs/chart.min.js scripts/embed
	@mkdir -p $(@D)
	$(call say,GEN  $@)
	@scripts/embed chartjs $< > $@
$(BUILD)/gen/chartjs_license.h: third_party/chartjs/LICENSE.md scripts/embed
	@mkdir -p $(@D)
	$(call say,GEN  $@)
	@scripts/embed chartjs_license $< > $@
