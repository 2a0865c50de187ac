# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# bench/bench_<what>.c is one program each; scripts/bench runs them and keeps their rows.
bench_objs := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard bench/bench_*.c)))
BENCHES    := $(patsubst bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard bench/bench_*.c)))

$(BENCHES): $(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(BUILD)/obj/cli/bench_fill.o \
    $(BUILD)/lib/libassay-tool.a $(BUILD)/lib/libassay.a
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $($*_LIBS) $(TOOL_LIBS) $(LIB_LIBS) -o $@

# libxsmm beside the plug-in that wraps it: an archive, as backends/libxsmm/rules.mk says.
bench_small_LIBS = $(libxsmm_LIBS)
