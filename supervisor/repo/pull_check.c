/* SPDX-License-Identifier: ISC */
/*
 * The quarantine: an empty repository of ours, which borrows the user's
 * objects. Everything that comes from the clone is checked there first.
 */
#include "repo/pull_priv.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/session.h"
#include "common/wordlist.h"
#include "repo/clone_priv.h"

#define CHECK_DIR "/quarantine"
#define CHECK_OBJECTS 1000000U
#define NONE span_of("", 0)

/* Make the repository, with the user's objects behind it. */
static int
check_init(struct pulling *p, struct fault *fault)
{
	const struct repo_work *w = p->how->work;
	const struct repo_view *user = &p->user.view;
	char format[32], line[PATH_MAX + 2];
	int info, rv, n;

	if (mkdirat(w->scratch, "check", 0700) == -1 ||
	    (p->quarantine = openat(w->scratch, "check",
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1 ||
	    repo_view_add(&p->view, p->quarantine, CHECK_DIR, true) == -1)
		return fault_errno(fault, "%s", w->dir);
	p->view.dir = CHECK_DIR;
	for (unsigned i = p->user.objects_at; i < user->n; i++)
		if (repo_view_add(&p->view, user->binds[i].fd,
			user->binds[i].dest, false) == -1)
			return fault_errno(fault, "%s", p->user.objects);
	snprintf(
	    format, sizeof(format), "--object-format=%s", w->record.format);
	if (REPO_GIT(p->env, &p->view, NONE, NULL, fault, "init", "-q",
		"--bare", "--template=", format) != 0)
		return -1;
	if (strchr(p->user.objects, '\n') != NULL)
		return fault_set(fault,
		    "%s: a path with a line break is not supported",
		    p->user.objects);
	n = snprintf(line, sizeof(line), "%s\n", p->user.objects);
	info = openat(p->quarantine, "objects/info",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rv = info == -1 ? -1
			: session_write(info, "alternates", 0600,
			      span_of(line, (size_t)n));
	if (rv == -1)
		fault_errno(fault, "%s", w->dir);
	if (info != -1)
		close(info);
	return rv;
}

void
pull_revs(const struct pulling *p, struct buf *in)
{
	const struct repo_pull *how = p->how;

	buf_init(in, 1U << 20);
	for (unsigned i = 0; i < how->n; i++)
		buf_printf(in, "%s\n", how->list[i].oid);
	/* The user's repository need not get the objects that it has. */
	for (unsigned i = 0; i < how->work->nknown; i++)
		for (unsigned k = 0; k < p->nhave; k++)
			if (strcmp(p->have[k], how->work->known[i]) == 0)
				buf_printf(in, "^%s\n", p->have[k]);
}

int
pull_quarantine(struct pulling *p, struct fault *fault)
{
	static const char *const pack[] = {"pack-objects", "--revs", "--stdout",
	    "--delta-base-offset", "-q", NULL};
	const char *list[REPO_WORK_WORDS];
	struct wordlist words = WORDLIST_IN(list);
	struct repo_flow flow = {.from = &p->how->work->clone,
	    .to = &p->view,
	    .to_words = (const char *const[]){"index-pack", "--stdin",
		REPO_STRICT, NULL},
	    .objects = CHECK_OBJECTS};
	struct buf in;
	int rv = -1;

	if (check_init(p, fault) == -1)
		return -1;
	repo_work_words(pack, &words);
	flow.from_words = (const char *const *)wordlist_end(&words);
	if (flow.from_words == NULL)
		return fault_errno(fault, "git");
	pull_revs(p, &in);
	flow.in = buf_span(&in);
	/* Whole objects are not enough: nothing may be missing behind them. */
	if (repo_pump(p->env, &flow, fault) == 0 &&
	    REPO_GIT(p->env, &p->view, buf_span(&in), NULL, fault, "rev-list",
		"--objects", "--quiet", "--stdin") == 0)
		rv = 0;
	buf_free(&in);
	return rv;
}
