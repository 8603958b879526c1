/* SPDX-License-Identifier: ISC */
/*
 * Reads requests, and starts them as workers come free. Nothing that a line
 * contains ends the driver: it is refused on its id.
 */
#include "icctl/driver/queue.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "icctl/driver/places.h"

static struct request *
queue_find(const struct driver *d, json_object *id)
{
	struct request *r;

	TAILQ_FOREACH (r, &d->open, entry)
		if (json_object_equal(r->ask.id, id))
			return r;
	return NULL;
}

void
queue_remove(struct driver *d, struct request *r)
{
	TAILQ_REMOVE(&d->open, r, entry);
	d->nopen--;
	narrow_remove(r);
	ask_free(&r->ask);
	buf_free(&r->line);
	buf_free(&r->text);
	buf_free(&r->pieces);
	json_object_put(r->reply);
	json_object_put(r->calls);
	json_object_put(r->base);
	json_object_put(r->budget);
	json_object_put(r->result);
	json_object_put(r->answer);
	json_object_put(r->reported);
	json_object_put(r->failure);
	free(r);
}

/* End a request that waits, or that could not be started. */
static void
queue_fail(struct driver *d, struct request *r, enum fail fail, const char *why)
{
	tell_fail(d, r->ask.id, fail, why, NULL);
	queue_remove(d, r);
}

static void
queue_cancel(struct driver *d, struct request *r)
{
	if (!r->runs) {
		queue_fail(d, r, FAIL_CANCELLED, "the request was cancelled");
		return;
	}
	r->cancelled = true;
	work_cancel(r);
}

/* The clone of a workflow is all that its `cwd` may name. */
static int
queue_clone(struct request *r)
{
	char tree[128];

	snprintf(tree, sizeof(tree), "/workspace/worktrees/%.40s",
	    r->ask.workflow == NULL ? "" : r->ask.workflow);
	if (strcmp(r->ask.cwd, "/workspace") != 0 &&
	    (r->ask.workflow == NULL || strcmp(r->ask.cwd, tree) != 0)) {
		snprintf(r->why, sizeof(r->why),
		    "cwd: the session works on a clone, which is "
		    "/workspace%s%s",
		    r->ask.workflow != NULL ? " or " : "",
		    r->ask.workflow != NULL ? tree : "");
		return -1;
	}
	free(r->ask.cwd);
	r->ask.cwd = NULL;
	return 0;
}

/* Returns true if another request of the same workflow runs. */
static bool
queue_busy(const struct driver *d, const struct request *r)
{
	const struct request *o;

	if (r->ask.workflow == NULL)
		return false;
	TAILQ_FOREACH (o, &d->open, entry)
		if (o->runs && o->ask.workflow != NULL &&
		    strcmp(o->ask.workflow, r->ask.workflow) == 0)
			return true;
	return false;
}

/*
 * The directory that a request names as `cwd` is its session's workspace, if it
 * is in the driver's own. Returns 0, or -1 with the reason in r->why.
 */
static int
queue_place(const struct driver *d, struct request *r)
{
	const char *work = driver_option(d, "--workspace");
	char real[PATH_MAX], base[PATH_MAX];

	if (r->ask.cwd == NULL)
		return 0;
	if (driver_option(d, "--clone") != NULL)
		return queue_clone(r);
	if (work != NULL && strcmp(work, "none") == 0) {
		snprintf(r->why, sizeof(r->why),
		    "cwd: sessions of this driver have no workspace of yours");
		return -1;
	}
	if (realpath(work == NULL ? "." : work, base) == NULL ||
	    r->ask.cwd[0] != '/' || realpath(r->ask.cwd, real) == NULL ||
	    !plain_within(real, base)) {
		snprintf(r->why, sizeof(r->why),
		    "cwd: must be a directory in the driver's workspace");
		return -1;
	}
	free(r->ask.cwd);
	return (r->ask.cwd = strdup(real)) == NULL ? -1 : 0;
}

void
queue_start(struct driver *d)
{
	struct request *r, *next;
	struct fault fault;

	TAILQ_FOREACH_SAFE (r, &d->open, entry, next) {
		if (d->nrunning >= d->workers)
			return;
		if (r->runs || queue_busy(d, r))
			continue;
		r->began = driver_now();
		if (queue_place(d, r) == -1)
			queue_fail(d, r, FAIL_BAD_REQUEST, r->why);
		else if (r->ask.narrow && narrow_policy(d, r, &fault) == -1)
			queue_fail(d, r, FAIL_INIT, fault.text);
		else if (work_start(d, r) == -1)
			queue_fail(d, r, FAIL_INIT, r->why);
		else
			d->nrunning++;
	}
}

void
queue_end(struct driver *d, bool cancel)
{
	struct request *r, *next;

	d->ended = true;
	if (!cancel)
		return;
	TAILQ_FOREACH_SAFE (r, &d->open, entry, next)
		queue_cancel(d, r);
}

/*
 * Refuse a line. An open request that has its id goes on, and must not be taken
 * for the one that is refused.
 */
static void
queue_refuse(struct driver *d, json_object *id, enum fail fail, const char *why)
{
	tell_fail(d, id != NULL && queue_find(d, id) != NULL ? NULL : id, fail,
	    why, NULL);
}

/* Take a request that was read. */
static void
queue_add(struct driver *d, struct ask *a)
{
	struct request *r;
	char why[DRIVER_WHY];

	if (queue_find(d, a->id) != NULL) {
		snprintf(why, sizeof(why),
		    "a request with the id %.300s is open",
		    json_object_to_json_string_ext(a->id, ICCTL_JSON));
		queue_refuse(d, a->id, FAIL_BAD_REQUEST, why);
		ask_free(a);
		return;
	}
	if (d->nopen == DRIVER_OPEN || (r = calloc(1, sizeof(*r))) == NULL) {
		snprintf(why, sizeof(why), "%u requests are open", d->nopen);
		tell_fail(d, a->id, FAIL_BUSY, why, NULL);
		ask_free(a);
		return;
	}
	r->ask = *a;
	r->out = r->err = -1;
	buf_init(&r->line, DRIVER_LINE);
	buf_init(&r->text, DRIVER_LINE);
	buf_init(&r->pieces, DRIVER_LINE);
	r->calls = json_object_new_object();
	TAILQ_INSERT_TAIL(&d->open, r, entry);
	d->nopen++;
	if (d->once)
		queue_end(d, false);
}

/* Returns true if nothing but white space is there. */
static bool
queue_blank(struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		if (strchr(" \t\r", line.p[i]) == NULL || line.p[i] == '\0')
			return false;
	return true;
}

/* Set a workflow aside, and say so. */
static void
queue_teardown(struct driver *d, const char *workflow)
{
	char kept[128], why[DRIVER_WHY];
	const struct request *r;
	json_object *o;

	TAILQ_FOREACH (r, &d->open, entry)
		if (r->ask.workflow != NULL &&
		    strcmp(r->ask.workflow, workflow) == 0) {
			snprintf(why, sizeof(why),
			    "a request of the workflow %s is open", workflow);
			tell_fail(d, NULL, FAIL_BUSY, why, NULL);
			return;
		}
	if (work_teardown(d, workflow, kept, why) == -1) {
		tell_fail(d, NULL, FAIL_BUSY, why, NULL);
		return;
	}
	o = json_object_new_object();
	put_str(o, d->amelia ? "type" : "event", "teardown");
	put_str(o, "workflow_id", workflow);
	json_object_object_add(
	    o, "session", kept[0] == '\0' ? NULL : json_text(kept));
	driver_tell(d, NULL, o);
}

static void
queue_line(struct driver *d, struct span line)
{
	char why[DRIVER_WHY] = "";
	enum fail fail = FAIL_NONE;
	struct request *r;
	struct ask a;
	json_object *id;

	if (queue_blank(line))
		return;
	switch (ask_read(d, line, &a, &fail, why)) {
	case ASK_REQUEST:
		queue_add(d, &a);
		return;
	case ASK_CANCEL:
		/* One that has just ended needs no cancelling. */
		if ((r = queue_find(d, a.id)) != NULL)
			queue_cancel(d, r);
		break;
	case ASK_TEARDOWN:
		queue_teardown(d, a.workflow);
		if (d->once)
			queue_end(d, false);
		break;
	case ASK_BAD:
		id = a.id != NULL ? json_object_get(a.id)
				  : ident_take(&d->ident);
		queue_refuse(d, id, fail, why);
		json_object_put(id);
		if (d->once)
			queue_end(d, false);
		break;
	}
	ask_free(&a);
}

static void
queue_too_long(struct driver *d)
{
	json_object *id = ident_take(&d->ident);

	queue_refuse(d, id, FAIL_TOO_LONG,
	    "a line may have at most 64 MiB; it was not kept");
	json_object_put(id);
	if (d->once)
		queue_end(d, false);
}

/* Take the end of a line. */
static void
queue_lined(struct driver *d)
{
	if (d->dropping)
		queue_too_long(d);
	else
		queue_line(d, buf_span(&d->in));
	d->dropping = false;
	buf_reset(&d->in, 65536);
	d->ident = (struct ident){0};
}

static void
queue_bytes(struct driver *d, const char *p, size_t n)
{
	ident_feed(&d->ident, p, n);
	if (!d->dropping)
		buf_add(&d->in, p, n);
	if (d->in.failed || d->in.len > DRIVER_LINE) {
		d->dropping = true;
		buf_reset(&d->in, 0);
	}
}

void
queue_read(struct driver *d)
{
	static char text[1 << 20];
	const char *p = text, *nl;
	ssize_t n = read(STDIN_FILENO, text, sizeof(text));
	size_t left;

	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		/* A last line may lack its end. */
		if (d->in.len != 0 || d->dropping)
			queue_lined(d);
		if (d->once && !d->ended)
			tell_fail(
			    d, NULL, FAIL_MALFORMED, "no request came", NULL);
		queue_end(d, !d->once);
		return;
	}
	for (left = (size_t)n; left != 0 && !d->ended;) {
		nl = memchr(p, '\n', left);
		queue_bytes(d, p, nl == NULL ? left : (size_t)(nl - p));
		if (nl == NULL)
			return;
		queue_lined(d);
		left -= (size_t)(nl + 1 - p);
		p = nl + 1;
	}
}
