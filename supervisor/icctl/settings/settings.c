/* SPDX-License-Identifier: ISC */
/* `icctl config`: ls, get, set, unset, edit, import-amelia. */
#include "icctl/settings/settings.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "common/buf.h"
#include "icctl/project/project.h"
#include "icctl/words.h"

static int
settings_fault(const struct fault *fault)
{
	warnx("%s", fault->text);
	return ICCTL_FAILED;
}

/* Print the key: with slashes if a name has a dot. */
static void
settings_key(const char *const *names, unsigned n)
{
	const char *by = "";
	bool slash = false;

	for (unsigned i = 0; i < n; i++)
		slash = slash || strchr(names[i], '.') != NULL;
	for (unsigned i = 0; i < n; i++) {
		fputs(slash ? "/" : by, stdout);
		icctl_put_str(names[i]);
		by = ".";
	}
}

/* Print the values below `o`, one a line. */
static void
settings_rows(json_object *o, const char **names, unsigned n)
{
	if (n == SETTINGS_DEPTH || !json_object_is_type(o, json_type_object) ||
	    json_object_object_length(o) == 0) {
		settings_key(names, n);
		fputs(" = ", stdout);
		icctl_put(
		    span_str(json_object_to_json_string_ext(o, ICCTL_JSON)),
		    SIZE_MAX, false);
		putchar('\n');
		return;
	}
	json_object_object_foreach(o, name, val)
	{
		names[n] = name;
		if (n == 0 && strcmp(name, "serverCredentials") == 0)
			puts("serverCredentials = (not shown; icctl config "
			     "edit)");
		else
			settings_rows(val, names, n + 1);
	}
}

/* Print what sets something else for sessions of this directory. */
static void
settings_source(void *arg, const char *text, bool bad)
{
	unsigned *n = arg;

	printf("%s%s\n", (*n)++ == 0 || bad ? "" : "  ", text);
}

static int
settings_ls(const struct icctl *ctl)
{
	const char *names[SETTINGS_DEPTH];
	struct fault fault;
	char shown[ICCTL_PATH];
	struct settings s;
	unsigned lines = 0;

	if (settings_open(ctl, &s, false, &fault) == -1) {
		settings_close(&s);
		return settings_fault(&fault);
	}
	if (ctl->json) {
		json_object_object_del(s.root, "serverCredentials");
		icctl_put_json(s.root);
	} else if (json_object_object_length(s.root) == 0) {
		printf("%s sets nothing: everything is as shipped. The keys: "
		       "man ironcurtain-config\n",
		    icctl_path(s.path, shown));
	} else {
		printf("%s sets\n", icctl_path(s.path, shown));
		settings_rows(s.root, names, 0);
	}
	settings_close(&s);
	if (!ctl->json)
		(void)project_sources(ctl, settings_source, &lines);
	return ICCTL_OK;
}

/*
 * Say that the key is not set, or that there is none of this name: a file that
 * has it would be refused.
 */
static void
settings_missing(struct settings *s, const struct settings_key *k,
    const char *text)
{
	struct fault fault = {""};

	if (key_set(s->root, k, json_object_new_string(""), &fault) == 0 &&
	    settings_check(s, settings_text(s->root), &fault) == -1 &&
	    fault.kind == FAULT_KEY)
		warnx("%s is not set: %s", text, fault.text);
	else
		warnx("%s is not set; man ironcurtain-config has its default",
		    text);
}

static int
settings_get(const struct icctl *ctl, const char *text)
{
	struct settings s = {.lock = -1};
	struct fault fault = {""};
	struct settings_key k;
	json_object *v = NULL;
	int rv = ICCTL_FAILED;

	if (key_parse(&k, text, &fault) == -1 ||
	    settings_open(ctl, &s, false, &fault) == -1) {
		(void)settings_fault(&fault);
	} else if (key_is_secret(&k)) {
		warnx("%s may be a secret: icctl config edit shows it", text);
	} else if (!key_get(s.root, &k, &v)) {
		settings_missing(&s, &k, text);
	} else {
		rv = ICCTL_OK;
		if (!ctl->json && json_object_is_type(v, json_type_string)) {
			icctl_put(span_str(json_object_get_string(v)), SIZE_MAX,
			    false);
			putchar('\n');
		} else {
			icctl_put_json(v);
		}
	}
	key_free(&k);
	settings_close(&s);
	return rv;
}

/* Returns the value: JSON, if it is some, or else a string. */
static json_object *
settings_value(const char *text)
{
	enum json_tokener_error bad;
	json_object *v = json_tokener_parse_verbose(text, &bad);

	if (bad == json_tokener_success &&
	    (v != NULL || strcmp(text, "null") == 0))
		return v;
	json_object_put(v);
	return json_object_new_string(text);
}

/*
 * Refuse a credential: it would stand in the shell's history and in the file.
 */
static bool
settings_refuse(const struct settings_key *k, const char *text)
{
	const char *name = k->names[k->n - 1];
	bool server = key_is_secret(k);

	if (!server && (!secret_like("value", text) ||
			   (k->n > 1 && strcmp(name, "file") == 0)))
		return false;
	warnx(
	    "this looks like a credential, which does not belong on a command "
	    "line: the shell keeps it. %s",
	    server ? "icctl config edit sets it"
		   : "icctl login says where a key of a provider goes");
	return true;
}

static void
settings_told(
    const char *key, json_object *old, bool had, json_object *new, bool has)
{
	icctl_put_str(key);
	fputs(": ", stdout);
	icctl_put_str(
	    had ? json_object_to_json_string_ext(old, ICCTL_JSON) : "not set");
	fputs(" -> ", stdout);
	icctl_put_str(
	    has ? json_object_to_json_string_ext(new, ICCTL_JSON) : "not set");
	puts("\nIt holds for sessions that start from now on.");
}

#define SETTINGS_KEY                                                           \
	"a key is no setting: icctl setup asks for it unseen, or export the "  \
	"variable"

/*
 * Returns what to write for a key that config.json does not have, but that a
 * person may look for, or NULL.
 */
static const char *
settings_instead(const char *key)
{
	static const char *const rows[][2] = {
	    {"model", "the model belongs to an agent: icctl config set "
		      "agent.claude-code.model NAME; for one session: icctl "
		      "start --model NAME"},
	    {"agent", "the agent is named at each start: icctl start AGENT; "
		      "agent.NAME.model and other keys describe one"},
	    {"policy",
		"for all sessions: icctl config set policy.name NAME; for "
		"one: icctl start --policy NAME; or in a persona: icctl "
		"persona new --policy NAME"},
	    {"provider", "providers are chosen by the keys that you have: "
			 "icctl login"},
	    {"ANTHROPIC_API_KEY", SETTINGS_KEY},
	    {"OPENAI_API_KEY", SETTINGS_KEY}, {"GEMINI_API_KEY", SETTINGS_KEY},
	    {"apiKey", "a key is in a variable or a file of its own: icctl "
		       "login"},
	    {"key",
		"a key is in a variable or a file of its own: icctl login"}};

	for (size_t i = 0; i < nitems(rows); i++)
		if (strcasecmp(key, rows[i][0]) == 0)
			return rows[i][1];
	return NULL;
}

static int
settings_change(const struct icctl *ctl, const char *text, const char *value)
{
	struct settings s = {.lock = -1};
	struct fault fault = {""};
	struct settings_key k;
	json_object *old = NULL, *new = NULL;
	bool had = false, later = false, good;

	good = key_parse(&k, text, &fault) == 0;
	if (good && value != NULL && settings_refuse(&k, value)) {
		key_free(&k);
		return ICCTL_FAILED;
	}
	good = good && settings_open(ctl, &s, true, &fault) == 0;
	if (good) {
		had = key_get(s.root, &k, &old);
		old = json_object_get(old);
	}
	if (good && value == NULL && !had) {
		good = false;
		fault_set(&fault, "%.100s is not set", text);
	} else if (good && value == NULL) {
		key_unset(s.root, &k);
	} else if (good) {
		new = settings_value(value);
		good = settings_known(ctl, &k, value, &later, &fault) == 0 &&
		       key_set(s.root, &k, json_object_get(new), &fault) == 0;
	}
	good = good && settings_write(&s, &fault) == 0;
	if (good && !ctl->json)
		settings_told(text, old, had, new, value != NULL);
	if (good && !ctl->json && later)
		puts("No agent has this name yet; icctl agents lists those "
		     "that are there.");
	json_object_put(old);
	json_object_put(new);
	key_free(&k);
	settings_close(&s);
	if (good)
		return ICCTL_OK;
	if (settings_instead(text) != NULL)
		warnx("config: %s: %s", text, settings_instead(text));
	else
		warnx("%s", fault.text);
	if (value != NULL && strstr(fault.text, "must be an array") != NULL)
		warnx("a list is written as JSON, in quotes of the shell: "
		      "icctl config set %s '[\"%s\"]'",
		    text, value[0] == '[' ? "WORD" : value);
	warnx("nothing is changed");
	return ICCTL_FAILED;
}

int
icctl_config(struct icctl *ctl, int argc, char **argv)
{
	const char *what = argc < 2 ? "ls" : argv[1];

	if (strcmp(what, "ls") == 0 && argc <= 2)
		return settings_ls(ctl);
	if (strcmp(what, "get") == 0 && argc == 3)
		return settings_get(ctl, argv[2]);
	if (strcmp(what, "set") == 0 && argc == 4)
		return settings_change(ctl, argv[2], argv[3]);
	if (strcmp(what, "unset") == 0 && argc == 3)
		return settings_change(ctl, argv[2], NULL);
	if (strcmp(what, "edit") == 0 && argc == 2)
		return settings_edit(ctl);
	if (strcmp(what, "import-amelia") == 0 && (argc == 3 || argc == 4))
		return settings_import_amelia(
		    ctl, argv[2], argc == 4 ? argv[3] : NULL);
	return words_usage();
}
