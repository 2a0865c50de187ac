# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Checks and the two commands of the README. `check` and `quickstart` set up first and then call
# make anew, because what pkg-config says is read when make starts.
.PHONY: quickstart check check-all check-built lint syntax mutations bench docs

JOBS := $(shell nproc 2>/dev/null || echo 2)
AGAIN := $(MAKE) --no-print-directory -j$(JOBS)
ARGS ?=

quickstart:
	scripts/setup build
	$(AGAIN) default
	scripts/quickstart --build $(BUILD) $(ARGS)

# The totals line of scripts/check comes last.
check:
	scripts/setup all
	scripts/check

check-all:
	scripts/setup all
	scripts/check --all

bench: default $(BENCHES)
	scripts/bench --build $(BUILD) $(ARGS)

mutations:
	scripts/mutate $(ARGS)

# Pages that are made of the program, and shape sets of ops that it has; tests compare them.
docs: default
	scripts/gen-cli $(BUILD)/bin/assay > docs/cli.md
	$(BUILD)/bin/assay ops --format md > docs/ops.md
	scripts/gen-shapes shapes
	scripts/gen-status > docs/status.md

# ---- lint ------------------------------------------------------------------------------------
# gcc's warnings are errors of every build. clang looks at the same files here, without making code.
lint_c := $(shell find include $(wildcard support runtime backends tuner sweep calibrate conform contract db reports \
            cli tools examples tests bench) -name '*.[ch]' | sort)
unbuilt_c := $(if $(filter cuda,$(PLUGINS)),,backends/cuda/% tests/unit/test_cuda_kernels.c)
syntax_c := $(filter-out examples/% tests/villains/% tests/cuda_villains/% tests/many/% tests/crooked/% $(unbuilt_c) $(SYNTAX_LACKS),$(filter %.c,$(lint_c)))
syntax_ok := $(syntax_c:%.c=$(BUILD)/syntax/%.ok)
scripts_sh := $(sort $(shell grep -lE '^\#!/bin/(ba)?sh' scripts/* .ci/* 2>/dev/null) $(wildcard tests/cli/*.sh tests/gpu/*.sh))

syntax: $(syntax_ok)

plugin_flags = $(if $(filter backends/%,$(1)),$($(word 2,$(subst /, ,$(1)))_CFLAGS))

$(BUILD)/syntax/%.ok: %.c $(BUILD)/gen/flags.txt | $(GEN_HEADERS)
	@mkdir -p $(@D)
	@clang $(CFLAGS_ALL) $(call plugin_flags,$<) $(call own_flags,$<) -DASSAY_SOURCE_COUNT=1 \
	    -MF $(@:.ok=.d) -MT $@ -fsyntax-only $<
	@touch $@

# A stamp a file: a lint looks again only at what changed.
lint_cu := $(sort $(wildcard backends/*/kernels/*.cu backends/*/kernels/*.cuh tests/cuda_villains/*.cu))
format_ok := $(patsubst %,$(BUILD)/format/%.ok,$(lint_c) $(lint_cu))
shell_ok := $(scripts_sh:%=$(BUILD)/shell/%.ok)

$(BUILD)/format/%.ok: % .clang-format
	@mkdir -p $(@D)
	@clang-format --dry-run -Werror $<
	@touch $@

$(BUILD)/shell/%.ok: %
	@mkdir -p $(@D)
	@shellcheck -S warning $<
	@touch $@

lint: default $(UNIT_TESTS) syntax $(format_ok) $(shell_ok)
	scripts/check-layers
	scripts/check-size
	scripts/check-text
	scripts/check-catalogue $(BUILD)/bin/assay
	scripts/gen-status --check docs/status.md
	@[ ! -d .git ] && [ ! -f .git ] || scripts/check-commit HEAD
	$(call say,LINT cppcheck)
	@mkdir -p $(BUILD)/cppcheck
	$(Q)scripts/cppcheck --cppcheck-build-dir=$(BUILD)/cppcheck $(filter-out tests/%,$(syntax_c))

-include $(syntax_ok:.ok=.d)
