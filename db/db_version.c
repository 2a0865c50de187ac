/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/db_version.c -- which stores this program writes, and with what. */
#include "db/db_version.h"

#include "db/handle.h"

int assay__db_schema(void)
{
    return ASSAY__DB_VERSION;
}

const char *assay__db_sqlite_version(void)
{
    return sqlite3_libversion();
}
