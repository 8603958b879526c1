/* SPDX-License-Identifier: ISC */
/*
 * `icctl persona`: lists, makes and removes personas. Their files are plain and
 * may be edited; each use checks them again.
 */
#include "icctl/persona.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/tree.h"
#include "common/wordlist.h"
#include "files/workspace_option.h"
#include "icctl/policy/compile/command.h"
#include "icctl/refer.h"
#include "icctl/words.h"

#define PERSONA_WORDS 64U
#define PERSONA_LIMITS 16U

static const char *const persona_files[] = {"persona.json", "constitution.md"};

static void
persona_row(const struct icctl *ctl, const char *name, json_object *all)
{
	struct persona_state s;
	struct persona p;

	if (persona_read(ctl, name, &p) == -1)
		return;
	if (ctl->json) {
		json_object_array_add(all, persona_json(name, &p, false));
	} else {
		printf("%-20s", name);
		for (size_t i = 0; persona_texts[i] != NULL; i++)
			if (*icctl_text(p.root, persona_texts[i]) != '\0') {
				printf("  %s ", persona_texts[i]);
				icctl_put_str(
				    icctl_text(p.root, persona_texts[i]));
			}
		persona_state_read(&p, &s);
		if (p.policy == NULL && s.compiled)
			fputs("  policy  its own", stdout);
		else if (p.policy == NULL && p.text != NULL)
			fputs("  constitution  not compiled", stdout);
		putchar('\n');
	}
	persona_free(&p);
}

static int
persona_ls(const struct icctl *ctl)
{
	json_object *all = json_object_new_array();
	struct names names;

	refer_personas(&names, ctl);
	for (size_t i = 0; i < names.n; i++)
		persona_row(ctl, names.list[i], all);
	names_free(&names);
	if (ctl->json)
		icctl_put_json(all);
	else if (json_object_array_length(all) == 0)
		puts("there are no personas. Make one: icctl persona new NAME");
	json_object_put(all);
	return ICCTL_OK;
}

/* Take "KEY=VALUE" of --budget. Returns 0, or -1 after it said why. */
static int
persona_limit(json_object *budget, const char *given)
{
	char arg[64], *eq, *end = NULL, text[160];
	double d;
	int key;

	(void)strlcpy(arg, given, sizeof(arg));
	if ((eq = strchr(arg, '=')) != NULL)
		*eq = '\0';
	if (eq == NULL || (key = budget_find(arg)) == -1) {
		warnx("--budget wants KEY=VALUE, with a KEY as in icctl budget "
		      "--help");
		return -1;
	}
	if (strcmp(eq + 1, "null") == 0) {
		json_object_object_add(budget, arg, NULL);
		return 0;
	}
	d = strtod(eq + 1, &end);
	if (end == eq + 1 || *end != '\0' ||
	    !budget_value_ok((enum budget_key)key, d)) {
		warnx("%s",
		    budget_wants((enum budget_key)key, text, sizeof(text)));
		return -1;
	}
	json_object_object_add(
	    budget, arg, json_object_new_double_s(d, eq + 1));
	return 0;
}

/*
 * Returns the directory's whole name in allocated memory, with ":ro" if it has
 * that; or NULL after it said why.
 */
static char *
persona_workspace(const char *value)
{
	const size_t n = workspace_option_len(value);
	char *dir = strndup(value, n), *out = NULL, real[PATH_MAX + 1];

	if (dir == NULL || realpath(dir, real) == NULL)
		warn("--workspace %s", value);
	else if (asprintf(&out, "%s%s", workspace_option_dir(real), value + n) ==
		 -1)
		out = NULL;
	free(dir);
	return out;
}

/* Read the options of `new`. Returns the persona, or NULL after it said why. */
static json_object *
persona_options(const struct icctl *ctl)
{
	json_object *o = json_object_new_object(), *budget = NULL;
	const char *limits[PERSONA_LIMITS], *value;
	char option[32], real[PATH_MAX], *whole;
	size_t n;

	for (size_t k = 0; persona_texts[k] != NULL; k++) {
		snprintf(option, sizeof(option), "--%s", persona_texts[k]);
		if ((value = words_option(option)) == NULL)
			continue;
		/* The directory in which it is made means nothing later. */
		if (strcmp(persona_texts[k], "workspace") != 0) {
			if ((value = refer_check(ctl, persona_texts[k], value,
				 real)) == NULL)
				goto bad;
			put_str(o, persona_texts[k], value);
		} else if ((whole = persona_workspace(value)) == NULL) {
			goto bad;
		} else {
			put_str(o, "workspace", whole);
			free(whole);
		}
	}
	n = words_list("--budget", limits, nitems(limits));
	if (n > nitems(limits)) {
		warnx("--budget is given more than %u times", PERSONA_LIMITS);
		goto bad;
	}
	if (n != 0) {
		budget = json_object_new_object();
		json_object_object_add(o, "budget", budget);
	}
	for (size_t i = 0; i < n; i++)
		if (persona_limit(budget, limits[i]) == -1)
			goto bad;
	return o;
bad:
	json_object_put(o);
	return NULL;
}

static int
persona_new(const struct icctl *ctl, const char *name)
{
	char dir[4400], path[4450];
	json_object *o;
	struct persona p;
	int rv = ICCTL_FAILED;

	if (!persona_name_ok(name)) {
		warnx("the name of a persona has letters, digits, - and _, at "
		      "most 64");
		return ICCTL_USAGE;
	}
	if ((o = persona_options(ctl)) == NULL)
		return ICCTL_USAGE;
	snprintf(dir, sizeof(dir), "%.4000s/personas", ctl->home);
	if ((mkdir(ctl->home, 0700) == -1 && errno != EEXIST) ||
	    (mkdir(dir, 0700) == -1 && errno != EEXIST)) {
		warn("%s", dir);
		goto out;
	}
	snprintf(dir, sizeof(dir), "%.4000s/personas/%.64s", ctl->home, name);
	snprintf(path, sizeof(path), "%s/persona.json", dir);
	if (mkdir(dir, 0700) == -1) {
		if (errno == EEXIST)
			warnx("there is a persona %s already: edit %s, or "
			      "remove it: icctl persona rm %s",
			    name, path, name);
		else
			warn("%s", dir);
		goto out;
	}
	if (jsonfile_replace(path,
		span_str(json_object_to_json_string_ext(o,
		    JSON_C_TO_STRING_PRETTY |
			JSON_C_TO_STRING_NOSLASHESCAPE))) == -1) {
		warn("%s", path);
		(void)rmdir(dir);
		goto out;
	}
	if (persona_read(ctl, name, &p) == -1)
		goto out;
	persona_free(&p);
	rv = ICCTL_OK;
	if (!ctl->json)
		printf("made %s\nTo say in English what it may do: icctl policy "
		       "customize --persona %s\nTo start a session: icctl "
		       "start --persona %s\n",
		    path, name, name);
out:
	json_object_put(o);
	return rv;
}

static int
persona_rm(const struct icctl *ctl, const char *name)
{
	char dir[4400], path[4450];

	if (!persona_name_ok(name)) {
		warnx("that is no name of a persona: icctl persona ls");
		return ICCTL_USAGE;
	}
	snprintf(dir, sizeof(dir), "%.4000s/personas/%.64s", ctl->home, name);
	for (size_t i = 0; i < nitems(persona_files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, persona_files[i]);
		if (unlink(path) == -1 && errno != ENOENT) {
			warn("%s", path);
			return ICCTL_FAILED;
		}
	}
	snprintf(path, sizeof(path), "%s/generated", dir);
	if (tree_remove(path) == -1) {
		warn("%s", path);
		return ICCTL_FAILED;
	}
	if (rmdir(dir) == -1) {
		if (errno == ENOENT)
			warnx("there is no persona %s: icctl persona ls", name);
		else
			warn("%s (what else is in it is kept)", dir);
		return ICCTL_FAILED;
	}
	if (!ctl->json)
		printf("removed %s\n", dir);
	return ICCTL_OK;
}

/*
 * `icctl policy compile --persona NAME`, by the TypeScript IronCurtain's name.
 */
static int
persona_compile(struct icctl *ctl, int argc, char **argv)
{
	const char *list[PERSONA_WORDS];
	struct wordlist words = WORDLIST_IN(list);
	char *const *args;
	int status;

	wordlist_all(
	    &words, (const char *const[]){"compile", "--persona", NULL});
	for (int i = 0; i < argc; i++)
		wordlist_add(&words, argv[i]);
	if ((args = wordlist_end(&words)) == NULL) {
		warnx("more than %u arguments", PERSONA_WORDS - 3);
		return ICCTL_USAGE;
	}
	(void)compile_command(
	    ctl, (int)words.n, (char **)(uintptr_t)args, &status);
	return status;
}

int
icctl_persona(struct icctl *ctl, int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "ls") == 0 && argc == 2)
		return persona_ls(ctl);
	if (strcmp(what, "show") == 0 && argc == 3)
		return persona_show(ctl, argv[2]);
	if (strcmp(what, "compile") == 0 && argc >= 3)
		return persona_compile(ctl, argc - 2, argv + 2);
	if (strcmp(what, "rm") == 0 && argc == 3)
		return persona_rm(ctl, argv[2]);
	if (strcmp(what, "new") == 0 && argc == 3)
		return persona_new(ctl, argv[2]);
	return words_usage();
}
