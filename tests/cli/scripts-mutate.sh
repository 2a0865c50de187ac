#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# mutate: a killed, a surviving, an idle and a broken mutation.
set -u
mkdir -p "$WORK/tree/tests/mutations.d" "$WORK/tree/scripts"
root=$PWD
cp scripts/run-tests "$WORK/tree/scripts/"
cd "$WORK/tree" || exit 1
printf '#include <stdbool.h>\nint rule(int x) { return x < 3; }\n' >rule.c
cat >main.c <<'END'
#include <stdio.h>
#include <unistd.h>
int rule(int x);
int main(void)
{
    if (rule(8) && fork() == 0 && setsid() > 0 && fclose(stdout) == 0)
        return (int)sleep(100);
    int bad = rule(3) != 0 || rule(2) != 1;
    printf("%d%%: Checks: 1, Failures: %d, Errors: 0\n", bad ? 0 : 100, bad);
    return bad;
}
END
cat >Makefile <<'END'
default test-plugins:
$(BUILD)/tests/test_rule: rule.c main.c
	mkdir -p $(@D)
	$(CC) rule.c main.c -o $@
END
# expect EXIT TOTALS LINE
expect() {
    local rc=0
    printf '# comment\n\n%s\n' "$3" >tests/mutations.txt
    "$root/scripts/mutate" >out 2>&1 || rc=$?
    if [ "$rc" -ne "$1" ] || [ "$(tail -n 1 out)" != "$2" ]; then
        cat out && echo "wanted $1 and '$2' for $3" && exit 1
    fi
}
expect 0 '1 passed, 0 failed' 'rule.c :: s/x < 3/x <= 3/ :: test_rule'
expect 1 '0 passed, 1 failed' 'rule.c :: s/x < 3/x < 3 \&\& x != 7/ :: test_rule'
expect 1 '0 passed, 1 failed' 'rule.c :: s/nosuch/text/ :: test_rule'
expect 1 '0 passed, 1 failed' 'rule.c :: s/return/retrun/ :: test_rule'
expect 1 '0 passed, 1 failed' 'absent.c :: s/a/b/ :: test_rule'
expect 1 '0 passed, 1 failed' 'rule.c: s/a/b/: test_rule'
expect 1 '0 passed, 0 failed' ''
# What a mutant leaves running ends with it.
expect 0 '1 passed, 0 failed' 'rule.c :: s/x < 3/x < 9/ :: test_rule'
for process in /proc/[0-9]*; do
    case $(readlink "$process/exe") in
    */build/mutants/tests/test_rule*) ! grep -qsz "^WORK=$WORK\$" "$process/environ" || { echo "left running: $process" && exit 1; } ;;
    esac
done
# Extended expressions: a bar that is not escaped is an alternative.
expect 0 '1 passed, 0 failed' 'rule.c :: s/(x < 3|none)/x <= 3/ :: test_rule'
# A mutant without an end is noticed, and the line says how.
export ASSAY_MUTANT_TIMEOUT=1
expect 0 '1 passed, 0 failed' 'rule.c :: s/return x < 3;/for (;;) ;/ :: test_rule'
grep -q '^ok .*ran out of time' out || { cat out && exit 1; }
# But time alone is no evidence once the machine is slower than it was when the unbroken test was timed.
cp main.c quick.c
sed -i 's/^    int bad = /    FILE *runs = fopen("runs", "a");\n    fputs("x", runs);\n    long run = ftell(runs);\n    fclose(runs);\n    if (run == 2 || run == 3)\n        sleep(run == 2 ? 1000 : 5);\n&/' main.c
grep -q 'run == 3' main.c || exit 1
expect 1 '0 passed, 1 failed' 'rule.c :: s/x < 3/x < 3 \&\& x != 7/ :: test_rule'
grep -q 'survived' out || { cat out && exit 1; }
mv quick.c main.c
unset ASSAY_MUTANT_TIMEOUT
# A list by name, else lines by text.
printf '%s\n' 'rule.c :: s/x < 3/true/ :: test_rule' 'rule.c :: s/x < 3/x < 2/ :: test_rule' >tests/mutations.d/one.txt
echo 'rule.c :: s/x < 3/x <= 3/ :: test_rule' >tests/mutations.txt
for pattern in one:2 'x <= 3:1' 'nosuch:0' 'test_rule:3'; do
    totals=$("$root/scripts/mutate" -j 2 "${pattern%:*}" | tail -n 1)
    [ "$totals" = "${pattern##*:} passed, 0 failed" ] || { echo "$pattern: $totals" && exit 1; }
done
grep -q 'x < 3' rule.c
