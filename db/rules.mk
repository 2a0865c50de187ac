# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# The read half goes into libassay (production opens a store with it), the rest into the tools.
db_all   := $(sort $(wildcard db/*.c))
db_read  := $(filter db/open.c db/handle.c db/db_fail.c db/read_store.c,$(db_all))
LIB_SRCS  += $(db_read)
TOOL_SRCS += $(filter-out $(db_read),$(db_all))

GEN_HEADERS += $(BUILD)/gen/schema_sql.h $(BUILD)/gen/views_sql.h
$(BUILD)/gen/%_sql.h: db/%.sql scripts/embed
	@mkdir -p $(@D)
	$(call say,GEN  $@)
	@scripts/embed assay__$*_sql $< > $@
