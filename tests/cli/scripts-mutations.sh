#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# The lists of mutations: lines that code has moved away from guard nothing. Apart from the test of
# the script, which would otherwise notice each mutation of the script by its line alone.
set -u
scripts/mutate -n
