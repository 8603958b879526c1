/* SPDX-License-Identifier: ISC */
#include "icctl/mcp/import_check.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/envlist.h"
#include "base/json_put.h"
#include "base/spawn.h"
#include "base/tree.h"
#include "common/span.h"
#include "icctl/icctl.h"
#include "icctl/mcp/import_move.h"

#define CHECK_TEXT 65536U
#define CHECK_HOLDER "placeholder"

/* One run of `icsupervisor --check`. */
struct check_run {
	char dir[32];             /* temporary, or "" */
	char file[PATH_MAX];      /* the configuration, or "" */
	struct json_object *need; /* variables to set if they are not */
	int status;               /* as a shell has it, or -1 */
	char out[CHECK_TEXT], err[CHECK_TEXT];
};

/*
 * Write the configuration beside the real one, so that relative paths in it
 * lead to the same files.
 */
static int
check_file(const struct import_check *c, struct check_run *r,
    struct json_object *servers, struct json_object *config)
{
	struct json_object *root = NULL;
	const char *text;
	struct stat st;
	int fd, rv = -1;

	snprintf(r->dir, sizeof(r->dir), "/tmp/ic-import-XXXXXX");
	if (mkdtemp(r->dir) == NULL) {
		r->dir[0] = '\0';
		return -1;
	}
	snprintf(r->file, sizeof(r->file), "%.4000s/.import-XXXXXX",
	    stat(c->paths->home, &st) == 0 ? c->paths->home : r->dir);
	if ((fd = mkostemp(r->file, O_CLOEXEC)) == -1) {
		r->file[0] = '\0';
		return -1;
	}
	if (json_object_deep_copy(config, &root, NULL) == 0) {
		json_object_object_add(
		    root, "mcpServers", json_object_get(servers));
		text = json_object_to_json_string_ext(
		    root, JSON_C_TO_STRING_PLAIN);
		rv = span_write(fd, span_str(text));
	}
	json_object_put(root);
	close(fd);
	return rv;
}

/*
 * Returns our environment with the variables that are missing in it, as an
 * array to free; the texts in `*set` are to be freed, too. NULL: no memory.
 */
static char **
check_environ(struct json_object *need, char ***set, size_t *n)
{
	const size_t most = need != NULL ? json_object_array_length(need) : 0;
	const char *name;

	*n = 0;
	if ((*set = calloc(most + 1, sizeof(**set))) == NULL)
		return NULL;
	for (size_t i = 0; i < most; i++) {
		name =
		    json_object_get_string(json_object_array_get_idx(need, i));
		if (getenv(name) != NULL)
			continue;
		if (asprintf(&(*set)[*n], "%s=" CHECK_HOLDER, name) == -1)
			return NULL;
		(*n)++;
	}
	return envlist_with(environ, (const char *const *)*set, *n);
}

static void
check_spawn(struct check_run *r)
{
	char program[PATH_MAX], session[64], work[64], **set = NULL;
	const char *const argv[] = {"icsupervisor", "--check", "--runtime",
	    "none", "--config", r->file, "--session-dir", session,
	    "--workspace", work, NULL};
	struct spawn s = {
	    .path = program, .argv = (char *const *)(uintptr_t)argv};
	size_t n = 0;
	char **env = check_environ(r->need, &set, &n);

	snprintf(session, sizeof(session), "%s/session", r->dir);
	snprintf(work, sizeof(work), "%s/work", r->dir);
	s.envp = env;
	if (env != NULL && mkdir(work, 0700) == 0 &&
	    icctl_program("icsupervisor", program, sizeof(program)) == 0)
		r->status =
		    spawn_read(&s, (struct spawn_said){r->out, sizeof(r->out)},
			(struct spawn_said){r->err, sizeof(r->err)});
	for (size_t i = 0; i < n; i++)
		free(set[i]);
	free(set);
	free(env);
}

static void
check_end(struct check_run *r)
{
	if (r->file[0] != '\0')
		(void)unlink(r->file);
	if (r->dir[0] != '\0')
		(void)tree_remove(r->dir);
}

/* Replace each `from` by `to`, which is not longer. */
static void
check_replace(char *text, const char *from, const char *to)
{
	size_t n = strlen(from), m = strlen(to);
	char *at = text;

	if (n == 0 || m > n)
		return;
	while ((at = strstr(at, from)) != NULL) {
		memcpy(at, to, m);
		memmove(at + m, at + n, strlen(at + n) + 1);
		at += m;
	}
}

/* Call temporary files by the names of those that a session has. */
static void
check_names(const struct check_run *r, char *text)
{
	char work[64], whole[PATH_MAX];

	snprintf(work, sizeof(work), "%s/work", r->dir);
	snprintf(whole, sizeof(whole), "%s", r->file);
	check_replace(text, whole, "mcp-servers.json");
	check_replace(text, work, "/workspace");
	check_replace(text, " --workspace '/workspace'", "");
}

/* Write the last message of icsupervisor. */
static void
check_why(const struct check_run *r, char *text, char *why, size_t cap)
{
	static const char prefix[] = "icsupervisor: ";
	const char *last = "icsupervisor does not run";
	char *line;

	while ((line = strsep(&text, "\n")) != NULL)
		if (strncmp(line, prefix, sizeof(prefix) - 1) == 0)
			last = line + sizeof(prefix) - 1;
	snprintf(why, cap, "%s", last);
	check_names(r, why);
}

/*
 * Returns 0 if a session would start, or -1 with the reason. `said` becomes
 * what it reports, which the caller owns, or NULL.
 */
static int
check_ask(const struct import_check *c, struct check_run *r,
    struct json_object *servers, struct json_object *config,
    struct json_object *need, struct json_object **said, char *why, size_t cap)
{
	memset(r, 0, sizeof(*r));
	r->need = need;
	r->status = -1;
	if (check_file(c, r, servers, config) == 0)
		check_spawn(r);
	check_why(r, r->err, why, cap);
	*said = json_tokener_parse(r->out);
	check_end(r);
	return r->status == 0 ? 0 : -1;
}

/*
 * Do the same. `name` is the server of which `lost` becomes the reason why it
 * would be left out, or "".
 */
static int
check_run(const struct import_check *c, struct json_object *servers,
    struct json_object *config, struct json_object *need, const char *name,
    char *why, char *lost, size_t cap)
{
	static struct check_run r;
	struct json_object *said, *list, *o;
	int rv;

	lost[0] = '\0';
	rv = check_ask(c, &r, servers, config, need, &said, why, cap);
	if (said != NULL && json_object_object_get_ex(said, "servers", &list))
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			o = json_object_array_get_idx(list, i);
			if (strcmp(icctl_text(o, "name"), name) == 0)
				snprintf(lost, cap, "%s", icctl_text(o, "why"));
		}
	json_object_put(said);
	check_names(&r, lost);
	return rv;
}

struct json_object *
import_check_all(const struct import_check *c, struct fault *fault)
{
	static struct check_run r;
	struct json_object *said, *list = NULL;
	char why[512];

	if (check_ask(c, &r, c->servers, c->config, NULL, &said, why,
		sizeof(why)) == -1)
		(void)fault_set(fault, "%s", why);
	else if (!json_object_object_get_ex(said, "servers", &list))
		(void)fault_set(fault, "icsupervisor --check names no servers");
	else
		json_object_get(list);
	json_object_put(said);
	return list;
}

int
import_check_open(struct import_check *c, const struct paths *paths,
    struct json_object *servers, struct json_object *config,
    struct fault *fault)
{
	*c = (struct import_check){.paths = paths};
	if (json_object_deep_copy(servers, &c->servers, NULL) == -1 ||
	    json_object_deep_copy(config, &c->config, NULL) == -1)
		return fault_errno(fault, "mcp-servers.json");
	return 0;
}

/*
 * Find out, once, whether a session starts with what was there already. Returns
 * false if none does; entries are checked by themselves from then on.
 */
static bool
check_base(struct import_check *c)
{
	char why[512], lost[512];

	if (c->base)
		return true;
	c->base = true;
	if (check_run(c, c->servers, c->config, NULL, "", why, lost,
		sizeof(why)) == 0)
		return true;
	warnx("no session starts with your files as they are: %s. See icctl "
	      "doctor",
	    why);
	json_object_put(c->servers);
	json_object_put(c->config);
	c->servers = json_object_new_object();
	c->config = json_object_new_object();
	return false;
}

/* Make what is not there, and remember where that begins. */
static void
check_made(const struct mcp_entry *e, struct json_object *made)
{
	char path[PATH_MAX], *slash;
	struct fault ignored;
	struct stat st;

	for (size_t i = 0; i < json_object_array_length(e->make); i++) {
		snprintf(path, sizeof(path), "%.4000s",
		    json_object_get_string(
			json_object_array_get_idx(e->make, i)));
		/* From the innermost outwards. */
		while (stat(path, &st) == -1 &&
		       (slash = strrchr(path, '/')) != NULL && slash != path) {
			json_object_array_add(
			    made, json_object_new_string(path));
			*slash = '\0';
		}
		(void)import_directory(
		    json_object_get_string(
			json_object_array_get_idx(e->make, i)),
		    &ignored);
	}
}

static void
check_unmade(struct json_object *made)
{
	for (size_t i = 0; i < json_object_array_length(made); i++)
		(void)rmdir(
		    json_object_get_string(json_object_array_get_idx(made, i)));
	json_object_put(made);
}

/* Set the entry's secrets to something that is none. */
static void
check_secrets(struct json_object *config, const struct mcp_entry *e)
{
	struct json_object *all, *own = json_object_new_object();

	if (!json_object_object_get_ex(config, "serverCredentials", &all)) {
		all = json_object_new_object();
		json_object_object_add(config, "serverCredentials", all);
	}
	json_object_object_foreach(e->secrets, name, val)
	{
		(void)val;
		put_str(own, name, CHECK_HOLDER);
	}
	if (e->where != NULL) {
		json_object_put(own);
		own = json_object_get(e->where);
	}
	if (json_object_object_length(own) != 0)
		json_object_object_add(all, e->name, own);
	else
		json_object_put(own);
}

/* Returns true if every reference to the variable has a default. */
static bool
check_default(const struct mcp_entry *e, const char *name)
{
	const char *s = json_object_to_json_string_ext(
	    e->entry, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	size_t n = strlen(name);

	while ((s = strstr(s, "${")) != NULL) {
		s += 2;
		if (strncmp(s, name, n) == 0 && s[n] == '}')
			return false;
	}
	return true;
}

/*
 * Refuse an entry that needs a variable which is not set: no session starts
 * without it.
 */
static bool
check_unset(struct mcp_entry *e)
{
	const char *name;

	for (size_t i = 0; i < json_object_array_length(e->variables); i++) {
		name = json_object_get_string(
		    json_object_array_get_idx(e->variables, i));
		if (getenv(name) != NULL || check_default(e, name))
			continue;
		if (asprintf(&e->refused,
			"it needs %s, which is not set in your environment, "
			"and no session starts with a server that lacks its "
			"variable. Use: export %s=..., and import it again",
			name, name) == -1)
			e->refused = NULL;
		return true;
	}
	return false;
}

/* Check what is there with the entry. Returns 0, or -1 with the reason. */
static int
check_with(struct import_check *c, const struct mcp_entry *e, char *why,
    char *lost, size_t cap)
{
	struct json_object *config = NULL;
	int rv;

	snprintf(why, cap, "out of memory");
	lost[0] = '\0';
	if (json_object_deep_copy(c->config, &config, NULL) == -1)
		return -1;
	check_secrets(config, e);
	json_object_object_add(c->servers, e->name, json_object_get(e->entry));
	rv = check_run(
	    c, c->servers, config, e->variables, e->name, why, lost, cap);
	if (rv == 0) {
		json_object_put(c->config);
		c->config = json_object_get(config);
	} else {
		json_object_object_del(c->servers, e->name);
	}
	json_object_put(config);
	return rv;
}

void
import_check(struct import_check *c, struct mcp_entry *e)
{
	char why[512], lost[512], text[700];
	struct json_object *made;

	if (check_unset(e))
		return;
	made = json_object_new_array();
	check_made(e, made);
	if (check_with(c, e, why, lost, sizeof(why)) == -1 &&
	    (check_base(c) || check_with(c, e, why, lost, sizeof(why)) == -1)) {
		if (asprintf(&e->refused, "no session would start with it: %s",
			why) == -1)
			e->refused = NULL;
	} else if (lost[0] != '\0' && e->package == NULL) {
		snprintf(text, sizeof(text),
		    "sessions start without this server for now: %s", lost);
		json_object_array_add(e->notes, json_object_new_string(text));
	}
	check_unmade(made);
}

void
import_check_without(struct import_check *c, const struct mcp_entry *e)
{
	json_object_object_del(c->servers, e->name);
}

void
import_check_close(struct import_check *c)
{
	json_object_put(c->servers);
	json_object_put(c->config);
	memset(c, 0, sizeof(*c));
}
