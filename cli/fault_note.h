/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/fault_note.h -- a command that dies in code of a plug-in says in which.
 *
 * Plug-ins are code in this process: one that crashes while it is loaded, opened or asked whether
 * it can run takes the command with it.  Only a sweep can go on, since it tries them out in other
 * processes.  What is named here is the culprit, and the exit code is that of a plug-in that cannot
 * be used. */
#ifndef ASSAY_CLI_FAULT_NOTE_H
#define ASSAY_CLI_FAULT_NOTE_H

/* From now on, for this process; `command` lasts as long as it.  Once a process. */
void assay__fault_note_begin(const char *command);

#endif
