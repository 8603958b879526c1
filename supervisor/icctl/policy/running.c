/* SPDX-License-Identifier: ISC */
/*
 * Compares annotations with running sessions: how many tools each server lists,
 * and which calls were refused because one is not annotated. Reads the
 * sessions' logs without disturbing them.
 */
#include "icctl/policy/lint.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"
#include "common/log.h"
#include "common/plural.h"
#include "log/parts.h"

#define POOL_MAX ((size_t)64 << 20)

/* The findings so far: a tool may have been called often. */
static struct {
	char text[64][520];
	size_t n;
} running_env;

static void
say(struct lint *l, const char *text)
{
	for (size_t i = 0; i < running_env.n; i++)
		if (strcmp(running_env.text[i], text) == 0)
			return;
	if (running_env.n < 64)
		snprintf(running_env.text[running_env.n++],
		    sizeof(running_env.text[0]), "%s", text);
	finding(l->f, false, PROTO_RULES_ANNOTATIONS, "unannotated", "", "%s",
	    text);
}

static size_t
count_annotated(const struct annots *as, struct span server)
{
	size_t n = 0;

	for (size_t i = 0; i < as->n; i++)
		n += span_eq(as->tools[i].server, server);
	return n;
}

static void
take_state(struct lint *l, const struct value *v)
{
	struct span server = value_str(v, "serverName");
	size_t have = count_annotated(l->annots, server);
	char vis[160], text[520];
	int64_t tools;

	if (!span_is(value_str(v, "state"), "ready") ||
	    value_int(value_get(v, "tools"), 0, 1000000, &tools) == -1 ||
	    (size_t)tools <= have)
		return;
	snprintf(text, sizeof(text),
	    "server \"%s\" of a running session lists %lld tool%s, and %zu %s "
	    "annotated: no policy knows the others (policy.unknownTools)",
	    log_vis(server, vis, sizeof(vis)), (long long)tools,
	    plural((uint64_t)tools), have, have == 1 ? "is" : "are");
	say(l, text);
}

static void
take_refused(struct lint *l, const struct value *v)
{
	struct span server = value_str(v, "serverName");
	struct span tool = value_str(v, "toolName");
	char a[160], b[200], text[520];

	if (!span_is(value_str(value_get(v, "policyDecision"), "rule"),
		"missing-annotation") ||
	    annots_find(l->annots, server, tool) != NULL)
		return;
	snprintf(text, sizeof(text),
	    "tool \"%s\" of server \"%s\" was called in a running session and "
	    "is not annotated",
	    log_vis(tool, b, sizeof(b)), log_vis(server, a, sizeof(a)));
	say(l, text);
}

static void
read_log(struct lint *l, struct value_pool *pool, const char *path)
{
	FILE *f = fopen(path, "re");
	const struct value *v;
	char *line = NULL;
	struct span event;
	size_t cap = 0;
	ssize_t n;

	while (f != NULL && (n = getline(&line, &cap, f)) > 0) {
		/* Most lines are calls that were decided: skip them quickly. */
		if (strstr(line, "\"serverState\"") == NULL &&
		    strstr(line, "\"missing-annotation\"") == NULL)
			continue;
		value_pool_reset(pool);
		if ((v = json_read(pool, span_of(line, (size_t)n), NULL)) ==
		    NULL)
			continue;
		event = value_str(v, "event");
		if (span_is(event, "serverState"))
			take_state(l, v);
		else if (span_is(event, "call") ||
			 span_is(event, "refusedCalls"))
			take_refused(l, v);
	}
	if (f != NULL)
		fclose(f);
	free(line);
}

/* Read all files of the log in this directory. */
static void
read_logs(struct lint *l, struct value_pool *pool, const char *dir)
{
	char path[2 * PATH_MAX + AUDITPARTS_NAME], name[AUDITPARTS_NAME];
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned older;

	if (fd == -1)
		return;
	if (auditparts_count(fd, &older) == -1)
		older = 0;
	close(fd);
	for (unsigned part = 1; part <= older + 1; part++) {
		snprintf(path, sizeof(path), "%s/%s", dir,
		    auditparts_name(part, older, name));
		read_log(l, pool, path);
	}
}

void
policy_lint_running(struct lint *l, const char *home)
{
	struct value_pool *pool = value_pool_new(POOL_MAX);
	char path[2 * PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/run", home);
	d = pool == NULL ? NULL : opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/run/%s", home, e->d_name);
		read_logs(l, pool, path);
	}
	if (d != NULL)
		closedir(d);
	value_pool_free(pool);
}
