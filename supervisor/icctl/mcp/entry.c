/* SPDX-License-Identifier: ISC */
/*
 * Converts entries one by one. A foreign entry was parsed strictly, but it is
 * meant for another program: only members that are known here are taken over.
 */
#include "icctl/mcp/entry.h"

#include <sys/stat.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/span.h"
#include "files/servers.h"
#include "icctl/mcp/entry_remote.h"
#include "icctl/mcp/forms.h"
#include "icctl/mcp/guarded.h"
#include "icctl/mcp/recipe.h"
#include "icctl/mcp/script.h"
#include "icctl/mcp/variable.h"
#include "base/secret.h"
#include "base/json_get.h"
#include "base/json_put.h"

static void note(struct mcp_entry *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
note(struct mcp_entry *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_object_array_add(e->notes, json_object_new_string(text));
}

static void refuse(struct mcp_entry *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
refuse(struct mcp_entry *e, const char *fmt, ...)
{
	va_list ap;

	if (e->refused != NULL)
		return;
	va_start(ap, fmt);
	if (vasprintf(&e->refused, fmt, ap) == -1)
		e->refused = NULL;
	va_end(ap);
}

/* Make a name that a session accepts: a-z, 0-9, - and single _, at most 32. */
static void
entry_name(struct mcp_entry *e, const char *theirs)
{
	size_t n = 0;
	char c;

	for (; *theirs != '\0' && n < MCP_NAME_MAX; theirs++) {
		c = *theirs;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
			c = c == '_' ? '_' : '-';
		if ((c == '-' || c == '_') &&
		    (n == 0 || e->name[n - 1] == '-' || e->name[n - 1] == '_'))
			continue;
		e->name[n++] = c;
	}
	while (n != 0 && (e->name[n - 1] == '-' || e->name[n - 1] == '_'))
		n--;
	e->name[n] = '\0';
	if (n == 0)
		refuse(e, "its name has no letter or digit; rename it");
	if (strcmp(e->name, "filesystem") == 0)
		snprintf(e->name, sizeof(e->name), "files");
	if (strcmp(e->name, "proxy") == 0)
		snprintf(e->name, sizeof(e->name), "proxy-server");
}

/*
 * Returns why the program would defeat the sandbox, or cannot run in it; or
 * NULL.
 */
static const char *
entry_forbidden(const char *command)
{
	static const char *const shells[] = {"sh", "bash", "zsh", "dash",
	    "fish", "ksh", "cmd", "cmd.exe", "powershell", "pwsh"};
	static const char *const engines[] = {
	    "docker", "podman", "nerdctl", "containerd", "kubectl"};
	static const char *const roots[] = {"sudo", "doas", "su", "pkexec"};
	const char *base = strrchr(command, '/');

	base = base != NULL ? base + 1 : command;
	for (size_t i = 0; i < nitems(shells); i++)
		if (strcmp(base, shells[i]) == 0)
			return "it runs through a shell; name the program "
			       "itself";
	for (size_t i = 0; i < nitems(engines); i++)
		if (strcmp(base, engines[i]) == 0)
			return "it runs in a container engine, which has more "
			       "rights than a sandbox may give; use the "
			       "server's npm or Python package";
	for (size_t i = 0; i < nitems(roots); i++)
		if (strcmp(base, roots[i]) == 0)
			return "it asks for the rights of another user";
	return NULL;
}

/* Returns true for ${NAME} in the text, or $NAME as all of it. */
static bool
entry_refers(const char *s)
{
	size_t n;

	if (strstr(s, "${") != NULL)
		return true;
	n = s[0] == '$' ? servers_variable_name(s + 1) : 0;
	return n != 0 && s[1 + n] == '\0';
}

/* Returns command and arguments in one list, as forms_entry() has put them. */
static struct json_object *
entry_argv(struct mcp_entry *e, struct json_object *theirs)
{
	struct json_object *argv = json_object_new_array(), *v, *list;

	list = get_typed(theirs, "command", json_type_array);
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		v = json_object_array_get_idx(list, i);
		if (!json_object_is_type(v, json_type_string)) {
			refuse(e, "argument %zu is not a string", i);
			continue;
		}
		json_object_array_add(argv, json_object_get(v));
	}
	if (json_object_array_length(argv) == 0)
		refuse(e, "it names no command");
	return argv;
}

/*
 * `npx [-y] PACKAGE[@VERSION] ARGUMENTS`: find the package to install. The
 * version stays in the entry; `latest` is dropped, because a session never
 * fetches anything.
 */
static void
entry_npx(struct mcp_entry *e, struct json_object *args)
{
	const char *s, *at;

	for (size_t i = 0; i < json_object_array_length(args); i++) {
		s = json_object_get_string(json_object_array_get_idx(args, i));
		if (strcmp(s, "-p") == 0 || strcmp(s, "--package") == 0 ||
		    strcmp(s, "-c") == 0) {
			refuse(e,
			    "npx %s is not supported: install the package and "
			    "name its program",
			    s);
			return;
		}
		if (s[0] == '-')
			continue;
		at = strrchr(s + 1, '@');
		if (at != NULL && strcmp(at, "@latest") == 0) {
			char *plain = strndup(s, (size_t)(at - s));

			json_object_array_put_idx(
			    args, i, json_object_new_string(plain));
			note(e,
			    "@latest is removed: a session runs the version "
			    "that is installed");
			e->package = plain;
			return;
		}
		e->package = strdup(s);
		return;
	}
	refuse(e, "npx is given no package");
}

static void
entry_command(struct mcp_entry *e, struct json_object *theirs)
{
	struct json_object *argv = entry_argv(e, theirs), *args;
	const char *command, *why;

	args = json_object_new_array();
	for (size_t i = 1; i < json_object_array_length(argv); i++)
		json_object_array_add(
		    args, json_object_get(json_object_array_get_idx(argv, i)));
	if (e->refused == NULL) {
		command =
		    json_object_get_string(json_object_array_get_idx(argv, 0));
		if ((why = entry_forbidden(command)) != NULL)
			refuse(e, "%s", why);
		else if (strcmp(command, "npx") == 0)
			entry_npx(e, args);
		put_str(e->entry, "command", command);
	}
	json_object_object_add(e->entry, "args", args);
	json_object_put(argv);
}

static void
entry_env(struct mcp_entry *e, struct json_object *theirs)
{
	struct json_object *env = get_typed(theirs, "env", json_type_object),
			   *out;
	const char *s;

	if (env == NULL)
		env = get_typed(theirs, "environment", json_type_object);
	if (env == NULL)
		return;
	out = json_object_new_object();
	json_object_object_foreach(env, name, val)
	{
		if (!json_object_is_type(val, json_type_string)) {
			note(e, "env.%s is left out: it is not a string", name);
			continue;
		}
		s = json_object_get_string(val);
		if (!entry_refers(s) && secret_like(name, s)) {
			json_object_object_add(
			    e->secrets, name, json_object_get(val));
			continue;
		}
		json_object_object_add(out, name, json_object_get(val));
	}
	if (json_object_object_length(out) != 0)
		json_object_object_add(e->entry, "env", out);
	else
		json_object_put(out);
}

/* Note which variables are secrets, after those that are refused are gone. */
static void
entry_secrets(struct mcp_entry *e)
{
	json_object_object_foreach(e->secrets, name, val)
	{
		(void)val;
		if (strncmp(name, "IC_ARG_", 7) != 0)
			note(e,
			    "env.%s looks like a secret: it is kept in "
			    "serverCredentials",
			    name);
	}
}

/* Replace secrets among the arguments by references to a variable. */
static void
entry_secret_args(struct mcp_entry *e)
{
	struct json_object *args = get_typed(e->entry, "args", json_type_array);
	const char *s, *before = "", *value;
	char name[40], *head;
	size_t n = args != NULL ? json_object_array_length(args) : 0;

	for (size_t i = 0; i < n; i++, before = s) {
		s = json_object_get_string(json_object_array_get_idx(args, i));
		if (entry_refers(s) || !secret_like_argument(before, s, &value))
			continue;
		snprintf(name, sizeof(name), "IC_ARG_%zu", i + 1);
		put_str(e->secrets, name, value);
		head = NULL;
		if (asprintf(&head, "%.*s${%s}", (int)(value - s), s, name) ==
		    -1)
			return;
		json_object_array_put_idx(
		    args, i, json_object_new_string(head));
		free(head);
		note(e,
		    "argument %zu looks like a secret: it is kept in "
		    "serverCredentials, and ${%s} stands in its place",
		    i + 1, name);
		s = "";
	}
}

/* Add a note for every member that has no meaning here. */
static void
entry_rest(struct mcp_entry *e, struct json_object *theirs)
{
	static const char *const known[] = {"command", "args", "env",
	    "environment", "type", "transport", "disabled", "enabled",
	    "description", "name", "title", "source"};
	bool found;

	json_object_object_foreach(theirs, key, val)
	{
		(void)val;
		found = false;
		for (size_t i = 0; i < nitems(known); i++)
			found |= strcmp(key, known[i]) == 0;
		if (strcmp(key, "cwd") == 0)
			note(e, "cwd is left out: a server starts in "
				"/workspace or /");
		else if (!found)
			note(e, "%.60s is left out: it has no meaning here",
			    key);
	}
}

static void
entry_convert(struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *name, struct json_object *theirs)
{
	struct json_object *v, *cwd;

	e->entry = json_object_new_object();
	e->secrets = json_object_new_object();
	e->variables = json_object_new_array();
	e->notes = json_object_new_array();
	e->make = json_object_new_array();
	e->move = json_object_new_object();
	entry_name(e, name);
	if (strcmp(e->name, name) != 0 && e->refused == NULL)
		note(e, "\"%.64s\" is called %s here", name, e->name);
	if (!json_object_is_type(theirs, json_type_object)) {
		refuse(e, "its entry is not an object");
		return;
	}
	if (((v = get_typed(theirs, "disabled", json_type_boolean)) != NULL &&
		json_object_get_boolean(v)) ||
	    ((v = get_typed(theirs, "enabled", json_type_boolean)) != NULL &&
		!json_object_get_boolean(v))) {
		refuse(e, "it is disabled in that file");
		return;
	}
	if (mcp_entry_is_remote(theirs)) {
		mcp_entry_remote(e, how, theirs);
		return;
	}
	entry_command(e, theirs);
	entry_env(e, theirs);
	if ((v = get_typed(theirs, "description", json_type_string)) != NULL)
		json_object_object_add(
		    e->entry, "description", json_object_get(v));
	entry_rest(e, theirs);
	if (e->refused != NULL)
		return;
	entry_secret_args(e);
	mcp_variables(e, how->user_home);
	if (e->refused == NULL)
		guarded_remove(e, how);
	if (e->refused != NULL)
		return;
	entry_secrets(e);
	cwd = get_typed(theirs, "cwd", json_type_string);
	mcp_script(e, how, cwd != NULL ? cwd : how->cwd);
	mcp_recipe(e, how);
}

void
mcp_entry_convert(struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *name, struct json_object *theirs)
{
	struct json_object *plain = forms_entry(theirs);

	memset(e, 0, sizeof(*e));
	entry_convert(e, how, name, plain != NULL ? plain : theirs);
	json_object_put(plain);
}

void
mcp_entry_free(struct mcp_entry *e)
{
	json_object_put(e->entry);
	json_object_put(e->secrets);
	json_object_put(e->variables);
	json_object_put(e->notes);
	json_object_put(e->make);
	json_object_put(e->move);
	json_object_put(e->where);
	freezero(e->keep, e->keep != NULL ? strlen(e->keep) : 0);
	free(e->keep_in);
	free(e->package);
	free(e->refused);
	memset(e, 0, sizeof(*e));
}
