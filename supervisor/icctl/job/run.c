/* SPDX-License-Identifier: ISC */
/*
 * Runs a job: `icctl start --json` in a process of its own, whose events say
 * how it went. A run holds the job's lock, so that none overlaps another.
 */
#include "icctl/job/job.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/spawn.h"
#include "common/buf.h"
#include "common/sha256.h"
#include "common/wordlist.h"
#include "icctl/driver/config_copy.h"

#define RUN_WORDS 48U

struct run {
	struct icctl *ctl;
	struct job *job;
	struct job_notify notify;
	json_object *record;
	char file[80], log[JOB_PATH + 128];
	char session[128], dir[JOB_PATH], config[JOB_PATH + 16];
	json_object *budget, *result, *end;
	char said[1024]; /* the last error */
	bool spent;      /* a limit was used up */
	time_t began;
};

static volatile sig_atomic_t run_pid, run_signal;

static void
run_signaled(int sig)
{
	run_signal = sig;
	if (run_pid > 0)
		(void)kill((pid_t)run_pid, SIGTERM);
}

/* Name the run, its session and its log. */
static void
run_name(struct run *r)
{
	char stamp[32];
	struct tm tm;

	r->began = time(NULL);
	(void)gmtime_r(&r->began, &tm);
	(void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	snprintf(r->file, sizeof(r->file), "%s-%04x.json", stamp,
	    arc4random_uniform(0x10000));
	snprintf(r->session, sizeof(r->session), "%s-%.38s-%04x", stamp,
	    r->job->name, arc4random_uniform(0x10000));
	snprintf(r->dir, sizeof(r->dir), "%.4000s/sessions/%s", r->ctl->home,
	    r->session);
	snprintf(r->log, sizeof(r->log), "%s/runs/%s", r->job->dir, r->file);
	(void)strlcpy(strrchr(r->log, '.'), ".log", sizeof(".json"));
}

/* Returns the value with the job's name for {job}, and notes if it had that. */
static json_object *
run_named(const struct run *r, json_object *value, bool *any)
{
	const char *s = json_object_get_string(value), *at;
	json_object *o;
	struct buf b;

	if (!json_object_is_type(value, json_type_string) ||
	    strstr(s, "{job}") == NULL)
		return json_object_get(value);
	*any = true;
	buf_init(&b, 8192);
	for (; (at = strstr(s, "{job}")) != NULL; s = at + 5) {
		buf_add(&b, s, (size_t)(at - s));
		buf_adds(&b, r->job->name);
	}
	buf_adds(&b, s);
	o = json_object_new_string_len(
	    (const char *)buf_span(&b).p, (int)buf_span(&b).len);
	buf_free(&b);
	return o;
}

/* Write the job's name where headers have {job}. Returns true if some have. */
static bool
run_headers(const struct run *r, json_object *config)
{
	json_object *all = get_typed(config, "providers", json_type_object);
	json_object *headers, *to;
	bool any = false;

	if (all == NULL)
		return false;
	json_object_object_foreach(all, provider, settings)
	{
		(void)provider;
		headers = get_typed(settings, "headers", json_type_object);
		if (headers == NULL)
			continue;
		to = json_object_new_object();
		json_object_object_foreach(headers, name, value)
		    json_object_object_add(to, name, run_named(r, value, &any));
		json_object_object_add(settings, "headers", to);
	}
	return any;
}

/*
 * Write config.json with the job's own limits and name for this run, if it has
 * any use for them. Returns 0, or -1 with the fault set.
 */
static int
run_config(struct run *r, struct fault *fault)
{
	json_object *limits =
	    get_typed(r->job->root, "budgetOverrides", json_type_object);
	json_object *o;
	bool any;

	if ((o = config_copy_read(r->ctl->home, NULL, fault)) == NULL)
		return -1;
	any = run_headers(r, o);
	if (limits != NULL) {
		json_object_object_foreach(limits, key, v)
		{
			any = true;
			json_object_object_add(put_child(o, "resourceBudget"),
			    key, json_object_get(v));
		}
	}
	if (any) {
		snprintf(r->config, sizeof(r->config), "%s/config.json",
		    r->job->dir);
		if (config_copy_write(r->config, o, fault) == -1)
			r->config[0] = '\0';
	}
	json_object_put(o);
	return !any || r->config[0] != '\0' ? 0 : -1;
}

static void
run_option(struct wordlist *w, const struct run *r, const char *option,
    const char *key)
{
	const char *value = get_str(r->job->root, key, "");

	if (value[0] == '\0')
		return;
	wordlist_add(w, option);
	wordlist_add(w, value);
}

/*
 * Name what the agent works on: a clone, a directory, or one of its session's
 * own, which is empty.
 */
static void
run_place(const struct run *r, struct wordlist *w)
{
	if (get_str(r->job->root, "gitRepo", "")[0] != '\0') {
		run_option(w, r, "--clone", "gitRepo");
		return;
	}
	wordlist_add(w, "--workspace");
	wordlist_add(w, get_str(r->job->root, "workspace", "none"));
}

/*
 * A job that has a constitution runs under the policy that was made of it, and
 * under no other one, nor under that of an earlier text.
 */
static int
run_policy(const struct run *r, struct wordlist *w, char policy[JOB_NAME + 8],
    struct fault *fault)
{
	const char *text = get_str(r->job->root, "taskConstitution", "");
	char path[JOB_PATH], was[SHA256_HEX], has[SHA256_HEX];
	uint8_t sum[SHA256_SIZE];

	if (get_str(r->job->root, "policy", "")[0] != '\0' ||
	    get_str(r->job->root, "persona", "")[0] != '\0' ||
	    text[0] == '\0') {
		run_option(w, r, "--policy", "policy");
		return 0;
	}
	snprintf(policy, JOB_NAME + 8, "job-%s", r->job->name);
	snprintf(path, sizeof(path), "%.4000s/policies/%s/compiled-policy.json",
	    r->ctl->home, policy);
	sha256_span(span_str(text), sum);
	sha256_hex(sum, has);
	jsonfile_peek(path, "constitutionHash", was, sizeof(was));
	if (strcmp(was, has) != 0)
		return fault_set(fault,
		    "the job's taskConstitution is not in force%s. Next: icctl "
		    "job recompile %s",
		    access(path, F_OK) == 0 ? ": it was changed" : "",
		    r->job->name);
	wordlist_add(w, "--policy");
	wordlist_add(w, policy);
	return 0;
}

static void
run_event(struct run *r, const char *line)
{
	json_object *o = json_tokener_parse(line), **to = NULL;
	const char *event = icctl_text(o, "event");

	if (strcmp(event, "usage") == 0) {
		json_object_put(r->budget);
		r->budget = json_object_get(get_member(o, "budget"));
	} else if (strcmp(event, "result") == 0) {
		to = &r->result;
	} else if (strcmp(event, "end") == 0) {
		to = &r->end;
	} else if (strcmp(event, "budget_exhausted") == 0) {
		r->spent = true;
		(void)strlcpy(r->said, icctl_text(o, "text"), sizeof(r->said));
	} else if (strcmp(event, "error") == 0 && !r->spent) {
		(void)strlcpy(r->said, icctl_text(o, "text"), sizeof(r->said));
	} else if (get_member(o, "error") != NULL) {
		(void)strlcpy(r->said, icctl_text(o, "error"), sizeof(r->said));
	}
	if (to != NULL) {
		json_object_put(*to);
		*to = json_object_get(o);
	}
	json_object_put(o);
}

/* Start the session and read its events. Returns its exit status, or -1. */
static int
run_start(struct run *r, char *const *argv, struct fault *fault)
{
	struct sigaction sa = {.sa_handler = run_signaled};
	struct spawned sp = SPAWNED_INIT;
	char program[PATH_MAX], *line = NULL;
	size_t cap = 0;
	struct spawn s = {.path = program,
	    .argv = argv,
	    .nfds = 3,
	    .session = true,
	    .tie = SPAWN_ENDED};
	int out[2], log, rv;
	FILE *f;

	log = open(r->log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (log == -1 || pipe2(out, O_CLOEXEC) == -1)
		return fault_errno(fault, "%s", r->log);
	s.fds[0] = -1;
	s.fds[1] = out[1];
	s.fds[2] = log;
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	rv = icctl_program("icctl", program, sizeof(program)) == -1 ||
		     spawn_start(&s, &sp) == -1 || spawn_check(&sp) == -1
		 ? fault_errno(fault, "icctl")
		 : 0;
	close(log);
	close(out[1]);
	if (rv == -1 || (f = fdopen(out[0], "re")) == NULL) {
		close(out[0]);
		return -1;
	}
	run_pid = sp.pid;
	if (run_signal != 0)
		(void)kill(sp.pid, SIGTERM);
	errno = 0;
	while (getline(&line, &cap, f) > 0 || errno == EINTR) {
		if (line != NULL)
			run_event(r, line);
		errno = 0;
		clearerr(f);
	}
	run_pid = 0;
	free(line);
	fclose(f);
	return spawn_wait(&sp);
}

/* Returns the use of a limit of the session. */
static double
run_used(const struct run *r, const char *limit)
{
	json_object *o = get_member(get_member(r->budget, "limits"), limit);

	return json_object_get_double(get_member(o, "used"));
}

/* The counts, with the names that the TypeScript IronCurtain gives them. */
static void
run_counts(struct run *r)
{
	json_object *o = put_child(r->record, "budget");

	put_int(o, "totalTokens", (int64_t)run_used(r, "maxTotalTokens"));
	put_int(o, "stepCount", (int64_t)run_used(r, "maxSteps"));
	put_int(o, "elapsedSeconds", (int64_t)(time(NULL) - r->began));
	json_object_object_add(o, "estimatedCostUsd",
	    json_object_new_double(run_used(r, "maxEstimatedCostUsd")));
	put_int(r->record, "turns", icctl_number(r->budget, "modelTurns"));
}

/* Write the record for the last time. */
static void
run_over(struct run *r, const char *status, const char *why)
{
	char when[JOB_TIME];
	json_object *o;

	put_str(r->record, "status", status);
	put_str(r->record, "completedAt", job_time(time(NULL), when));
	if (why[0] != '\0')
		put_str(r->record, "why", why);
	run_counts(r);
	o = put_child(r->record, "outcome");
	put_str(o, "kind",
	    strcmp(status, "success") == 0            ? "success"
	    : strcmp(status, "budget_exhausted") == 0 ? "budget_exhausted"
						      : "error");
	if (strcmp(status, "success") != 0)
		put_str(o, "message", why);
	if (record_put(r->job, r->file, r->record) == -1)
		warn("%s/runs/%s", r->job->dir, r->file);
	record_trim(r->job);
}

/* Tell who wants to know. */
static void
run_tell(struct run *r, const char *status, const char *why)
{
	bool good = strcmp(status, "success") == 0;
	char text[1400];

	if (good && !get_true(r->job->root, "notifyOnCompletion"))
		return;
	snprintf(text, sizeof(text),
	    "Job %s: %s%s%.600s. See: icctl job logs "
	    "%s",
	    r->job->name, good ? "done" : status, why[0] != '\0' ? ": " : "",
	    why, r->job->name);
	job_notify(&r->notify, text);
}

/* Decide how the run ended. Returns its status; the reason is in r->said. */
static const char *
run_status(struct run *r, int status)
{
	const char *why = icctl_text(r->result, "why");

	if (why[0] == '\0')
		why = icctl_text(r->end, "why");
	if (status == 0 && r->result != NULL &&
	    !get_true(r->result, "is_error")) {
		r->said[0] = '\0';
		return "success";
	}
	if (why[0] != '\0' && !r->spent)
		(void)strlcpy(r->said, why, sizeof(r->said));
	if (run_signal != 0) {
		snprintf(r->said, sizeof(r->said), "it was ended by SIG%s",
		    sigabbrev_np(run_signal));
		return "cancelled";
	}
	if (r->said[0] == '\0')
		snprintf(r->said, sizeof(r->said),
		    "icctl start ended with status %d", status);
	return r->spent ? "budget_exhausted" : "failed";
}

/* Begin the record. */
static void
run_begin(struct run *r, bool scheduled)
{
	char when[JOB_TIME];

	r->record = json_object_new_object();
	put_str(r->record, "startedAt", job_time(r->began, when));
	put_str(r->record, "status", "running");
	put_bool(r->record, "scheduled", scheduled);
	put_str(r->record, "session", r->session);
	put_str(r->record, "log", r->log);
	if (record_put(r->job, r->file, r->record) == -1)
		warn("%s/runs/%s", r->job->dir, r->file);
}

/* Compose the command line and run it. Returns how the run ended. */
static const char *
run_session(struct run *r)
{
	const char *list[RUN_WORDS];
	struct wordlist w = WORDLIST_IN(list);
	char policy[JOB_NAME + 8];
	struct fault fault;
	char *const *argv;
	int status;

	wordlist_all(&w,
	    (const char *const[]){"icctl", "start", "--json", "--session-dir",
		r->dir, "--escalations",
		get_true(r->job->root, "notifyOnEscalation") ? "ask" : "deny",
		NULL});
	run_option(&w, r, "--agent", "agent");
	run_option(&w, r, "--model", "model");
	run_option(&w, r, "--persona", "persona");
	run_option(&w, r, "--profile", "profile");
	run_place(r, &w);
	if (run_policy(r, &w, policy, &fault) == -1 ||
	    run_config(r, &fault) == -1)
		goto bad;
	if (r->config[0] != '\0') {
		wordlist_add(&w, "--config");
		wordlist_add(&w, r->config);
	}
	wordlist_add(&w, "--task");
	wordlist_add(&w, job_task(r->job));
	if ((argv = wordlist_end(&w)) == NULL) {
		(void)fault_set(&fault, "too many options");
		goto bad;
	}
	if ((status = run_start(r, argv, &fault)) != -1)
		return run_status(r, status);
bad:
	(void)strlcpy(r->said, fault.text, sizeof(r->said));
	return "failed";
}

/* Another run has not ended yet. */
static int
run_skipped(struct run *r, bool scheduled)
{
	static const char why[] = "the run before it has not ended";

	warnx("job %s: %s", r->job->name, why);
	if (!scheduled)
		return ICCTL_BUSY;
	run_begin(r, scheduled);
	json_object_object_del(r->record, "session");
	json_object_object_del(r->record, "log");
	run_over(r, "skipped", why);
	run_tell(r, "skipped", why);
	return ICCTL_BUSY;
}

int
job_run(struct icctl *ctl, struct job *j, bool scheduled)
{
	struct run r = {.ctl = ctl, .job = j};
	const char *status;
	int lock;

	run_name(&r);
	/* Programs of the host are found before an agent runs. */
	job_notify_find(ctl, &r.notify);
	if ((lock = job_lock(j)) == -1 && errno == EWOULDBLOCK) {
		(void)run_skipped(&r, scheduled);
		json_object_put(r.record);
		return ICCTL_BUSY;
	}
	if (lock == -1) {
		warn("%s/lock", j->dir);
		return ICCTL_FAILED;
	}
	run_begin(&r, scheduled);
	status = run_session(&r);
	if (r.config[0] != '\0')
		(void)unlink(r.config);
	run_over(&r, status, r.said);
	if (ctl->json)
		icctl_put_json(r.record);
	else
		warnx("job %s: %s%s%s", j->name, status,
		    r.said[0] != '\0' ? ": " : "", r.said);
	run_tell(&r, status, r.said);
	json_object_put(r.record);
	json_object_put(r.budget);
	json_object_put(r.result);
	json_object_put(r.end);
	close(lock);
	return strcmp(status, "success") == 0 ? ICCTL_OK : ICCTL_FAILED;
}
