/* SPDX-License-Identifier: ISC */
/*
 * The members of a project's file: what each may hold, and the sentence that a
 * person reads about it. A sentence has the whole value, so that what was shown
 * is what is in force. Values that do not fit one are refused.
 */
#include "icctl/project/members.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "box/clients/table.h"
#include "budget/budget.h"
#include "common/http/known_host.h"
#include "common/log.h"
#include "common/narrow.h"
#include "common/near.h"
#include "files/config.h"

/* Returns true for a name as DNS has it, with a dot, and no address. */
static bool
is_host(const char *s)
{
	const size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.");
	const char *last = strrchr(s, '.');

	return s[n] == '\0' && n <= 253 && last != NULL && s[0] != '.' &&
	       isalpha((unsigned char)last[1]) && strstr(s, "..") == NULL;
}

/* A member that is a list of names. */
struct listed {
	const char *before, *after; /* the name, in the sentence */
	const char *rule;
	bool (*ok)(const char *);
};

/* Check an array of at most MEMBER_LIST different names. Returns 0, or -1. */
static int
each_name(const struct jsonfile *j, const char *member, json_object *v,
    const struct listed *l)
{
	const char *s;

	if (!json_object_is_type(v, json_type_array) ||
	    json_object_array_length(v) > MEMBER_LIST)
		return jsonfile_bad(j, member, NULL,
		    "must be an array of at most %u names", MEMBER_LIST);
	for (size_t i = 0; i < json_object_array_length(v); i++)
		if (member_text(j, member, json_object_array_get_idx(v, i), 253,
			&s) == -1)
			return -1;
		else if (!l->ok(s))
			return jsonfile_bad(
			    j, member, NULL, "\"%s\" %s", s, l->rule);
	return 0;
}

static int
say_each(struct project *p, const struct jsonfile *j, const char *member,
    json_object *v, const struct listed *l)
{
	if (each_name(j, member, v, l) == -1)
		return -1;
	for (size_t i = 0; i < json_object_array_length(v); i++)
		project_say(p, PROJECT_ASKS, "%s%s%s", l->before,
		    json_object_get_string(json_object_array_get_idx(v, i)),
		    l->after);
	return 0;
}

static int
member_version(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	(void)p;
	if (json_object_is_type(v, json_type_int) &&
	    json_object_get_int64(v) == 1)
		return 0;
	return jsonfile_bad(
	    j, m, NULL, "must be 1: this IronCurtain knows no other");
}

static int
member_name(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	const char *s;

	(void)p;
	return member_text(j, m, v, 64, &s);
}

static int
member_chosen(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	const char *s;

	if (member_text(j, m, v, 128, &s) == -1)
		return -1;
	if (s[0] == '-' || strpbrk(s, " \"'\\") != NULL)
		return jsonfile_bad(j, m, NULL, "\"%s\" is no name", s);
	project_say(p, PROJECT_SHOWN,
	    strcmp(m, "agent") == 0 ? "the agent is %s, if you name no other"
				    : "the model is %s, if you name no other",
	    s);
	return 0;
}

static int
member_image(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	const char *s;

	if (member_text(j, m, v, 256, &s) == -1)
		return -1;
	if (s[0] == '-' || strchr(s, ' ') != NULL)
		return jsonfile_bad(j, m, NULL, "\"%s\" is no image", s);
	project_say(p, PROJECT_ASKS,
	    "a container of the agent is made of the image %s", s);
	return 0;
}

static int
member_hosts(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	static const struct listed l = {"the agent may read from https://",
	    " (GET and HEAD)",
	    "is no name of a host: addresses and patterns are not allowed",
	    is_host};
	struct known_host known;
	const char *s;

	if (each_name(j, m, v, &l) == -1)
		return -1;
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		s = json_object_get_string(json_object_array_get_idx(v, i));
		known_host(s, &known);
		if (known.kind == PROTO_OPEN_GIT)
			return jsonfile_bad(j, m, NULL,
			    "%s is a server of repositories: name it in "
			    "\"git\"",
			    s);
		if (known.kind != PROTO_OPEN_WEB)
			return jsonfile_bad(j, m, NULL,
			    "%s is a registry of packages, which is no web "
			    "host: name \"%s\" in \"registries\"",
			    s, known_host_registry(known.kind));
	}
	return say_each(p, j, m, v, &l);
}

static int
member_git(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	static const struct listed l = {
	    "the agent may fetch repositories from ",
	    ", and ask you to push there", "is no name of a host", is_host};

	return say_each(p, j, m, v, &l);
}

/* Names of things that the person's own settings have: nothing is asked. */
static int
member_own(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	static const struct listed l = {"", "",
	    "is no name: a project names what your own settings have, and "
	    "describes none of it",
	    member_name_ok};

	(void)p;
	return each_name(j, m, v, &l);
}

/* Names of the person's own, or images. */
static int
member_services(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	return json_object_is_type(v, json_type_object)
		   ? members_services(p, j, v)
		   : member_own(p, j, m, v);
}

/* A project may say what to save, but not what to leave out. */
static int
member_undo(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	static const struct listed l = {"undo keeps ",
	    " too, if it leaves it out otherwise",
	    "is no name of a file or directory", member_name_ok};
	static const char *const keys[] = {"include", NULL};
	json_object *list = NULL;

	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(j, m, NULL, "must be an object");
	if (json_object_object_get_ex(v, "leaveOut", NULL))
		return jsonfile_bad(j, m, "leaveOut",
		    "may not be set by a project: what undo leaves out, it "
		    "cannot bring back, so that is for you to say in "
		    "config.json");
	if (jsonfile_known(j, v, m, keys) == -1)
		return -1;
	return json_object_object_get_ex(v, "include", &list)
		   ? say_each(p, j, m, list, &l)
		   : 0;
}

/* Returns true for a variable that every session sets, and so refuses here. */
static bool
member_is_ours(const char *name)
{
#define MEMBER_NAME(name, value) name,
	static const char *const ours[] = {
	    "PATH", "HOME", CLIENTS_VARIABLES(MEMBER_NAME)};
#undef MEMBER_NAME

	for (size_t i = 0; i < nitems(ours); i++)
		if (strcmp(name, ours[i]) == 0)
			return true;
	return false;
}

static int
member_env(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	const char *s;

	if (!json_object_is_type(v, json_type_object) ||
	    json_object_object_length(v) > (int)MEMBER_LIST)
		return jsonfile_bad(j, m, NULL,
		    "must be an object of at most %u variables", MEMBER_LIST);
	json_object_object_foreach(v, name, val)
	{
		if (!member_plain(name, 64) || !member_name_ok(name) ||
		    member_text(j, name, val, 512, &s) == -1)
			return jsonfile_bad(j, m, NULL,
			    "each variable has a name, and a text of at most "
			    "512 printable ASCII characters");
		if (member_is_ours(name))
			return jsonfile_bad(j, m, name,
			    "is set by IronCurtain itself, and cannot be set "
			    "by a project");
		project_say(p, PROJECT_ASKS,
		    "the agent's variable %s is \"%s\"", name, s);
	}
	return 0;
}

static int
member_budget(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	char wants[128];
	double d;
	int key;

	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(j, m, NULL, "must be an object");
	json_object_object_foreach(v, name, val)
	{
		if ((key = budget_find(name)) == -1)
			return jsonfile_bad(
			    j, m, NULL, "has a limit that is not known");
		d = json_object_get_double(val);
		if (!(json_object_is_type(val, json_type_int) ||
			json_object_is_type(val, json_type_double)) ||
		    !budget_value_ok((enum budget_key)key, d))
			return jsonfile_bad(j, m, NULL, "%s",
			    budget_wants(
				(enum budget_key)key, wants, sizeof(wants)));
		project_say(p, PROJECT_NARROWS,
		    "%s is at most %g, where yours is higher", name, d);
	}
	return 0;
}

/* Say each thing that is denied or asked about. */
static int
policy_list(struct project *p, const struct jsonfile *j, json_object *v,
    const char *key, const char *says)
{
	json_object *list = NULL;
	struct narrow n;
	const char *s;

	if (!json_object_object_get_ex(v, key, &list))
		return 0;
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > MEMBER_LIST)
		return jsonfile_bad(j, "policy", key,
		    "must be an array of at most %u texts", MEMBER_LIST);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		if (member_text(j, "policy", json_object_array_get_idx(list, i),
			256, &s) == -1)
			return -1;
		if (narrow_parse(span_str(s), &n) == -1)
			return jsonfile_bad(j, "policy", key,
			    "\"%s\": must be " NARROW_FORMS, s);
		if (n.kind == NARROW_TOOL)
			project_say(p, PROJECT_NARROWS, "calls of %s %s",
			    s + sizeof("tool ") - 1, says);
		else
			project_say(p, PROJECT_NARROWS,
			    "calls of tools that %s %.*s, where the policy "
			    "knows a tool's paths, %s",
			    n.kind == NARROW_READ ? "read" : "write",
			    n.path.len == 0 ? 13 : (int)n.path.len,
			    n.path.len == 0 ? "the workspace"
					    : (const char *)n.path.p,
			    says);
	}
	return 0;
}

static int
member_policy(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	static const char *const keys[] = {"ask", "deny", "workspace", NULL};
	const char *s = NULL;

	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(j, m, NULL, "must be an object");
	if (jsonfile_known(j, v, m, keys) == -1 ||
	    jsonfile_str(j, v, m, "workspace", &s) == -1 ||
	    policy_list(p, j, v, "deny", "are denied") == -1 ||
	    policy_list(p, j, v, "ask", "ask you, where they are allowed") ==
		-1)
		return -1;
	if (s == NULL)
		return 0;
	if (strcmp(s, "read-only") != 0)
		return jsonfile_bad(j, m, "workspace",
		    "must be \"read-only\": a project's policy only narrows");
	project_say(p, PROJECT_NARROWS, "the workspace is read-only");
	return 0;
}

/* The project's words to the agent, line by line. */
static int
member_instructions(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	size_t all = 0;
	const char *s;

	if (!json_object_is_type(v, json_type_array) ||
	    json_object_array_length(v) > CONFIG_MAX_TOLD)
		return jsonfile_bad(j, m, NULL,
		    "must be an array of at most %u lines", CONFIG_MAX_TOLD);
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		if (member_text(
			j, m, json_object_array_get_idx(v, i), 512, &s) == -1)
			return -1;
		if ((all += strlen(s) + 1) > CONFIG_TOLD)
			return jsonfile_bad(j, m, NULL,
			    "must have at most %u bytes", CONFIG_TOLD);
		project_say(p, PROJECT_ASKS,
		    "the agent is told, as the project's words: %s", s);
	}
	return 0;
}

/* Ports of the sandbox. Only the person publishes one. */
static int
member_ports(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	json_object *one;
	int64_t port;

	if (!json_object_is_type(v, json_type_array) ||
	    json_object_array_length(v) > MEMBER_LIST)
		return jsonfile_bad(j, m, NULL,
		    "must be an array of at most %u ports", MEMBER_LIST);
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		one = json_object_array_get_idx(v, i);
		port = json_object_is_type(one, json_type_int)
			   ? json_object_get_int64(one)
			   : 0;
		if (port < 1024 || port > UINT16_MAX)
			return jsonfile_bad(j, m, NULL,
			    "must be numbers from 1024 to 65535: ports of the "
			    "sandbox. Which of this machine are published is "
			    "for you to say");
		project_say(p, PROJECT_SHOWN,
		    "its servers listen at port %u of the sandbox: with "
		    "--publish %u your browser reaches it",
		    (unsigned)port, (unsigned)port);
	}
	return 0;
}

static int
member_install(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	(void)m;
	return project_install_check(p, v, j->fault);
}

/* clang-format off */
static const struct member {
	const char *name;
	int (*check)(struct project *, const struct jsonfile *, const char *,
	    json_object *);
} members[] = {
	{"version", member_version}, {"name", member_name},
	{"agent", member_chosen}, {"model", member_chosen},
	{"image", member_image}, {"hosts", member_hosts},
	{"git", member_git}, {"forge", member_forge},
	{"registries", member_own},
	{"services", member_services}, {"servers", member_own},
	{"undo", member_undo},
	{"env", member_env}, {"budget", member_budget},
	{"policy", member_policy}, {"install", member_install},
	{"instructions", member_instructions}, {"ports", member_ports},
};
/* clang-format on */

static const struct member *
member_find(const char *name)
{
	for (size_t i = 0; i < nitems(members); i++)
		if (strcmp(members[i].name, name) == 0)
			return &members[i];
	return NULL;
}

/* Refuse a member that is none of a project's. */
static int
member_unknown(const struct jsonfile *j, const char *name)
{
	const char *names[nitems(members) + 1] = {NULL};
	char shown[128], hint[NEAR_HINT];

	for (size_t i = 0; i < nitems(members); i++)
		names[i] = members[i].name;
	return jsonfile_bad(j, log_vis(span_str(name), shown, sizeof(shown)),
	    NULL,
	    "may not be set by a project%s. Credentials, programs of this "
	    "machine, higher limits and the like belong into your own "
	    "config.json; see ironcurtain-config(5)",
	    near_hint(name, names, hint));
}

int
project_check(struct project *p, struct fault *fault)
{
	const struct jsonfile j = {p->path, fault};
	const struct member *m;

	if (project_member(p, "version") == NULL)
		return jsonfile_bad(&j, "version", NULL,
		    "is missing: write {\"version\": 1, ...}");
	json_object_object_foreach(p->root, name, val)
	{
		if ((m = member_find(name)) == NULL)
			return member_unknown(&j, name);
		if (m->check(p, &j, name, val) == -1)
			return -1;
	}
	/* All of it must be shown. */
	if (p->nsays == PROJECT_MAX_SAYS)
		return fault_set(fault,
		    "%s: asks for too much: at most %u "
		    "things",
		    p->path, PROJECT_MAX_SAYS - 1);
	return 0;
}
