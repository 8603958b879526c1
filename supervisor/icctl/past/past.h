/* SPDX-License-Identifier: ISC */
/*
 * Looks back over sessions: what they cost, what was decided, and reports for
 * others. Logs contain what agents wrote, so ic-report reads them, in a process
 * that can do nothing else; what it gives back is checked here, and escaped for
 * each format. The files of this folder are layers: reader.c starts ic-report;
 * fold.c keeps each session's sums beside its log; sessions.c lists sessions;
 * usage, metrics, audit and report stand on top.
 */
#ifndef PAST_H
#define PAST_H

#include <stdio.h>

#include "common/wordlist.h"
#include "icctl/icctl.h"
#include "log/report.h"

/* reader.c */
struct past_reader {
	void *arg;
	/* Each is called for a frame, and may be NULL. */
	void (*row)(void *arg, const struct report_row *);
	/* A record's columns, or its `json`. Texts end with the call. */
	void (*record)(void *arg, const struct report_record *,
	    const struct span cols[REPORT_NCOLS], struct span json);
	void (*bad)(void *arg, const struct report_bad *);
};
/*
 * Run ic-report with these words, "fold" or "records" first, on an open file,
 * from `end->mark` on. Returns 0 with `*end` filled in, or -1 with the fault
 * set.
 */
int past_run(const struct past_reader *, int log, const char *const *words,
    struct report_end *end, struct fault *);
/* Open one file of a log. Returns it, or -1 with errno set. */
int past_open(int dirfd, const char *name);

/* A file of a log, as it is told from others, and from itself changed. */
struct past_file {
	uint64_t dev, ino, size;
	int64_t mtime, mtime_ns, ctime, ctime_ns;
};

/* fold.c */
struct past_fold {
	struct report_row *rows;
	size_t n;
	struct report_end end;      /* the last one */
	unsigned part;              /* the number of the last file */
	bool broken;                /* the chain breaks, */
	char file[AUDITPARTS_NAME]; /* in this file, */
	uint64_t line;              /* at this line, */
	uint32_t check;             /* in this way */
	uint64_t left_out;          /* records that could not be read */
	bool full;                  /* there are too many rows */
	bool kept;                  /* these sums are beside the log */
	/* The files, as they were before they were read. */
	uint8_t others[SHA256_SIZE];
	struct past_file newest;
};
/*
 * Add up the session's log, or take the sums that were kept if the log has not
 * changed since. `again`: read it in any case. Returns 0, or -1 with the fault
 * set.
 */
int past_fold(
    struct past_fold *, int dirfd, const char *dir, bool again, struct fault *);
void past_fold_free(struct past_fold *);

/* keep.c */
#define PAST_KEPT "usage.cache"
/* Take what was kept. Returns 1 if it is whole, 2 if the log only grew. */
int past_kept(struct past_fold *, int dirfd, const char *dir);
/* Note how the files are now. Returns false if one cannot be looked at. */
bool past_look(struct past_fold *, int dirfd, unsigned older);
/* Keep the sums. Returns 0, or -1 if they cannot be written. */
int past_keep(const struct past_fold *, int dirfd);

/* sessions.c */
struct past_session {
	char id[256];
	char *dir;
};
struct past_sessions {
	struct past_session *list; /* by id */
	size_t n;
};
/*
 * List the sessions that have a log: the one that --session names, or all.
 * Returns 0, or an exit status after the reason.
 */
int past_list(struct icctl *, struct past_sessions *);
void past_list_free(struct past_sessions *);
/*
 * Name the newest session unless --session names one. Returns 0, or an exit
 * status after the reason.
 */
int past_newest(struct icctl *);
/* Write the path that a session worked on: a clone's source, for one. */
const char *past_project(
    const struct past_session *, const char *workspace, char *dst, size_t cap);

/* when.c */
/*
 * Read a day (2026-11-28), a time in RFC 3339, or how long ago (12h, 7d, 4w).
 * A day means its beginning, or its end if the option is "--until". Returns 0
 * with seconds since 1970, or -1 after it said why.
 */
int past_when(const char *option, const char *text, int64_t *at);

/* bytes.c */
/*
 * Returns true if the file has the text somewhere, or cannot be read. An empty
 * text is in every file.
 */
bool past_has(int fd, struct span text);

/* escape.c */
/*
 * Write a field of a table in CSV: quoted if it must be, in its visible form,
 * and with ' before what a spreadsheet would take for a formula.
 */
void past_csv(FILE *, struct span);
/* Write text of a page in HTML, in its visible form. */
void past_html(FILE *, struct span);
/* Write JSON in printable ASCII. */
void past_json(FILE *, struct span);

/* ahead.c */
/*
 * Keep the sums of the logs that have none, or, if `again`, of all, with as
 * many processes as there are processors. Returns true if the sums of each of
 * them were kept.
 */
bool past_ahead(const struct past_sessions *, bool again);

/* sums.c */
struct past_sum {
	char key[300];
	char model[REPORT_MODEL]; /* a part has one, a group "" */
	struct report_row all;
	size_t sessions, last; /* the last one that was counted, plus 1 */
	struct past_sum *parts;
	size_t n;
};
enum past_by {
	PAST_DAY,
	PAST_WEEK,
	PAST_MONTH,
	PAST_MODEL,
	PAST_PROJECT,
	PAST_SESSION,
	PAST_AGENT,
	PAST_BYS
};
struct past_sums {
	enum past_by by;
	int64_t since, until; /* 0: none */
	bool again;
	struct past_sum *groups;
	size_t n;
	struct past_sum total;
	size_t broken, unread; /* sessions whose log is; that were left out */
};
/* Add up these sessions. Says on standard error what is wrong with a log. */
void past_add(struct past_sums *, const struct past_sessions *);
void past_sums_free(struct past_sums *);

/* usage_out.c */
void past_put_table(const struct past_sums *);
void past_put_csv(const struct past_sums *);
void past_put_json(const struct past_sums *);

/* audit.c: `icctl audit show`, `search`, `export` and `events`. */
int past_audit(struct icctl *, int argc, char **argv);
/* metrics.c: `icctl metrics --all`. */
int past_metrics(struct icctl *);

/* write.c */
/*
 * Write a file all at once, with this mode. Returns an exit status, after it
 * said why it could not.
 */
int past_write(const char *path, struct span text, mode_t mode);

#endif
