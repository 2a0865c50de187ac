/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/merge_sql.h -- what db/merge.c runs. */
#ifndef ASSAY_DB_MERGE_SQL_H
#define ASSAY_DB_MERGE_SQL_H

/* Lists end with NULL.  DST and SRC stand for the names of two attached stores. */

/* Once a connection: temp.m_TABLE (old, new) says which row of DST a row of SRC is. */
extern const char *const assay__merge_maps[];
/* Copies SRC into DST; parents first, in an order that content alone decides.  Needs the function
 * assay_candidates(blob), which gives ids of DST for those of SRC. */
extern const char *const assay__merge_copy[];
/* After a copy, each one row: name of a table of SRC, and how many of its rows point at missing
 * ones. Parents first. */
extern const char *const assay__merge_lost[];
/* Before and after a copy. */
extern const char *const assay__merge_begin[];
extern const char *const assay__merge_end[];
/* Of DST, when all are in: which routes are current, and whose winner was wrong elsewhere. */
extern const char *const assay__merge_settle[];
/* Every table and view row order of the content that is hashed. */
extern const char *const assay__merge_content[];

#endif
