/* SPDX-License-Identifier: ISC */
/*
 * `icctl status`: shows a session to people. Text from agents and servers is
 * printed as printable ASCII.
 */
#include "icctl/icctl.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "common/http/hostname.h"
#include "common/log.h"
#include "common/plural.h"
#include "icctl/talk/talk.h"
#include "icctl/token.h"
#include "icctl/words.h"

#define STATUS_COLUMNS 8U
#define STATUS_WIDEST 32U

/* Returns a member as it is shown in its row, with a unit for numbers. */
static const char *
cell(const char *key, json_object *v, char *dst, size_t cap)
{
	/* The last column of a remote server with a login has both. */
	if (strcmp(key, "expires") == 0 || strcmp(key, "failure") == 0 ||
	    strcmp(key, "refused") == 0)
		return "";
	/* True members are named, and false ones left out. */
	if (json_object_is_type(v, json_type_boolean))
		return json_object_get_boolean(v) ? key : "";
	if (!json_object_is_type(v, json_type_int))
		return json_object_get_string(v);
	if (strcmp(key, "tools") == 0)
		snprintf(dst, cap, "%lld tool%s",
		    (long long)json_object_get_int64(v),
		    plural((uint64_t)json_object_get_int64(v)));
	else
		snprintf(dst, cap, "%s %lld", key,
		    (long long)json_object_get_int64(v));
	return dst;
}

/* Compute the width of each column. */
static void
list_widths(json_object *list, size_t width[STATUS_COLUMNS])
{
	char text[64];
	const char *s;
	size_t n, k;

	memset(width, 0, STATUS_COLUMNS * sizeof(width[0]));
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		k = 0;
		json_object_object_foreach(
		    json_object_array_get_idx(list, i), key, v)
		{
			s = cell(key, v, text, sizeof(text));
			n = s == NULL ? 0 : strlen(s);
			if (n > STATUS_WIDEST)
				n = STATUS_WIDEST;
			if (k < STATUS_COLUMNS && n > width[k])
				width[k] = n;
			k++;
		}
	}
}

/* Put blanks before a value, so that no line ends in blanks. */
static void
put_row(json_object *o, const size_t width[STATUS_COLUMNS])
{
	size_t at = 2, col = 0, k = 0, pad;
	char text[64], token[400];
	const char *s;

	json_object_object_foreach(o, key, v)
	{
		s = cell(key, v, text, sizeof(text));
		if (s != NULL && *s != '\0') {
			pad = at > col + 2 ? at - col : 2;
			printf("%*s", (int)pad, "");
			icctl_put_str(s);
			col += pad + strlen(s);
		}
		if (k < STATUS_COLUMNS && width[k] != 0)
			at += width[k] + 2;
		k++;
	}
	if (icctl_token(o, token, sizeof(token))[0] != '\0') {
		fputs("  ", stdout);
		icctl_put_str(token);
	}
	putchar('\n');
}

static void
put_list(json_object *reply, const char *key, const char *title)
{
	size_t width[STATUS_COLUMNS];
	json_object *list = NULL;

	if (!json_object_object_get_ex(reply, key, &list) ||
	    json_object_array_length(list) == 0)
		return;
	puts(title);
	list_widths(list, width);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		put_row(json_object_array_get_idx(list, i), width);
}

static void
put_granted(json_object *reply)
{
	json_object *list = NULL;

	if (!json_object_object_get_ex(reply, "granted", &list) ||
	    json_object_array_length(list) == 0)
		return;
	puts("allowed until the session ends");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		fputs("  ", stdout);
		icctl_put_grant(json_object_array_get_idx(list, i));
	}
}

/* List the last failure of each provider that had one. */
static void
put_failures(json_object *reply)
{
	json_object *list = NULL, *o;
	int64_t count;
	char ago[32], until[ICCTL_UNTIL];

	if (!json_object_object_get_ex(reply, "failures", &list) ||
	    json_object_array_length(list) == 0)
		return;
	puts("providers that failed");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		count = icctl_number(o, "count");
		printf("  %s: ", icctl_text(o, "provider"));
		icctl_put_str(icctl_text(o, "text"));
		if (icctl_until(icctl_text(o, "until"), until)[0] != '\0')
			printf(", until %s", until);
		printf("  (%lld time%s, last %s ago)\n", (long long)count,
		    plural((uint64_t)count),
		    icctl_span(icctl_number(o, "ago_ms"), ago, sizeof(ago)));
	}
}

/*
 * Print "http://proxy:3128 (https_proxy, with a credential): ok", or the
 * problem.
 */
static void
put_proxy(json_object *reply)
{
	static const char *const texts[] = {"state", "text", "hint", "note"};
	json_object *o, *v = NULL;

	if (!json_object_object_get_ex(reply, "proxy", &o))
		return;
	printf("%-12shttp://", "proxy");
	if (json_object_object_get_ex(o, "host", &v))
		icctl_put_str(json_object_get_string(v));
	printf(":%lld (", (long long)icctl_number(o, "port"));
	if (json_object_object_get_ex(o, "from", &v))
		icctl_put_str(json_object_get_string(v));
	v = NULL;
	(void)json_object_object_get_ex(o, "credential", &v);
	printf(", %s credential)",
	    json_object_get_boolean(v) ? "with a" : "without");
	for (size_t i = 0; i < nitems(texts); i++) {
		if (!json_object_object_get_ex(o, texts[i], &v) ||
		    json_object_get_string_len(v) == 0)
			continue;
		printf(i == 0 ? ": " : "; ");
		icctl_put_str(json_object_get_string(v));
	}
	putchar('\n');
}

static void
put_published(json_object *reply)
{
	json_object *list = NULL, *o;

	if (!json_object_object_get_ex(reply, "published", &list))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		printf("%-12sport %lld of the sandbox is open to your browser, "
		       "which can send anything anywhere: ",
		    "published", (long long)icctl_number(o, "port"));
		icctl_put_str(icctl_text(o, "url"));
		printf(" (%lld open, %lld in all)\n",
		    (long long)icctl_number(o, "open"),
		    (long long)icctl_number(o, "connections"));
	}
}

/* Print "db  port 5432 to 127.0.0.1:5432, PostgreSQL of user ...". */
static void
put_services(json_object *reply)
{
	json_object *list = NULL, *o;

	if (!json_object_object_get_ex(reply, "services", &list) ||
	    json_object_array_length(list) == 0)
		return;
	puts("services of this machine that the agent reaches");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		printf("  %s: localhost:%lld is %s (", icctl_text(o, "name"),
		    (long long)icctl_number(o, "port"), icctl_text(o, "to"));
		icctl_put_str(icctl_text(o, "listener"));
		if (icctl_text(o, "login")[0] != '\0') {
			fputs("; logs in as ", stdout);
			icctl_put_str(icctl_text(o, "login"));
		}
		printf("); %lld open, %lld in all, %lld failed",
		    (long long)icctl_number(o, "open"),
		    (long long)icctl_number(o, "connections"),
		    (long long)icctl_number(o, "failed"));
		if (icctl_text(o, "lastError")[0] != '\0') {
			fputs(", the last one: ", stdout);
			icctl_put_str(icctl_text(o, "lastError"));
		}
		if (strcmp(icctl_text(o, "state"), "off") == 0)
			fputs(". It is off until a new session starts", stdout);
		putchar('\n');
	}
}

/* The last checkpoint, and what is wrong with it. */
static void
put_undo(json_object *reply)
{
	json_object *o = NULL;

	if (!json_object_object_get_ex(reply, "undo", &o) || o == NULL)
		return;
	printf("%-12s", "undo");
	if (icctl_number(o, "checkpoint") == 0) {
		fputs("the last checkpoint was not made: ", stdout);
		icctl_put_str(icctl_text(o, "why"));
		putchar('\n');
		return;
	}
	printf("checkpoint %lld: %lld entr%s, %lld left out",
	    (long long)icctl_number(o, "checkpoint"),
	    (long long)icctl_number(o, "files"),
	    icctl_number(o, "files") == 1 ? "y" : "ies",
	    (long long)icctl_number(o, "leftOut"));
	if (icctl_number(o, "loose") != 0)
		printf(", %lld changed while they were read",
		    (long long)icctl_number(o, "loose"));
	if (get_true(o, "late"))
		fputs(", late: the turn had begun", stdout);
	puts("; icctl undo --list");
}

static void
put_limits(json_object *reply)
{
	static const struct {
		const char *key, *name;
	} rows[] = {{"memory", "memory"}, {"processors", "processors"},
	    {"processes", "processes"}, {"openFiles", "open files"},
	    {"tmp", "/tmp"}, {"shm", "/dev/shm"}, {"home", "home directory"},
	    {"freeDisk", "free disk"},
	    {"serverMemory", "memory of an MCP server"}};
	json_object *o;

	if (!json_object_object_get_ex(reply, "limits", &o))
		return;
	puts("limits of the sandboxes");
	for (size_t i = 0; i < nitems(rows); i++) {
		printf("  %-25s", rows[i].name);
		icctl_put_str(icctl_text(o, rows[i].key));
		putchar('\n');
	}
}

static void
put_breakout(json_object *reply)
{
	json_object *o;

	if (json_object_object_get_ex(reply, "breakoutTest", &o) && o != NULL)
		printf("%-12s%lld attempts to leave the sandbox, all "
		       "refused\n",
		    "tested", (long long)icctl_number(o, "attempts"));
}

static void
put_clone(json_object *reply)
{
	char path[ICCTL_PATH];
	const char *from;
	json_object *o;

	if (!json_object_object_get_ex(reply, "clone", &o))
		return;
	from = icctl_text(o, icctl_text(o, "dir")[0] != '\0' ? "dir" : "url");
	printf("%-12s", "clone of");
	icctl_put_str(icctl_path(from, path));
	fputs(", branch ", stdout);
	icctl_put_str(icctl_text(o, "branch"));
	puts(" (icctl diff shows what is new, icctl pull gets it)");
}

/* Print a policy's path, after its name if it is in a directory of policies. */
static void
put_policy(const char *path)
{
	char shown[ICCTL_PATH], name[ICCTL_POLICY];

	printf("%-12s", "policy");
	icctl_put_str(icctl_policy_name(path, name));
	fputs(name[0] != '\0' ? " (" : "", stdout);
	icctl_put_str(icctl_path(path, shown));
	puts(name[0] != '\0' ? ")" : "");
}

static void
put_pending(json_object *reply)
{
	int64_t pending = icctl_number(reply, "pending");
	json_object *v;

	printf("%-12s%lld", "pending", (long long)pending);
	if (pending != 0)
		fputs(" for you to answer (icctl watch):", stdout);
	if (json_object_object_get_ex(reply, "pendingIds", &v))
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			putchar(' ');
			icctl_put_str(json_object_get_string(
			    json_object_array_get_idx(v, i)));
		}
	putchar('\n');
}

/*
 * Print what a person asks first: which project, who works there, what waits,
 * what it has cost, and what decides.
 */
static void
put_facts(json_object *reply)
{
	char path[ICCTL_PATH], when[ICCTL_LOCAL];
	json_object *v;

	printf("%-12s", "workspace");
	icctl_put_str(icctl_path(icctl_text(reply, "workspace"), path));
	if (json_object_object_get_ex(reply, "workspaceReadOnly", &v) &&
	    json_object_get_boolean(v))
		fputs(" (the workspace is read-only)", stdout);
	printf("\n%-12s", "agent");
	icctl_put_str(icctl_text(reply, "agent"));
	fputs(", ", stdout);
	icctl_put_str(icctl_text(reply, "state"));
	printf(", since %s\n", icctl_local(icctl_text(reply, "started"), when));
	put_pending(reply);
	if (json_object_object_get_ex(reply, "budget", &v)) {
		printf("%-12s", "cost");
		icctl_show_cost(v);
		putchar('\n');
	}
	put_policy(icctl_text(reply, "policy"));
}

static void
put_session(json_object *reply)
{
	static const char *const rows[] = {"session", "dir", "persona",
	    "runtime", "transport", "image", "auditFailed"};
	char path[ICCTL_PATH], until[ICCTL_UNTIL];
	json_object *v, *counts = NULL;

	put_facts(reply);
	putchar('\n');
	for (size_t i = 0; i < nitems(rows); i++) {
		if (!json_object_object_get_ex(reply, rows[i], &v) || v == NULL)
			continue;
		printf("%-12s", rows[i]);
		icctl_put_str(icctl_path(json_object_get_string(v), path));
		putchar('\n');
	}
	if (icctl_until(icctl_text(reply, "quotaUntil"), until)[0] != '\0')
		printf("%-12sused up until %s\n", "quota", until);
	if (json_object_object_get_ex(reply, "upgraded", &v) &&
	    json_object_get_boolean(v))
		printf("%-12sthose that the session began with; others were "
		       "installed since, for new sessions\n",
		    "programs");
	put_clone(reply);
	if (!json_object_object_get_ex(reply, "counts", &counts))
		return;
	/* Pending calls are not included. */
	printf("%-12s%lld allowed, %lld denied (%lld of them were pending "
	       "first); %lld model request%s, %lld refused\n",
	    "calls", (long long)icctl_number(counts, "allowed"),
	    (long long)icctl_number(counts, "denied"),
	    (long long)icctl_number(counts, "escalated"),
	    (long long)icctl_number(counts, "requests"),
	    plural((uint64_t)icctl_number(counts, "requests")),
	    (long long)icctl_number(counts, "refused"));
}

static void
put_approver(json_object *reply)
{
	json_object *o;

	if (!json_object_object_get_ex(reply, "autoApprove", &o))
		return;
	printf("%-12sON: ", "autoApprove");
	icctl_put_str(icctl_text(o, "model"));
	fputs(" of ", stdout);
	icctl_put_str(icctl_text(o, "provider"));
	printf(" may approve what your own message asks for (%lld approved, "
	       "%lld left to you, %lld without an answer)\n",
	    (long long)icctl_number(o, "approved"),
	    (long long)icctl_number(o, "left"),
	    (long long)icctl_number(o, "failed"));
}

/* Name the hosts that the agent's program asks for by itself, once each. */
static void
put_unasked(const char *entries)
{
	struct span rest = span_str(entries), line;
	const uint8_t *space;
	char host[HOSTNAME_MAX + 1];

	if (rest.len == 0)
		return;
	printf("%-12snot about ", "");
	for (const char *comma = ""; span_line(&rest, &line); comma = ", ") {
		if ((space = span_find(line, SPAN(" "))) != NULL)
			line.len = (size_t)(space - line.p);
		printf("%s%s", comma, log_vis(line, host, sizeof(host)));
	}
	puts(": the agent's program asks by itself, and does without; to open "
	     "one, add it to \"destinations\" in config.json");
}

/* Say what it costs that hosts can be opened. */
static void
put_open_hosts(json_object *reply)
{
	if (strcmp(icctl_text(reply, "openHosts"), "ask") != 0)
		return;
	printf("%-12syou are asked about hosts on no list; for that the "
	       "session's CA may sign any name\n",
	    "openHosts");
	put_unasked(icctl_text(reply, "unasked"));
}

int
icctl_status(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply, *v;
	int r;

	if ((r = icctl_one_session(ctl, argc, argv)) != 0 ||
	    (r = icctl_find(ctl)) != 0)
		return r;
	/* Scripts ask by the exit status whether it runs. */
	if (talk_ended(ctl))
		return ICCTL_NO_SESSION;
	reply = icctl_command(ctl, icctl_request("status", NULL), &r);
	if (reply == NULL)
		return r;
	if (ctl->json) {
		icctl_put_json(reply);
		json_object_put(reply);
		return ICCTL_OK;
	}
	put_session(reply);
	put_approver(reply);
	put_open_hosts(reply);
	put_published(reply);
	put_services(reply);
	put_undo(reply);
	put_proxy(reply);
	if (json_object_object_get_ex(reply, "budget", &v)) {
		puts("budget");
		icctl_show_budget(v);
	}
	put_breakout(reply);
	put_limits(reply);
	put_list(reply, "servers", "MCP servers");
	put_list(reply, "instances", "servers that run for one call");
	put_list(reply, "credentials", "credentials (more: icctl keys)");
	put_failures(reply);
	put_list(reply, "destinations", "hosts beside the model providers");
	put_list(reply, "workers", "processes and what confines them");
	put_list(reply, "quarantined",
	    "tools in quarantine (icctl trust SERVER TOOL)");
	put_list(reply, "definitions",
	    "tools that the agent does not get as their server defines them");
	put_granted(reply);
	put_list(reply, "alarms", "ALARMS");
	json_object_put(reply);
	return ICCTL_OK;
}
