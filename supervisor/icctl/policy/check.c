/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy check`: reports errors and warnings of policyd, with their
 * lines, and adds what policyd cannot see: rules that do nothing, or more than
 * they say.
 */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "common/plural.h"
#include "icctl/policy/lint.h"

/*
 * Returns true if the text is a place in a file, and not the start of a
 * sentence.
 */
static bool
is_place(const char *s, size_t n)
{
	static const char *const roots[] = {"rules", "servers", "lists",
	    "listDefinitions", "generatedAt", "constitutionHash", "inputHash",
	    "skippedServers", "serverName", "workspace"};

	for (size_t i = 0; i < nitems(roots); i++) {
		size_t k = strlen(roots[i]);

		if (n >= k && strncmp(s, roots[i], k) == 0 &&
		    (n == k || strchr(".[", s[k]) != NULL))
			return true;
	}
	return memchr(s, ' ', n) == NULL;
}

/* Parse "FILE: PLACE: text" or "FILE: line 3, ..." from policyd. */
static void
take_text(struct findings *f, bool error, unsigned file, const char *text)
{
	const struct policy_file *pf = &f->set->files[file];
	const char *colon, *missing = "missing-list";
	size_t n = strlen(pf->path);
	char place[300] = "";
	unsigned line = 0;

	if (strncmp(text, pf->path, n) == 0 && strncmp(text + n, ": ", 2) == 0)
		text += n + 2;
	if (sscanf(text, "line %u, column", &line) != 1 &&
	    (colon = strstr(text, ": ")) != NULL &&
	    (size_t)(colon - text) < sizeof(place) &&
	    is_place(text, (size_t)(colon - text))) {
		memcpy(place, text, (size_t)(colon - text));
		place[colon - text] = '\0';
		text = colon + 2;
		line = policy_line(pf, place);
	}
	if (strstr(text, "list ") == text &&
	    strstr(text, " is not in ") != NULL)
		error = true;
	else
		missing = error ? "schema" : "unknown-field";
	finding_report(f, error, pf->path, line, missing, place, text);
}

/* A warning begins with the name of the file that it is about. */
static void
take_warnings(struct findings *f, const char *warnings)
{
	char *copy = strdup(warnings), *s = copy, *line;
	unsigned file;
	size_t n;

	while (s != NULL && (line = strsep(&s, "\n")) != NULL) {
		if (line[0] == '\0')
			continue;
		for (file = 0; file <= PROTO_RULES_LAST; file++) {
			if (f->set->files[file].path == NULL)
				continue;
			n = strlen(f->set->files[file].path);
			if (strncmp(line, f->set->files[file].path, n) == 0 &&
			    line[n] == ':')
				break;
		}
		take_text(f, false,
		    file > PROTO_RULES_LAST ? (unsigned)PROTO_RULES_POLICY
					    : file,
		    line);
	}
	free(copy);
}

static void
lint_files(struct findings *f, const char *home)
{
	const struct policy_file *pf = f->set->files;
	struct annots annots = {0};
	struct rules rules = {0};
	struct lists lists = {0};
	struct lint lint = {f, &rules, &annots, NULL};
	struct load l;

	/* policyd has accepted the same bytes, so nothing fails here. */
	load_init(&l, "policy");
	if (pf[PROTO_RULES_LISTS].path != NULL &&
	    lists_load(&lists,
		span_of(pf[PROTO_RULES_LISTS].text, pf[PROTO_RULES_LISTS].len),
		&l) == 0)
		lint.lists = &lists;
	if (rules_load(&rules,
		span_of(
		    pf[PROTO_RULES_POLICY].text, pf[PROTO_RULES_POLICY].len),
		&l) == 0 &&
	    annots_load(&annots,
		span_of(pf[PROTO_RULES_ANNOTATIONS].text,
		    pf[PROTO_RULES_ANNOTATIONS].len),
		&l) == 0) {
		f->rules = rules.n;
		f->tools = annots.n;
		policy_lint(&lint);
		policy_lint_running(&lint, home);
		policy_lint_home(&lint, home);
	}
	rules_free(&rules);
	annots_free(&annots);
	lists_free(&lists);
	load_free(&l);
}

static int
summary(struct findings *f)
{
	struct buf out;

	if (!f->json) {
		if (f->errors + f->warnings == 0)
			printf("good: %zu rule%s, %zu annotated tool%s, no "
			       "mistakes\n",
			    f->rules, plural(f->rules), f->tools,
			    plural(f->tools));
		else
			printf("%u error%s, %u warning%s\n", f->errors,
			    plural(f->errors), f->warnings,
			    plural(f->warnings));
		return f->errors == 0 ? ICCTL_OK : ICCTL_FAILED;
	}
	buf_init(&out, (size_t)64 << 20);
	buf_printf(&out,
	    "{\"ok\":%s,\"errors\":%u,\"warnings\":%u,"
	    "\"findings\":[",
	    f->errors == 0 ? "true" : "false", f->errors, f->warnings);
	buf_addspan(&out, buf_span(&f->out));
	buf_adds(&out, "]}\n");
	if (policy_flush(&out) == -1)
		f->errors++;
	buf_free(&out);
	return f->errors == 0 ? ICCTL_OK : ICCTL_FAILED;
}

/* Report policyd's findings, then those that it cannot see. */
static void
check_files(
    struct findings *f, const struct icctl *ctl, const struct policy_opts *o)
{
	struct policyd_bad bad;
	struct policyd *pd;
	bool said = false;

	if ((pd = policyd_start(ctl, o, f->set, true, &bad)) != NULL) {
		take_warnings(f, policyd_warnings(pd));
		policyd_end(pd);
		lint_files(f, ctl->home);
		return;
	}
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		if (bad.files[k].text[0] == '\0')
			continue;
		take_text(f, true, k, bad.files[k].text);
		said = true;
	}
	if (!said)
		finding_report(
		    f, true, "policyd", 0, "policyd", "", bad.fault.text);
}

/* Find everything; the caller frees f->out. */
static void
check_all(
    struct findings *f, const struct icctl *ctl, const struct policy_opts *o)
{
	struct policy_set set;
	struct fault fault;

	buf_init(&f->out, (size_t)32 << 20);
	f->set = &set;
	if (policy_set_load(ctl, o, &set, &fault) == -1)
		finding_report(
		    f, true, "files", 0, "unreadable", "", fault.text);
	else
		check_files(f, ctl, o);
	policy_set_free(&set);
}

void
policy_count(const struct icctl *ctl, const struct policy_opts *o,
    unsigned *errors, unsigned *warnings)
{
	/* As JSON, so that nothing is printed. */
	struct findings f = {.json = true};

	check_all(&f, ctl, o);
	*errors = f.errors;
	*warnings = f.warnings;
	buf_free(&f.out);
}

int
icctl_policy_check(struct icctl *ctl, struct policy_opts *o)
{
	struct findings f = {.json = ctl->json};
	int r;

	check_all(&f, ctl, o);
	r = summary(&f);
	buf_free(&f.out);
	return r;
}
