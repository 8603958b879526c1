/* SPDX-License-Identifier: ISC */
/*
 * Filters turn the text of a file into the text that is committed. Outside, the
 * user's configuration names their programs. In the sandbox git would commit a
 * file as it is if a program is missing, so that each filter is made required:
 * git then refuses such a file. git-lfs is no secret of the user's and runs in
 * the sandbox, if it is there.
 */
#include "workers/gitset/gitset.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "repo/user.h"

/* No setting of either list is without a place. */
#define FILTER_MAX (2 * REPO_MAX_SETTINGS)
#define FILTER_NAME 100U

struct filter {
	struct span name; /* a part of the setting's key */
	bool used;
	bool lfs;     /* all its programs are git-lfs */
	bool own;     /* the repository in the workspace itself has it */
	bool process; /* the sandbox's /etc/gitconfig has one, which git prefers
		       */
};

struct filters {
	struct filter list[FILTER_MAX];
	unsigned n;
};

/*
 * Returns true for names that may stand in a message and in a command. git has
 * filters of any name.
 */
static bool
filter_name_ok(struct span name)
{
	if (name.len == 0 || name.len >= FILTER_NAME)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum(name.p[i]) && strchr("._-+", name.p[i]) == NULL)
			return false;
	return true;
}

/* Returns true if a command runs git-lfs: "git-lfs clean", "/x/git-lfs ...". */
static bool
filter_is_lfs(const char *command)
{
	size_t n;

	if (command == NULL)
		return false;
	command += strspn(command, " \"'");
	if (strncmp(command, "git lfs ", 8) == 0)
		return true;
	n = strcspn(command, " \"'");
	return n >= 7 && strncmp(command + n - 7, "git-lfs", 7) == 0 &&
	       (n == 7 || command[n - 8] == '/');
}

static struct filter *
filter_find(struct filters *f, struct span name)
{
	struct filter *to;

	for (unsigned i = 0; i < f->n; i++)
		if (span_eq(name, f->list[i].name))
			return &f->list[i];
	to = &f->list[f->n++];
	*to = (struct filter){.name = name, .lfs = true};
	return to;
}

static void
filter_list(struct filters *f, const struct repo_settings *s, bool own)
{
	static const char *const variables[] = {"clean", "smudge", "process"};
	struct filter *to;
	struct span name;

	for (unsigned i = 0; i < s->n; i++) {
		name.len = 0;
		for (size_t k = 0; k < nitems(variables) && name.len == 0; k++)
			name = repo_setting_name(
			    s->list[i].key, "filter", variables[k]);
		if (name.len == 0 || s->list[i].value == NULL ||
		    s->list[i].value[0] == '\0')
			continue;
		to = filter_find(f, name);
		to->own = to->own || own;
		to->process |= s->list[i].origin[0] != '\0';
		to->lfs = to->lfs && filter_is_lfs(s->list[i].value);
	}
}

static void
filter_put_lfs(struct buf *b, const char *program)
{
	static const struct {
		const char *name, *words;
	} rows[] = {{"clean", "clean -- %f"}, {"smudge", "smudge -- %f"},
	    {"process", "filter-process"}};
	char text[PATH_MAX + 32];

	for (size_t i = 0; i < nitems(rows); i++) {
		snprintf(text, sizeof(text), "%s %s", program, rows[i].words);
		repo_value_put(b, rows[i].name, span_str(text));
	}
	repo_value_put(b, "required", SPAN("true"));
}

/*
 * Returns true if the repository says that its files may be committed without
 * the filter: what fails is ignored then.
 */
static bool
filter_optional(const struct filter *f)
{
	const struct repo_setting *s;
	struct span name;

	for (unsigned i = set.own.n; !set.cloned && i-- > 0;) {
		s = &set.own.list[i];
		name = repo_setting_name(s->key, "filter", "required");
		if (name.len != 0 && span_eq(name, f->name))
			return !repo_setting_true(s);
	}
	return false;
}

/* Have git refuse files of this filter, and say why. */
static void
filter_put_none(struct buf *b, const struct filter *f)
{
	const bool plain = filter_name_ok(f->name);
	char text[FILTER_NAME + 400];

	snprintf(text, sizeof(text),
	    "echo 'The filter%s%.*s of the user'\\''s git is not in this "
	    "sandbox. Without it another text would be committed: leave this "
	    "file as it is, and tell the user to commit it outside. Do not "
	    "retry.' >&2; %sexit 1",
	    plain ? " " : "", plain ? (int)f->name.len : 0,
	    (const char *)f->name.p, filter_optional(f) ? "kill $PPID; " : "");
	repo_value_put(b, "clean", span_str(text));
	repo_value_put(b, "smudge", SPAN("cat"));
	if (f->process)
		repo_value_put(b, "process", SPAN(""));
	repo_value_put(b, "required", SPAN("true"));
}

/* Mark the filters that a text of attributes names. */
static void
filter_mark(struct filters *f, struct span text)
{
	static const char word[] = "filter=";
	const uint8_t *end = text.p + text.len, *p;
	struct span name;

	for (p = text.p;
	     text.len != 0 && (p = memmem(p, (size_t)(end - p), word,
				   sizeof(word) - 1)) != NULL;) {
		p += sizeof(word) - 1;
		name = span_of(p, 0);
		while (p + name.len < end && !isspace(p[name.len]))
			name.len++;
		for (unsigned i = 0; i < f->n; i++)
			f->list[i].used |= span_eq(name, f->list[i].name);
	}
}

/* A merge driver that is not there would leave git's own to merge. */
static void
filter_drivers(struct buf *b)
{
	const struct repo_settings *all[] = {&set.user, &set.own};
	struct span name;

	for (size_t a = 0; a < (set.cloned ? 2U : 1U); a++) {
		for (unsigned i = 0; i < all[a]->n; i++) {
			name = repo_setting_name(
			    all[a]->list[i].key, "merge", "driver");
			if (!filter_name_ok(name))
				continue;
			repo_section_put(b, "merge", name);
			repo_value_put(b, "driver",
			    SPAN("echo 'The merge driver of the user'\\''s git "
				 "is not in this sandbox: this file is left as "
				 "a conflict.' >&2; exit 1"));
		}
	}
}

/* Say what a filter of the repository's files does not do here. */
static void
filter_say(const struct filter *f)
{
	char shown[4 * FILTER_NAME];

	if (f->used && f->lfs && set.cloned)
		set_warn("files of git-lfs are pointers in the clone, "
			 "without their content: git-lfs is not fetched "
			 "from. --with FILE takes one along");
	if (!f->used || (f->lfs && set.lfs != NULL) || f->own)
		return;
	if (f->lfs)
		set_warn("this repository uses git-lfs, which the sandbox "
			 "does not have: git there refuses to add files of "
			 "it. To install it: apt install git-lfs");
	else
		set_warn("the filter %s of your git is not in the sandbox: "
			 "git there refuses to add files that attributes of "
			 "git give to it",
		    log_vis(f->name, shown, sizeof(shown)));
}

void
set_filter(struct buf *b)
{
	static struct filters f;
	const struct filter *one;

	filter_list(&f, &set.user, false);
	/* A clone has nothing of the repository's configuration. */
	filter_list(&f, &set.own, !set.cloned);
	filter_mark(&f, span_str(set.attributes));
	for (unsigned i = 0; i < f.n; i++) {
		one = &f.list[i];
		repo_section_put(b, "filter", one->name);
		if (one->lfs && set.lfs != NULL)
			filter_put_lfs(b, set.lfs);
		else
			filter_put_none(b, one);
		filter_say(one);
	}
	if (set.lfs != NULL) {
		/* Files whose content is not here stay pointers. */
		repo_section_put(b, "lfs", span_of("", 0));
		repo_value_put(b, "skipDownloadErrors", SPAN("true"));
	}
	filter_drivers(b);
}
