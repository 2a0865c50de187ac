# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Programs that run during the build only.
tools_objs := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tools/*.c))
TOOLS := $(patsubst tools/%.c,$(BUILD)/bin/%,$(wildcard tools/*.c))
CODEHASH := $(filter %/codehash,$(TOOLS))

$(TOOLS): $(BUILD)/bin/%: $(BUILD)/obj/tools/%.o $(BUILD)/lib/libassay.a
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $(LIB_LIBS) -o $@
