/* SPDX-License-Identifier: ISC */
/*
 * ic-gitset: writes the configuration that git in the sandbox reads, for
 * ic-repo (repo/gitset.h). It reads settings that an agent may have written, so
 * that it first gives up every right. Whoever takes it over there can give the
 * sandbox, which runs agents, another configuration of git, and write a line to
 * the person, or keep one back.
 */
#include "workers/gitset/gitset.h"

#include <string.h>

#include "base/report.h"
#include "common/confine/confine.h"
#include "common/log.h"
#include "repo/errand.h"
#include "repo/gitset.h"

#define SET_TEXT 262144U

/* clang-format off */
static const enum pledge_promise gitset_promises[] = {
	PLEDGE_STDIO,		/* reads settings, writes reports */
};

static const struct confine gitset_confine = {
	.limits = {
		.nofile = 3,
		.fsize = 0,
		.data = 64U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = gitset_promises,
		.npromises = nitems(gitset_promises),
	},
};
/* clang-format on */

static void
gitset_add(struct set_list *l, const char *text)
{
	if (l->n == SET_MAX_LIST)
		fatalx("too much to do");
	l->list[l->n++] = text;
}

/* Take "KEY newline VALUE". */
static void
gitset_setting(struct repo_settings *s, const char *origin, const char *text)
{
	char *at = (char *)(uintptr_t)strchr(text, '\n');

	if (s->n == REPO_MAX_SETTINGS)
		fatalx("too many settings");
	if (at != NULL)
		*at++ = '\0';
	s->list[s->n++] =
	    (struct repo_setting){.origin = origin, .key = text, .value = at};
}

static void
gitset_take(enum gitset_told kind, const char *text)
{
	switch (kind) {
	case GITSET_FOUND:
		set.found = true;
		return;
	case GITSET_CLONED:
		set.cloned = true;
		return;
	case GITSET_BWRAP:
		set.bwrap = true;
		return;
	case GITSET_HOME:
		set.home = text;
		return;
	case GITSET_INSIDE:
		set.inside = text;
		return;
	case GITSET_LFS:
		set.lfs = text;
		return;
	case GITSET_DESTINATION:
		gitset_add(&set.destinations, text);
		return;
	case GITSET_SHOWN:
		gitset_add(&set.shown, text);
		return;
	case GITSET_ATTRIBUTES:
		set.attributes = text;
		return;
	case GITSET_USER:
		gitset_setting(&set.user, "", text);
		return;
	case GITSET_SYSTEM:
		gitset_setting(&set.user, "/etc", text);
		return;
	case GITSET_OWN:
		gitset_setting(&set.own, "", text);
		return;
	}
	fatalx("not a job");
}

int
main(int argc, char **argv)
{
	static uint8_t job[GITSET_JOB + 1];
	struct confine_state state;
	struct span rest;
	const char *text;
	struct buf b;
	int letter;

	(void)argv;
	confine_early();
	log_init(GITSET_PROGRAM, false);
	if (argc != 2)
		fatalx("ic-repo starts this program");
	if (confine_apply(&gitset_confine, &state) == -1)
		return 1;
	if (report_read(job, sizeof(job), &rest) == -1)
		fatalx("the settings cannot be read");
	while (report_next(&rest, &letter, &text))
		gitset_take((enum gitset_told)letter, text);
	buf_init(&b, SET_TEXT);
	set_words(&b);
	set_aliases(&b);
	set_filter(&b);
	set_remote(&b);
	set_say();
	buf_addc(&b, '\0');
	if (buf_check(&b) == -1)
		fatalx("your git configuration is too long for the sandbox");
	report_say(
	    ERRAND_CONFIG, (const char *)buf_span(&b).p, ERRAND_MAX_TEXT);
	report_say(REPORT_END, "", ERRAND_MAX_TEXT);
	buf_free(&b);
	return 0;
}
