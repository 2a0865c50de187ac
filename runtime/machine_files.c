/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/machine_files.c -- small files of /proc and /sys. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/machine.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t read_start(const char *path, char *buf, size_t cap)
{
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    while (used < cap) {
        ssize_t got = read(fd, buf + used, cap - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    (void)close(fd);
    return used;
}

bool assay__machine_file(const char *root, const char *path, char *buf, size_t cap)
{
    char full[512];
    int length = snprintf(full, sizeof full, "%s/%s", root, path);
    size_t used = 0;

    if (length > 0 && (size_t)length < sizeof full)
        used = read_start(full, buf, cap - 1);
    while (used > 0 && is_space(buf[used - 1]))
        used--;
    buf[used] = '\0';
    return used > 0;
}

bool assay__machine_number(const char *root, const char *path, double *out)
{
    char text[64];

    if (!assay__machine_file(root, path, text, sizeof text) ||
        strspn(text, "0123456789") != strlen(text))
        return false;
    *out = (double)strtoull(text, NULL, 10);
    return true;
}

/* Where the value of a "name : value" line begins; NULL: this line has another name. */
static const char *line_value(const char *line, const char *name)
{
    size_t length = strlen(name);

    if (strncmp(line, name, length) != 0)
        return NULL;
    line += length;
    line += strspn(line, " \t");
    if (*line != ':')
        return NULL;
    line++;
    return line + strspn(line, " \t");
}

bool assay__machine_cpuinfo(const assay__machine *machine, char text[ASSAY__CPUINFO_BYTES])
{
    return assay__machine_file(machine->proc, "cpuinfo", text, ASSAY__CPUINFO_BYTES);
}

bool assay__machine_cpu_fact(const char *cpuinfo, const char *name, char *buf, size_t cap)
{
    buf[0] = '\0';
    for (const char *line = cpuinfo; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *value = line_value(line, name);
        if (value == NULL)
            continue;
        size_t length = strcspn(value, "\n");
        while (length > 0 && is_space(value[length - 1]))
            length--;
        if (length == 0 || length >= cap)
            return false;
        memcpy(buf, value, length);
        buf[length] = '\0';
        return true;
    }
    return false;
}

/* Digits at *text, which moves on; false: there are none or too many. */
static bool take_number(const char **text, uint32_t *out)
{
    size_t digits = strspn(*text, "0123456789");

    if (digits == 0 || digits > 6)
        return false;
    *out = (uint32_t)strtoul(*text, NULL, 10);
    *text += digits;
    return true;
}

uint32_t assay__machine_list_count(const char *list)
{
    uint32_t count = 0;

    for (;;) {
        uint32_t first, last;
        if (!take_number(&list, &first))
            return 0;
        last = first;
        if (*list == '-') {
            list++;
            if (!take_number(&list, &last) || last < first)
                return 0;
        }
        count += last - first + 1;
        if (*list == '\0')
            return count;
        if (*list++ != ',')
            return 0;
    }
}
