# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Non-recursive: every folder adds its sources in its own rules.mk; all output goes under BUILD.
#
#   make                    libassay, the command line, the plug-ins
#   make quickstart         set up, build, sweep 24 real shapes, write report.html
#   make check              set up, build, every test, again under sanitizers, lint
#   make lint | check-all | mutations | bench | install | uninstall | bundle | clean
#   make BUILD=build/asan SAN=address,undefined unit-tests
VERSION   := 0.1.0
SOVERSION := 0

BUILD  ?= build
SAN    ?=
OPT    ?= -O2 -g
PREFIX ?= /usr/local
# V=1 shows whole command lines.
V ?=
Q := $(if $(V),,@)
say = @$(if $(V),:,echo '  $(1)')
PKG_CONFIG ?= pkg-config
# Under make -n and in `make clean` on a bare machine pkg-config may be missing; stay silent then.
pkg = $(shell $(PKG_CONFIG) $(1) $(2) 2>/dev/null)

WERROR ?= -Werror
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
        -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wcast-qual -Wconversion $(WERROR)

# What decides the code of a kernel, in order; this text enters revisions, so no -I, -g, -o in it.
SANFLAGS  := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
CODEFLAGS := $(strip -std=c11 $(filter-out -g%,$(OPT)) -ffp-contract=off -fPIC $(SANFLAGS) $(CFLAGS))
CPPFLAGS_ALL := -D_GNU_SOURCE -Iinclude -I. -I$(BUILD) -I$(BUILD)/gen $(CPPFLAGS)
CFLAGS_ALL = $(CODEFLAGS) $(filter -g%,$(OPT)) $(WARN) $(CPPFLAGS_ALL) -pthread -MMD -MP
LDFLAGS_ALL := $(SANFLAGS) -pthread $(LDFLAGS)

# Filled by the rules.mk files.
LIB_SRCS  :=
TOOL_SRCS :=
CLI_SRCS  :=
PLUGINS   :=
GEN_HEADERS := $(BUILD)/gen/config.h

# Pure runtime code that plug-ins need; each gets its own hidden copy.
PLUGIN_RUNTIME_SRCS := $(sort $(wildcard runtime/dtype*.c runtime/convert*.c))
# What plug-ins with kernels on the host's CPU link beside that.
HOST_RUNTIME_SRCS := $(sort $(wildcard runtime/host_*.c)) runtime/elf_id.c runtime/error.c

LIB_LIBS  := $(call pkg,--libs,sqlite3 libsodium libxxhash) -lm -ldl
TOOL_LIBS := $(call pkg,--libs,jansson) -lcsv

.DEFAULT_GOAL := default
.PHONY: default clean
.DELETE_ON_ERROR:
.SECONDARY:

# Rewritten while this file is read, and only when the text differs.
ifneq ($(MAKECMDGOALS),clean)
stamp = $(shell mkdir -p $(BUILD)/gen && printf '%s\n' '$(2)' | cmp -s - $(BUILD)/gen/$(1) || \
          printf '%s\n' '$(2)' > $(BUILD)/gen/$(1))
endif

include $(sort $(wildcard */rules.mk backends/*/rules.mk))

lib_objs  = $(LIB_SRCS:%.c=$(BUILD)/obj/%.o)
tool_objs = $(TOOL_SRCS:%.c=$(BUILD)/obj/%.o)
cli_objs  = $(CLI_SRCS:%.c=$(BUILD)/obj/%.o)

LIB_A   := $(BUILD)/lib/libassay.a
TOOL_A  := $(BUILD)/lib/libassay-tool.a
LIB_SO  := $(BUILD)/lib/libassay.so.$(VERSION)
LIB_SONAME := libassay.so.$(SOVERSION)
ASSAY   := $(if $(CLI_SRCS),$(BUILD)/bin/assay)

# ---- generated files -------------------------------------------------------------------------

# A change of flags rebuilds all, a removed source remakes the archives.
ifneq ($(MAKECMDGOALS),clean)
unused := $(call stamp,flags.txt,$(CC) $(CODEFLAGS) $(OPT) $(WARN) $(CPPFLAGS))
unused := $(call stamp,sources.txt,$(LIB_SRCS) $(TOOL_SRCS) $(CLI_SRCS))
endif

$(BUILD)/gen/config.h: scripts/probe $(BUILD)/gen/flags.txt Makefile
	@mkdir -p $(@D)
	@scripts/probe --cc '$(CC)' --version $(VERSION) --header $@

# ---- libassay, the tool library, the command line --------------------------------------------

$(BUILD)/obj/%.o: %.c $(BUILD)/gen/flags.txt | $(GEN_HEADERS)
	@mkdir -p $(@D)
	$(call say,CC   $@)
	$(Q)$(CC) $(CFLAGS_ALL) $(call own_flags,$<) -c $< -o $@

$(LIB_A): $(lib_objs) $(BUILD)/gen/sources.txt
	@mkdir -p $(@D)
	$(call say,AR   $@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $(lib_objs)

$(TOOL_A): $(tool_objs) $(BUILD)/gen/sources.txt
	@mkdir -p $(@D)
	$(call say,AR   $@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $(tool_objs)

# Sanitized objects leave the sanitizer's run time undefined, hence no -z defs there.
comma := ,
DEFS := $(if $(SAN),,-Wl$(comma)-z$(comma)defs)

# The bundle links the same objects once more with another search path, hence variables.
link_lib = $(CC) -shared $(LDFLAGS_ALL) $(DEFS) -Wl,-soname,$(LIB_SONAME) \
           -Wl,--version-script=runtime/libassay.map $(lib_objs) $(LIB_LIBS)
link_assay = $(CC) $(LDFLAGS_ALL) $(cli_objs) $(TOOL_A) $(LIB_A) $(TOOL_LIBS) $(LIB_LIBS)

$(LIB_SO): $(lib_objs) runtime/libassay.map $(BUILD)/gen/sources.txt
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(link_lib) -o $@
	@ln -sf $(@F) $(BUILD)/lib/$(LIB_SONAME)
	@ln -sf $(LIB_SONAME) $(BUILD)/lib/libassay.so

$(BUILD)/bin/assay: $(cli_objs) $(TOOL_A) $(LIB_A)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(link_assay) -o $@

# ---- plug-ins --------------------------------------------------------------------------------
# backends/<name>/rules.mk sets PLUGINS += <name> and may set <name>_SRCS, _CFLAGS, _LIBS,
# _RUNTIME_SRCS, _DIR, _OUT; CFLAGS_<path of a .c file> holds flags of that file alone. Files named *_avx2.c
# get AVX2, FMA and F16C, *_avx512.c also AVX-512 F, VL, BW and DQ, which is why they may be entered
# only behind the run-time check. _HASHED are sources that its own rules.mk compiles (CUDA C, GLSL): they
# are in the table of source hashes, each with its CFLAGS_<path>.
# tools/codehash makes the table of source hashes that backends/source_hash.h declares. Every object
# holds the number of sources, and objects are intermediate files, whose absence alone makes nothing
# anew: the list of sources is a file on which all of them depend.
avx2_flags   = $(if $(filter %_avx2.c,$(1)),-mavx2 -mfma -mf16c)
avx512_flags = $(if $(filter %_avx512.c,$(1)),-mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx2 -mfma -mf16c)
own_flags    = $(strip $(call avx2_flags,$(1)) $(call avx512_flags,$(1)) $(CFLAGS_$(1)))
hash_flags = $(foreach f,$(1),$(if $(call own_flags,$(f)),--file-flags $(f) '$(call own_flags,$(f))'))

define plugin_rules
$(1)_DIR ?= backends/$(1)
$(1)_OUT ?= $$(BUILD)/lib/assay
$(1)_SRCS ?= $$(sort $$(wildcard $$($(1)_DIR)/*.c))
$(1)_RUNTIME_SRCS ?= $$(PLUGIN_RUNTIME_SRCS)
ifneq ($$($(1)_SRCS),)
$(1)_code := $$($(1)_SRCS) $$($(1)_RUNTIME_SRCS)
$(1)_table := $$($(1)_code) $$($(1)_HASHED)
$(1)_hash := $$(if $$(CODEHASH),$$(BUILD)/gen/$(1)_source_hash.c)
$(1)_objs := $$(patsubst %.c,$$(BUILD)/plugin/$(1)/%.o,$$($(1)_code)) \
             $$(if $$($(1)_hash),$$(BUILD)/plugin/$(1)/source_hash.o)
ifeq ($$($(1)_OUT),$$(BUILD)/lib/assay)
PLUGIN_FILES += $$($(1)_OUT)/assay_$(1).so
else
TEST_PLUGINS += $$($(1)_OUT)/assay_$(1).so
endif
$(1)_link = $$(CC) -shared $$(LDFLAGS_ALL) $$(DEFS) -Wl,--version-script=backends/plugin.map \
            -Wl,--build-id=sha1 $$($(1)_objs) $$($(1)_LIBS) -lm -ldl
$(1)_compile = $$(CC) $$(CFLAGS_ALL) -fvisibility=hidden -DASSAY_SOURCE_COUNT=$$(words $$($(1)_table))
plugin_objs += $$($(1)_objs)
$(1)_list := $$(BUILD)/gen/$(1)_sources.txt
unused := $$(call stamp,$(1)_sources.txt,$$($(1)_table))
$$(BUILD)/plugin/$(1)/%.o: %.c $$(BUILD)/gen/flags.txt $$($(1)_list) $$(wildcard $$($(1)_DIR)/rules.mk) | $$(GEN_HEADERS)
	@mkdir -p $$(@D)
	$$(call say,CC   $$@)
	$$(Q)$$($(1)_compile) $$($(1)_CFLAGS) $$(call own_flags,$$<) -c $$< -o $$@
$$(BUILD)/gen/$(1)_source_hash.c: $$($(1)_table) $$(CODEHASH) $$(BUILD)/gen/flags.txt $$($(1)_list) \
    $$(wildcard $$($(1)_DIR)/*.h $$($(1)_DIR)/*.glsl backends/*.h runtime/*.h include/assay/*) | $$(GEN_HEADERS)
	$$(call say,HASH $$@)
	$$(Q)$$(CODEHASH) --flags '$$(strip $$(CODEFLAGS) $$($(1)_CFLAGS))' \
	    $$(call hash_flags,$$($(1)_table)) --include $$(BUILD) \
	    --opaque include/assay/op.def --root . -o $$@ \
	    assay__source_hashes $$($(1)_table)
$$(BUILD)/plugin/$(1)/source_hash.o: $$(BUILD)/gen/$(1)_source_hash.c
	@mkdir -p $$(@D)
	$$(call say,CC   $$@)
	$$(Q)$$($(1)_compile) -c $$< -o $$@
$$($(1)_OUT)/assay_$(1).so: $$($(1)_objs) backends/plugin.map
	@mkdir -p $$(@D)
	$$(call say,LINK $$@)
	$$(Q)$$($(1)_link) -o $$@
endif
endef
PLUGIN_FILES :=
TEST_PLUGINS :=
plugin_objs :=
$(foreach p,$(PLUGINS),$(eval $(call plugin_rules,$(p))))

# ---- entry points ----------------------------------------------------------------------------

default: $(LIB_A) $(TOOL_A) $(LIB_SO) $(ASSAY) $(PLUGIN_FILES) $(TOOLS)

test-plugins: $(TEST_PLUGINS)

clean:
	rm -rf $(BUILD)

-include $(patsubst %.o,%.d,$(lib_objs) $(tool_objs) $(cli_objs) $(plugin_objs) $(test_objs) $(tools_objs) $(bench_objs))
