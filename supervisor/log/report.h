/* SPDX-License-Identifier: ISC */
/*
 * ic-report: reads a file of an audit log, which contains what agents wrote,
 * for `icctl usage`, `audit` and `report`. It is started for one file after the
 * other, has that file as standard input and a pipe to icctl as standard
 * output, and can do nothing else. What it writes are frames: a head, and
 * structs of fixed form or columns with their lengths. icctl checks the lengths
 * and takes texts for what they are, text from outside.
 */
#ifndef REPORT_H
#define REPORT_H

#include "common/json/json.h"
#include "log/scan.h"

#define REPORT_FRAME (24U << 20) /* bytes of the longest frame */
#define REPORT_LINE (16U << 20)  /* longer records are named, and left out */
#define REPORT_SLOT 900          /* seconds; every time zone has whole ones */
#define REPORT_MODEL 132U
#define REPORT_PENDING 32U

enum report_kind {
	REPORT_ROW = 1, /* struct report_row */
	REPORT_RECORD,  /* struct report_record and its columns or its JSON */
	REPORT_BAD,     /* struct report_bad: a line that is left out */
	REPORT_END,     /* struct report_end, the last frame */
};

struct report_head {
	uint32_t kind, len;
};

/* The numbers of a model, or of tool calls ("" as the model), in a slot. */
struct report_row {
	int64_t slot; /* seconds since 1970, rounded down to REPORT_SLOT */
	char model[REPORT_MODEL];
	uint64_t in, out, cache_read, cache_write;
	uint64_t answers,
	    failed; /* answers with counts; requests that failed */
	uint64_t micro_usd;
	uint64_t allowed, denied, held; /* calls, by decision */
	uint64_t approved, refused;     /* pending calls, by answer */
};

/* Tokens whose cost no state has yet. */
struct report_pending {
	int64_t slot;
	char model[REPORT_MODEL];
	uint64_t weight;
};

/* A place behind a record, with all that is needed to go on from there. */
struct report_mark {
	uint64_t offset; /* in its file */
	struct auditlog log;
	int64_t format;
	uint64_t total;             /* microUsd of the last state */
	uint64_t settled;           /* the part of it that rows have */
	uint64_t tokens, steps, ms; /* by the last state */
	int64_t first, last;        /* time of the first and the last record */
	uint64_t npending;
	struct report_pending pending[REPORT_PENDING];
	struct report_pending recent; /* has what no pending tokens explain */
	char agent[65], workspace[1024], version[32]; /* by the last start */
};

struct report_end {
	uint32_t check;  /* enum auditlog_check, of the first bad line */
	uint32_t closed; /* the last record is a closing record */
	uint64_t line;   /* that bad line, or 0 */
	uint64_t cut;    /* bytes of a line at the end that is not whole */
	uint64_t records;
	uint64_t left_out; /* lines without a frame of their own */
	struct report_mark mark;
};

struct report_bad {
	uint64_t line;
	char why[64];
};

struct report_record {
	uint64_t seq, line;
	int64_t time;   /* seconds since 1970 */
	uint32_t event; /* enum report_event */
	uint32_t ncols; /* 0: the record in JSON follows */
	char hash[65];
};

/* Before the bytes of each column. */
struct report_column {
	uint32_t column, len;
};

#define AUDIT_EVENT(name, csv, ocsf, otlp, report) EVENT_##name,
enum report_event {
#include "log/event_rows.h"
	EVENT_OTHER, /* another version has it */
};
#define REPORT_EVENTS ((unsigned)EVENT_OTHER)

/* clang-format off */
#define REPORT_COLUMNS							\
	X(TIME, "time") X(EVENT, "event") X(ID, "id")			\
	X(SERVER, "server") X(TOOL, "tool") X(DECISION, "decision")	\
	X(RULE, "rule") X(REASON, "reason") X(ANSWER, "answer")		\
	X(BY, "by") X(HOST, "host") X(PROVIDER, "provider")		\
	X(MODEL, "model") X(INPUT, "input") X(OUTPUT, "output")		\
	X(CACHE_READ, "cacheRead") X(CACHE_WRITE, "cacheWrite")		\
	X(BYTES, "bytes") X(STATUS, "status") X(WHAT, "what")		\
	X(TEXT, "text") X(COUNT, "count") X(DIGEST, "digest")		\
	X(ARGUMENTS, "arguments")
/* clang-format on */
#define X(name, text) COL_##name,
enum report_col {
	REPORT_COLUMNS REPORT_NCOLS
};
#undef X

/* An event, and its name in each format. */
struct report_names {
	const char *name, *csv, *ocsf, *otlp, *report;
};
/* Returns the names of an event, or NULL beyond the last one. */
const struct report_names *report_names(unsigned event);
const char *report_column(unsigned column);
/* Returns true if the format leaves the event out; the text then says why. */
bool report_skips(const char *name);
enum report_event report_find(struct span name);
/*
 * Fill the columns of a record. Texts point into the tree, or are static, or
 * are in `b`, which must not move: the arguments as JSON; if `brief`, only
 * their names, and the last part of those that are paths.
 */
void report_columns(const struct value *, enum report_event, bool brief,
    struct buf *b, struct span cols[REPORT_NCOLS]);
/* Returns the seconds since 1970 of a record's time, or 0. */
int64_t report_time(struct span);

#endif
