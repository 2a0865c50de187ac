/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/fault_note.c -- see fault_note.h. */
#include "cli/fault_note.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/status.h"
#include "cli/cmd.h"
#include "runtime/doing.h"

/* Room for a handler where the stack itself ran over. */
#define STACK_BYTES 65536

static assay__doing doing;
static const char *command_name;
static char handler_stack[STACK_BYTES];

static const struct fault {
    int number;
    const char *text;
} faults[] = {
    {SIGSEGV, "segmentation fault"}, {SIGBUS, "bus error"}, {SIGILL, "illegal instruction"},
    {SIGFPE, "arithmetic error"},    {SIGABRT, "abort"},    {SIGINT, "interrupted"},
    {SIGTERM, "terminated"}};
#define FAULT_COUNT (sizeof faults / sizeof faults[0])
static struct sigaction before[FAULT_COUNT];

/* All here is allowed in a handler of signals; texts of plug-ins are shown without control bytes.
 */
static void say(const char *text)
{
    size_t length = strlen(text);

    while (length > 0) {
        size_t plain = 0;
        while (plain < length && (unsigned char)text[plain] >= ' ' && text[plain] != 0x7f)
            plain++;
        if (write(2, plain > 0 ? text : "?", plain > 0 ? plain : 1) < 0)
            return;
        text += plain > 0 ? plain : 1;
        length -= plain > 0 ? plain : 1;
    }
}

static void tell(const char *what)
{
    static const char *const places[] = {[ASSAY__DOING_NOTHING] = "",
                                         [ASSAY__DOING_LOAD] = " while loading plug-in ",
                                         [ASSAY__DOING_OPEN] = " while opening plug-in ",
                                         [ASSAY__DOING_IDENTIFY] =
                                             " in library_identity of plug-in ",
                                         [ASSAY__DOING_ASK] = " in can_run_fn of "};
    const uint32_t place = doing.what;

    if (place >= sizeof places / sizeof places[0])
        return;
    say("assay ");
    say(command_name);
    say(": ");
    say(what);
    say(places[place]);
    say(place == ASSAY__DOING_ASK ? doing.subject : doing.path);
    say("; leave it out by --backend or --plugins, or move its file away");
    (void)!write(2, "\n", 1);
}

static void on_fault(int number)
{
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        if (faults[i].number != number)
            continue;
        if (doing.what != ASSAY__DOING_NOTHING)
            tell(faults[i].text);
        if (doing.what != ASSAY__DOING_NOTHING && number != SIGINT && number != SIGTERM)
            _exit(assay__exit_code(ASSAY_UNAVAILABLE));
        /* Not a plug-in's, or what the user wanted: as it would have been without this handler. */
        (void)sigaction(number, &before[i], NULL);
        (void)raise(number);
    }
}

static void on_exit_within(void)
{
    if (doing.what == ASSAY__DOING_NOTHING)
        return;
    tell("the process was ended");
    _exit(assay__exit_code(ASSAY_UNAVAILABLE));
}

void assay__fault_note_begin(const char *command)
{
    const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    struct sigaction action;

    if (command_name != NULL)
        return;
    command_name = command;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    action.sa_flags = SA_ONSTACK;
    (void)sigaltstack(&stack, NULL);
    for (size_t i = 0; i < FAULT_COUNT; i++)
        if (sigaction(faults[i].number, NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            (void)sigaction(faults[i].number, &action, NULL);
    (void)atexit(on_exit_within);
    assay__doing_at(&doing);
}
