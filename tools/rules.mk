# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Programs that run during the build only.
tools_objs := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tools/*.c))
TOOLS := $(patsubst tools/%.c,$(BUILD)/bin/%,$(wildcard tools/*.c))
CODEHASH := $(filter %/codehash,$(TOOLS))

# Only what it needs: otherwise each edit of the library would hash every plug-in anew.
tool_lib_objs := $(patsubst %,$(BUILD)/obj/runtime/%.o,lexer digest error)

$(TOOLS): $(BUILD)/bin/%: $(BUILD)/obj/tools/%.o $(tool_lib_objs)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $(LIB_LIBS) -o $@
