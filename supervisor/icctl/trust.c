/* SPDX-License-Identifier: ISC */
/*
 * `icctl trust`: shows a tool, or a server's entry, as it was and as it is now,
 * and asks whether to trust it. A tool's text comes from a server and is
 * printed in its visible form, in full, one member per line. The digest binds
 * the answer to the definition that was shown.
 */
#include "icctl/icctl.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/json/json.h"
#include "common/visible.h"
#include "icctl/words.h"

#define TRUST_POOL (32U << 20)
#define TRUST_TEXT (64U << 20) /* visible, so that it may be much longer */

/* Write each member on a line, with a sign before it. */
static void
add_members(
    struct buf *b, const struct value *of, const struct value *other, char sign)
{
	const struct value *v, *o;
	struct buf json;

	for (v = of->child; v != NULL; v = v->next) {
		o = other == NULL ? NULL : value_getspan(other, v->key);
		if (o != NULL && value_eq(v, o) && sign == '-')
			continue;
		buf_printf(
		    b, "    %c ", o != NULL && value_eq(v, o) ? ' ' : sign);
		(void)visible_add(b, v->key, icctl_visible());
		buf_adds(b, ": ");
		buf_init(&json, TRUST_POOL);
		json_write(&json, v);
		(void)visible_add(b, buf_span(&json), icctl_visible());
		buf_addc(b, '\n');
		buf_free(&json);
	}
}

/* Show it as it was and as it is. Returns true if all of it was shown. */
static bool
put_members(const struct value *was, const struct value *is)
{
	struct buf b;
	bool whole;

	buf_init(&b, TRUST_TEXT);
	if (was != NULL && is != NULL)
		add_members(&b, was, is, '-');
	if (is != NULL)
		add_members(&b, is, was, '+');
	whole = !b.failed && icctl_put_pages(buf_span(&b));
	buf_free(&b);
	return whole;
}

static const struct value *
definition(struct value_pool *pool, json_object *tool, const char *key)
{
	const char *text = icctl_text(tool, key);
	const struct value *v;

	if (*text == '\0')
		return NULL;
	v = json_read(pool, span_str(text), NULL);
	return v != NULL && v->type == VALUE_OBJECT ? v : NULL;
}

static void
put_why(json_object *tool)
{
	const char *state = icctl_text(tool, "state");

	icctl_put_str(icctl_text(tool, "server"));
	fputs("__", stdout);
	icctl_put_str(icctl_text(tool, "tool"));
	if (strcmp(state, "changed") == 0) {
		fputs(": its definition is not the one that was "
		      "pinned", stdout);
		if (*icctl_text(tool, "pinned") != '\0') {
			putchar(' ');
			icctl_put_str(icctl_text(tool, "pinned"));
		}
	} else if (strcmp(state, "new") == 0) {
		fputs(": its server did not have it when it was first used",
		    stdout);
	} else if (strcmp(state, "look-alike") == 0) {
		fputs(": its name looks like that of ", stdout);
		icctl_put_str(icctl_text(tool, "looksLike"));
	} else {
		fputs(": its annotation does not cover all of its arguments",
		    stdout);
	}
	putchar('\n');
}

/* Show the tool. Returns true if its whole definition was shown as well. */
static bool
put_tool(json_object *tool)
{
	struct value_pool *pool = value_pool_new(TRUST_POOL);
	const struct value *was = NULL, *is = NULL;
	bool whole = false;

	put_why(tool);
	if (pool != NULL) {
		was = definition(pool, tool, "was");
		is = definition(pool, tool, "definition");
	}
	if (is == NULL)
		puts("    its server changed its tools so often that this "
		     "session cannot show its definition,\n    and a tool that "
		     "nobody can inspect is not trusted: start another "
		     "session");
	else if (!(whole = put_members(was, is)))
		puts("    left in quarantine: it was not shown to the end");
	printf("    sha256 %.64s\n", icctl_text(tool, "digest"));
	value_pool_free(pool);
	return whole;
}

/* Trust a tool, or a server with its changed entry. */
static int
trust_send(struct icctl *ctl, json_object *shown, unsigned *done)
{
	static const char *const keys[] = {"server", "tool", "digest"};
	json_object *req = icctl_request("trust", NULL), *reply, *v;
	int status;

	for (size_t i = 0; i < 3; i++)
		if (json_object_object_get_ex(shown, keys[i], &v))
			json_object_object_add(
			    req, keys[i], json_object_get(v));
	if ((reply = icctl_command(ctl, req, &status)) == NULL)
		return status;
	json_object_put(reply);
	(*done)++;
	if (!ctl->json)
		puts("    trusted");
	return ICCTL_OK;
}

static int
trust_one(struct icctl *ctl, json_object *tool, bool yes, unsigned *done)
{
	if (!ctl->json && !put_tool(tool))
		return ICCTL_FAILED;
	if (strcmp(icctl_text(tool, "state"), "drifted") == 0) {
		if (!ctl->json)
			printf("    its annotation does not cover all of its "
			       "arguments. To add them:\n    icctl mcp "
			       "annotate %s, then icctl policy reload\n",
			    icctl_text(tool, "server"));
		return ICCTL_OK;
	}
	if (!yes && !icctl_confirm("Trust it?")) {
		if (!ctl->json)
			puts("    left in quarantine");
		return ICCTL_FAILED;
	}
	return trust_send(ctl, tool, done);
}

/* Show that a server's code is another one: digest, name and version. */
static void
put_code(json_object *server)
{
	icctl_put_str(icctl_text(server, "server"));
	fputs(": its code is not that of the last session\n    was ", stdout);
	icctl_put_str(icctl_text(server, "codeWas"));
	fputs("\n    is  ", stdout);
	icctl_put_str(icctl_text(server, "code"));
	putchar('\n');
}

void
icctl_put_entry(json_object *server)
{
	struct value_pool *pool = value_pool_new(TRUST_POOL);
	const struct value *was = NULL, *is = NULL;
	int64_t n = icctl_number(server, "tools");

	if (icctl_text(server, "codeWas")[0] != '\0')
		put_code(server);
	if (icctl_text(server, "codeWas")[0] == '\0' ||
	    strcmp(icctl_text(server, "was"), icctl_text(server, "entry")) !=
		0) {
		icctl_put_str(icctl_text(server, "server"));
		fputs(": its entry in ", stdout);
		icctl_put_str(icctl_text(server, "file"));
		puts(" was changed since you approved it");
	}
	if (pool != NULL) {
		was = definition(pool, server, "was");
		is = definition(pool, server, "entry");
	}
	(void)put_members(was, is);
	if (was == NULL)
		puts("    (an older version did not keep what it was before)");
	if (n != 0)
		printf("    %lld of its tools %s defined exactly as before, "
		       "and wait%s for your answer\n",
		    (long long)n, n == 1 ? "is" : "are", n == 1 ? "s" : "");
	value_pool_free(pool);
}

static int
trust_server(struct icctl *ctl, json_object *server, bool yes, unsigned *done)
{
	if (!ctl->json)
		icctl_put_entry(server);
	if (!yes && !icctl_confirm("Did you change it, and is it right?")) {
		if (!ctl->json)
			puts("    its tools are left in quarantine");
		return ICCTL_FAILED;
	}
	return trust_send(ctl, server, done);
}

/* Returns true if the answer about its server's entry is the tool's as well. */
static bool
with_entry(json_object *tool)
{
	return get_true(tool, "entryChanged");
}

static int
trust_all(struct icctl *ctl, json_object *reply, bool any, bool yes)
{
	json_object *list = NULL, *servers = NULL, *o;
	unsigned done = 0;
	int status = ICCTL_OK, r;

	json_object_object_get_ex(reply, "tools", &list);
	json_object_object_get_ex(reply, "servers", &servers);
	if (list == NULL || json_object_array_length(list) == 0) {
		if (ctl->json)
			icctl_put_json(reply);
		else
			puts(any ? "No tool is in quarantine."
				 : "No such tool is in quarantine.");
		return ICCTL_OK;
	}
	/*
	 * With --json there are no questions: print a list unless --yes is
	 * given.
	 */
	if (ctl->json && !yes) {
		icctl_put_json(reply);
		return ICCTL_OK;
	}
	for (size_t i = 0;
	     servers != NULL && i < json_object_array_length(servers); i++) {
		r = trust_server(
		    ctl, json_object_array_get_idx(servers, i), yes, &done);
		if (r != ICCTL_OK)
			status = r;
	}
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (with_entry(o))
			continue;
		r = trust_one(ctl, o, yes, &done);
		if (r != ICCTL_OK)
			status = r;
	}
	if (ctl->json) {
		o = json_object_new_object();
		put_bool(o, "ok", status == ICCTL_OK);
		put_int(o, "trusted", done);
		icctl_put_json(o);
		json_object_put(o);
	}
	return status;
}

int
icctl_trust(struct icctl *ctl, int argc, char **argv)
{
	static const char *const keys[] = {"server", "tool"};
	json_object *req = icctl_request("tools", NULL), *reply;
	bool yes = words_given("--yes");
	int status;

	if (argc > 3) {
		json_object_put(req);
		return words_usage();
	}
	for (int i = 1; i < argc; i++)
		put_str(req, keys[i - 1], argv[i]);
	if (yes && argc == 1) {
		warnx("--yes needs a SERVER: the one whose tools you trust");
		json_object_put(req);
		return ICCTL_USAGE;
	}
	if ((reply = icctl_command(ctl, req, &status)) == NULL)
		return status;
	status = trust_all(ctl, reply, argc == 1, yes);
	json_object_put(reply);
	return status;
}
