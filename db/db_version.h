/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/db_version.h -- which stores this program writes, and with what. */
#ifndef ASSAY_DB_DB_VERSION_H
#define ASSAY_DB_DB_VERSION_H

int assay__db_schema(void);                 /* user_version of a store made now */
const char *assay__db_sqlite_version(void); /* of the library that runs */

#endif
