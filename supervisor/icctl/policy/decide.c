/* SPDX-License-Identifier: ISC */
/*
 * Single decisions, and the calls that audit logs recorded. A log is read as
 * any outside program could read it: lines that are not records are skipped.
 */
#include "icctl/policy/policy.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"
#include "log/parts.h"

#define POOL_MAX ((size_t)64 << 20)

static void
keep(void *arg, const struct msg_EVALUATED *m)
{
	struct policy_decided *d = arg;

	d->status = m->status;
	(void)span_copy(m->rule, d->rule, sizeof(d->rule));
	(void)span_copy(m->reason, d->reason, sizeof(d->reason));
}

int
policy_decide(struct policyd *pd, const struct policy_request *r, bool whole,
    struct policy_decided *out)
{
	struct msg_EVAL m = {
	    .server_name = r->server, .tool = r->tool, .whole = whole};

	memset(out, 0, sizeof(*out));
	policyd_answer(pd, keep, out);
	return policyd_ask_tree(pd, &m, r->args);
}

/*
 * Returns false if the call was decided by the state of the session, not by the
 * policy.
 */
static bool
was_judged(struct span rule)
{
	static const char *const others[] = {"unknown-tool", "server-gone",
	    "server-starting", "circuit-breaker", "hold-limit", "budget",
	    "invalid-arguments", "git-path-enrichment-failed",
	    "structural-outside-view"};

	if (span_starts(rule, SPAN("narrowed-")))
		return false;
	for (size_t i = 0; i < nitems(others); i++)
		if (span_is(rule, others[i]))
			return false;
	return true;
}

static int
take_call(struct value_pool *pool, const struct value *v, struct policy_call *c,
    policy_call_fn *fn, void *arg)
{
	const struct value *d = value_get(v, "policyDecision");

	c->status = value_str(d, "status");
	c->rule = value_str(d, "rule");
	if (c->status.p == NULL || c->rule.p == NULL ||
	    policy_request(v, pool, &c->request) != NULL)
		return 0;
	c->counted = 0;
	c->named = c->request;
	c->links = value_get(v, "named");
	if (c->links != NULL && c->links->type != VALUE_ARRAY)
		c->links = NULL;
	if (c->links != NULL &&
	    policy_named(&c->request, c->links, pool, &c->named) == -1)
		return -1;
	c->judged = was_judged(c->rule);
	c->narrowed = span_starts(c->rule, SPAN("narrowed-"));
	c->held = value_str(v, "escalationResult");
	c->granted = value_bool(v, "whitelistApproved", false);
	/* Rules judge no content that is long or masked. */
	c->redacted = value_bool(v, "redacted", false) &&
		      !value_bool(v, "judgedWhole", false);
	/* A person had approved calls like this one for that session. */
	if (span_starts(value_str(d, "reason"), SPAN("Whitelist-approved")))
		c->status = SPAN("escalate");
	return fn(arg, c);
}

/* Take a line that counts refused calls. */
static int
take_counted(
    const struct value *v, struct policy_call *c, policy_call_fn *fn, void *arg)
{
	const struct value *d = value_get(v, "policyDecision");
	int64_t count;

	if (value_int(value_get(v, "count"), 1, UINT32_MAX, &count) == -1)
		return 0;
	*c = (struct policy_call){.file = c->file,
	    .line = c->line,
	    .status = value_str(d, "status"),
	    .rule = value_str(d, "rule"),
	    .request = {.server = value_str(v, "serverName"),
		.tool = value_str(v, "toolName")},
	    .counted = (unsigned)count};
	return fn(arg, c);
}

static int
calls_file(const char *path, policy_call_fn *fn, void *arg)
{
	struct policy_call c = {.file = path};
	struct value_pool *pool = value_pool_new(POOL_MAX);
	FILE *f = fopen(path, "re");
	const struct value *v;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int r = 0;

	if (f == NULL || pool == NULL) {
		warn("%s", path);
		r = -1;
	}
	while (r == 0 && (n = getline(&line, &cap, f)) > 0) {
		c.line++;
		value_pool_reset(pool);
		v = json_read_large(pool, span_of(line, (size_t)n), 400000,
		    (size_t)32 << 20, NULL);
		if (v != NULL && span_is(value_str(v, "event"), "call"))
			r = take_call(pool, v, &c, fn, arg);
		else if (v != NULL &&
			 span_is(value_str(v, "event"), "refusedCalls"))
			r = take_counted(v, &c, fn, arg);
	}
	if (r == 0 && ferror(f)) {
		warn("%s", path);
		r = -1;
	}
	if (f != NULL)
		fclose(f);
	free(line);
	value_pool_free(pool);
	return r;
}

/* Calls point to the names of their files, which are kept until the end. */
static struct calls_name {
	struct calls_name *next;
	char file[PATH_MAX + AUDITPARTS_NAME];
} *calls_names;

/*
 * Count the older files if the path is a session's directory. Returns false if
 * it is a file, or nothing.
 */
static bool
calls_directory(const char *path, unsigned *older)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir == -1)
		return false;
	if (auditparts_count(dir, older) == -1)
		*older = 0;
	close(dir);
	return true;
}

int
policy_calls(const char *path, policy_call_fn *fn, void *arg)
{
	char name[AUDITPARTS_NAME];
	struct calls_name *n;
	unsigned older;
	int r = 0;

	if (!calls_directory(path, &older))
		return calls_file(path, fn, arg);
	for (unsigned part = 1; r == 0 && part <= older + 1; part++) {
		if ((n = calloc(1, sizeof(*n))) == NULL)
			return -1;
		n->next = calls_names;
		calls_names = n;
		snprintf(n->file, sizeof(n->file), "%.4095s/%s", path,
		    auditparts_name(part, older, name));
		r = calls_file(n->file, fn, arg);
	}
	return r;
}

char *
policy_calls_workspace(const char *path)
{
	char first[PATH_MAX + AUDITPARTS_NAME], name[AUDITPARTS_NAME];
	unsigned older;

	struct value_pool *pool = value_pool_new(POOL_MAX);
	FILE *f;
	char *line = NULL, *out = NULL;
	const struct value *v;
	struct span dir;
	struct stat st;
	size_t cap = 0;
	ssize_t n;

	snprintf(first, sizeof(first), "%s", path);
	if (calls_directory(path, &older))
		snprintf(first, sizeof(first), "%.4095s/%s", path,
		    auditparts_name(1, older, name));
	f = fopen(first, "re");
	if (f != NULL && pool != NULL && (n = getline(&line, &cap, f)) > 0 &&
	    (v = json_read(pool, span_of(line, (size_t)n), NULL)) != NULL) {
		dir = value_str(value_get(v, "detail"), "workspace");
		if (dir.p != NULL && dir.len != 0 && dir.p[0] == '/')
			out = span_dup(dir);
	}
	if (out != NULL && (stat(out, &st) == -1 || !S_ISDIR(st.st_mode))) {
		free(out);
		out = NULL;
	}
	if (f != NULL)
		fclose(f);
	free(line);
	value_pool_free(pool);
	return out;
}

void
policy_print_call(const struct policy_call *c)
{
	struct buf args;
	struct span s;

	policy_print("", span_str(c->file), "");
	printf(":%zu: ", c->line);
	policy_print("", c->request.server, "/");
	policy_print("", c->request.tool, " ");
	buf_init(&args, (size_t)32 << 20);
	(void)json_write(&args, c->request.args);
	s = buf_span(&args);
	policy_print("", span_of(s.p, s.len > 200 ? 200 : s.len),
	    s.len > 200 ? "...\n" : "\n");
	buf_free(&args);
}

void
policy_put_call(struct buf *out, const struct policy_call *c)
{
	policy_put_member(out, "file", span_str(c->file));
	buf_printf(out, ",\"line\":%zu,", c->line);
	policy_put_member(out, "serverName", c->request.server);
	buf_addc(out, ',');
	policy_put_member(out, "toolName", c->request.tool);
	buf_adds(out, ",\"arguments\":");
	(void)json_write(out, c->request.args);
}

void
policy_put_decided(
    struct buf *out, const char *key, const struct policy_decided *d)
{
	buf_printf(
	    out, "\"%s\":{\"decision\":\"%s\",", key, policy_status(d->status));
	policy_put_member(out, "rule", span_str(d->rule));
	buf_addc(out, ',');
	policy_put_member(out, "reason", span_str(d->reason));
	buf_addc(out, '}');
}
