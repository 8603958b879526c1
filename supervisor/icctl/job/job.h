/* SPDX-License-Identifier: ISC */
/*
 * Jobs: a task that runs by itself, in a session of its own. A job is the
 * directory IRONCURTAIN_HOME/jobs/NAME: job.json, which is that of the
 * TypeScript IronCurtain with a few members more, lock, state.json, and a
 * record in runs/ for each run. The schedule belongs to a timer of the user's
 * systemd, or to `icctl job daemon`.
 */
#ifndef ICCTL_JOB_H
#define ICCTL_JOB_H

#include "base/fault.h"
#include "icctl/icctl.h"
#include "icctl/job/cron.h"

#define JOB_NAME 64U
#define JOB_MAX 256U
#define JOB_PATH 4300U
#define JOB_KEEP 100 /* records that are kept, unless the job says */
/* A run is overdue if it has not begun so long after its time. */
#define JOB_GRACE 300

struct job {
	char name[JOB_NAME];
	char dir[JOB_PATH];
	json_object *root; /* job.json */
	struct cron cron;
	bool scheduled; /* `cron` says when */
	bool enabled;
};

/* job.c */
/* Returns true for 1 to 63 letters, digits, '-' and '_', in lower case. */
bool job_name_ok(const char *);
/*
 * Read and check a job. Returns 0, or -1 with the fault set; errno is ENOENT if
 * there is none. job_free() frees it in either case.
 */
int job_load(struct job *, const char *home, const char *name, struct fault *);
void job_free(struct job *);
/* Check and write job.json. Returns 0, or -1 with the fault set. */
int job_save(struct job *, struct fault *);
/*
 * Write the names of all jobs, in order, which the caller frees. Returns their
 * number.
 */
size_t job_names(const char *home, char *names[JOB_MAX]);
/* Returns the task: what the agent is asked to do. */
const char *job_task(const struct job *);
/*
 * Take the lock of a file, which is made. Returns a descriptor, or -1, with
 * errno EWOULDBLOCK if another process has it.
 */
int job_lock_file(const char *path);
/* Returns true if a process has it; this does not disturb one that takes it. */
bool job_lock_held(const char *path);
/* Take the job's lock. Returns a descriptor, -1 with errno EWOULDBLOCK. */
int job_lock(const struct job *);
/* Returns true if a run holds the lock. */
bool job_runs(const struct job *);

/* record.c */
struct record_row {
	char file[80];
	json_object *o;
};
/* Write a time as in RFC 3339, in UTC. Returns `dst`. */
#define JOB_TIME 40U
const char *job_time(time_t, char dst[JOB_TIME]);
time_t job_time_of(const char *text);
/* Write runs/FILE. Returns 0, or -1 with errno set. */
int record_put(const struct job *, const char *file, json_object *);
/*
 * Returns the newest records, the newest first; the caller frees them with
 * record_free(). One that says that it runs, while none does, has died.
 */
size_t record_list(const struct job *, struct record_row *, size_t max);
void record_free(struct record_row *, size_t n);
/* Remove all records but the newest that the job keeps. */
void record_trim(const struct job *);
/* Returns the time from which the job waits for its next run, or 0. */
time_t record_since(const struct job *);
/* Note that the job waits from now on. */
int record_wait(const struct job *);
/* Returns how late the next run is, in seconds, or 0. */
time_t record_overdue(const struct job *, time_t now);

/* run.c: Run the job now. Returns an exit status. */
int job_run(struct icctl *, struct job *, bool scheduled);
/* notify.c */
struct job_notify {
	char **argv; /* with a place for the text; or NULL: nobody is told */
	size_t n;
	char path[4096];
	dev_t dev;
	ino_t ino;
};
/* Find the notify program, before an agent runs. */
void job_notify_find(const struct icctl *, struct job_notify *);
/* Tell, and free it. */
void job_notify(struct job_notify *, const char *text);

/* timer.c */
/* Returns true if a systemd manager answers for this user. */
bool timer_manager(void);
/* Make the timer as the job says, or remove it. Returns 0, or -1 and says why.
 */
int timer_set(const struct icctl *, const struct job *);
int timer_remove(const struct job *);
/* Returns true if the job has a timer. */
bool timer_has(const struct job *);
/* daemon.c */
int job_daemon(struct icctl *);
/* Returns true if the daemon of this home runs. */
bool job_daemon_runs(const struct icctl *);
/* list.c */
/*
 * Returns a word for how the job stands, by its last record, or NULL, and by
 * how late its next run is: "ok", "running", "disabled", "overdue", "failed" or
 * "skipped".
 */
const char *job_state(const struct job *, json_object *last, time_t late);
int job_ls(const struct icctl *);
int job_show(const struct icctl *, struct job *);
int job_logs(const struct icctl *, struct job *);
/* edit.c: Take the options of `add` and `edit`. Returns 0, or -1 and says why.
 */
int job_options(const struct icctl *, struct job *);

#endif
