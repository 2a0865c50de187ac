/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_picks.c -- `assay bench`: opening and asking the picker, beside a hash and one line. */
#include <stdlib.h>

#include "assay/pick.h"
#include "cli/bench_rows.h"
#include "runtime/error.h"
#include "runtime/keyhash.h"

#define PROBLEMS 1000 /* hot at a time */
#define BATCH    64   /* picks between two readings of the clock */
#define BATCHES  5000
#define OPENS    7
#define PEER     "hash and one line"

static assay_status make_questions(const char *backends, assay_question *questions)
{
    assay_problem problem;

    ASSAY_TRY(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &problem));
    for (int i = 0; i < PROBLEMS; i++) {
        ASSAY_TRY(assay_problem_set_int(&problem, "n", 1000 + 37 * (int64_t)i));
        assay_question_init(&problem, &questions[i]);
        questions[i].backends = backends;
    }
    return ASSAY_OK;
}

assay_status assay__bench_opens(const assay__bench_options *o, assay__bench_rows *r)
{
    const assay_open_options options = {.struct_size = sizeof options,
                                        .plugin_path = o->plugin_path};
    double samples[OPENS];
    assay__bench_row *row = NULL;

    for (int i = 0; i < OPENS; i++) {
        assay_context *context = NULL;
        const double start = assay__bench_now_ns();
        ASSAY_TRY(assay_open(o->db, &options, &context));
        samples[i] = (assay__bench_now_ns() - start) * 1e-6;
        assay_close(&context);
    }
    ASSAY_TRY(assay__bench_add_median(r, o->db != NULL ? "open, with the store" : "open, no store",
                                      "ms", samples, OPENS, &row));
    row->goal = 150.0;
    return ASSAY_OK;
}

static assay_status bench_first(assay_context *context, const assay_question *questions,
                                double *samples, assay__bench_rows *r)
{
    assay__bench_row *row = NULL;

    for (int i = 0; i < PROBLEMS; i++) {
        assay_route route;
        const double start = assay__bench_now_ns();
        const assay_status status = assay_pick(context, &questions[i], &route);
        samples[i] = assay__bench_now_ns() - start;
        if (status != ASSAY_OK)
            return status;
    }
    ASSAY_TRY(assay__bench_add_median(r, "pick, first time, p50", "ns", samples, PROBLEMS, &row));
    row->goal = 4000.0;
    return ASSAY_OK;
}

/* What no picker can do without: the hash of a key, and one line of a table in the cache. */
static double hash_batch(const assay_question *questions, const uint64_t *lines, size_t at)
{
    uint64_t sum = 0;
    const double start = assay__bench_now_ns();

    for (int i = 0; i < BATCH; i++) {
        const assay__key128 key =
            assay__xxh(&questions[(at + (size_t)i * 7) % PROBLEMS].problem, sizeof(assay_problem));
        sum += lines[key.low % 1024 * 8] + key.high;
    }
    const double spent = assay__bench_now_ns() - start;
    /* The sum must be used, or the loop may go. */
    return sum == 1 ? spent + 1e-9 : spent;
}

/* Picks and peers turn by turn, so that both see the same machine. */
static assay_status take_batches(assay_context *context, const assay_question *questions,
                                 const uint64_t *lines, double *samples, double *peers)
{
    assay_route route;

    for (size_t i = 0; i < BATCHES; i++) {
        const double start = assay__bench_now_ns();
        for (size_t j = 0; j < BATCH; j++)
            ASSAY_TRY(assay_pick(context, &questions[(i * 31 + j * 7) % PROBLEMS], &route));
        samples[i] = (assay__bench_now_ns() - start) / BATCH;
        peers[i] = hash_batch(questions, lines, i * 31) / BATCH;
    }
    return ASSAY_OK;
}

static assay_status add_again(const double *samples, const double *peers, assay__bench_rows *r)
{
    assay__bench_rows scratch = {.count = 0};
    assay__bench_row *row = NULL, *peer = NULL;

    ASSAY_TRY(assay__bench_add_median(&scratch, PEER, "ns", peers, BATCHES, &peer));
    ASSAY_TRY(assay__bench_add_median(r, "pick, again, 1,000 problems, p50", "ns", samples, BATCHES,
                                      &row));
    row->peer = PEER;
    row->peer_value = peer->value;
    row->goal = 50.0;
    ASSAY_TRY(assay__bench_add_p99(&scratch, PEER, "ns", peers, BATCHES, &peer));
    ASSAY_TRY(
        assay__bench_add_p99(r, "pick, again, 1,000 problems, p99", "ns", samples, BATCHES, &row));
    row->peer = PEER;
    row->peer_value = peer->value;
    row->goal = 120.0;
    return ASSAY_OK;
}

static assay_status bench_again(assay_context *context, const assay_question *questions,
                                double *samples, double *peers, assay__bench_rows *r)
{
    uint64_t *lines = calloc(1024 * 8, sizeof *lines);
    assay_status status;

    if (lines == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for the peer");
    status = take_batches(context, questions, lines, samples, peers);
    free(lines);
    return status == ASSAY_OK ? add_again(samples, peers, r) : status;
}

static assay_status bench_site(assay_context *context, const assay_question *question,
                               double *samples, assay__bench_rows *r)
{
    assay_site site = {0};
    assay_route route;
    assay__bench_row *row = NULL;

    for (size_t i = 0; i < BATCHES; i++) {
        const double start = assay__bench_now_ns();
        for (size_t j = 0; j < BATCH; j++)
            ASSAY_TRY(assay_pick_at(context, &site, question, &route));
        samples[i] = (assay__bench_now_ns() - start) / BATCH;
    }
    ASSAY_TRY(
        assay__bench_add_median(r, "pick, call-site cache, p50", "ns", samples, BATCHES, &row));
    row->goal = 6.0;
    return ASSAY_OK;
}

assay_status assay__bench_picks(const assay__bench_options *o, assay__bench_rows *r)
{
    const assay_open_options options = {.struct_size = sizeof options,
                                        .plugin_path = o->plugin_path};
    assay_question *questions = calloc(PROBLEMS, sizeof *questions);
    double *samples = calloc((size_t)2 * BATCHES, sizeof *samples);
    assay_context *context = NULL;
    assay_status status = questions != NULL && samples != NULL
                              ? ASSAY_OK
                              : assay__fail(ASSAY_NOMEM, "no memory for samples");

    if (status == ASSAY_OK)
        status = make_questions(o->backends, questions);
    if (status == ASSAY_OK)
        status = assay_open(o->db, &options, &context);
    if (status == ASSAY_OK)
        status = bench_first(context, questions, samples, r);
    if (status == ASSAY_OK)
        status = bench_again(context, questions, samples, samples + BATCHES, r);
    if (status == ASSAY_OK)
        status = bench_site(context, &questions[0], samples, r);
    assay_close(&context);
    free(questions);
    free(samples);
    return status;
}
