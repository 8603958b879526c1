/* SPDX-License-Identifier: ISC */
#include "workers/repo/told.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "common/log.h"

struct errand errand;

void
errand_report(enum errand_report kind, const char *text)
{
	if (text != NULL)
		report_say((int)kind, text, ERRAND_MAX_TEXT);
}

void
errand_say(enum errand_report kind, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		exit(1);
	errand_report(kind, text);
	free(text);
}

bool
errand_stopped(void)
{
	sigset_t set;

	/* It is blocked, and waits here. */
	return sigpending(&set) == 0 && sigismember(&set, SIGTERM) == 1;
}

int
errand_sandbox(struct fault *fault)
{
	const int fd = openat(ERRAND_SESSION, "sandbox",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1)
		fault_errno(fault, "%s/sandbox", errand.session_path);
	return fd;
}

bool
errand_shown(const char *path)
{
	for (size_t i = 0; i < errand.shown.n; i++)
		if (paths_under(path, errand.shown.list[i]))
			return true;
	return false;
}

bool
errand_listed(struct span host)
{
	for (size_t i = 0; i < errand.destinations.n; i++)
		if (span_ieq(host, span_str(errand.destinations.list[i])))
			return true;
	return false;
}

static void
errand_add(struct errand_list *l, const char *text)
{
	if (l->n == ERRAND_MAX_LIST)
		fatalx("too much to do");
	l->list[l->n++] = text;
}

/* Take "DEVICE:INODE:PATH". */
static void
errand_place(const char *text)
{
	struct places *p = &errand.places;
	const size_t d = strcspn(text, ":"), i = strcspn(text + d, "/");
	uint64_t dev, ino;

	if (p->n == PLACES_MAX || i < 3 ||
	    span_u64(span_of(text, d), UINT64_MAX, &dev) == -1 ||
	    span_u64(span_of(text + d + 1, i - 2), UINT64_MAX, &ino) == -1)
		fatalx("not a place");
	p->ids[p->n] = (struct paths_id){dev, ino};
	p->paths[p->n] = p->names[p->n] = (char *)(uintptr_t)(text + d + i);
	p->n++;
}

static void
errand_take(enum errand_told kind, const char *text)
{
	switch (kind) {
	case TOLD_LIBEXEC:
		errand.libexecdir = text;
		return;
	case TOLD_HOME:
		errand.home = text;
		return;
	case TOLD_SESSION:
		errand.session_path = text;
		return;
	case TOLD_WORKSPACE:
		errand.workspace = text;
		return;
	case TOLD_NAMED:
		errand.named = text;
		return;
	case TOLD_CLONE:
		errand.clone = text;
		return;
	case TOLD_URL:
		errand.url = text;
		return;
	case TOLD_REF:
		errand.ref = text;
		return;
	case TOLD_IGNORE:
		errand.ignore = text;
		return;
	case TOLD_INSIDE:
		errand.inside = text;
		return;
	case TOLD_PATH:
		errand.path = text;
		return;
	case TOLD_CHANGES:
		errand.changes = true;
		return;
	case TOLD_DIRTY:
		errand.dirty = true;
		return;
	case TOLD_BWRAP:
		errand.bwrap = true;
		return;
	case TOLD_GITFILE:
		errand.gitfile = true;
		return;
	case TOLD_WITH:
		errand_add(&errand.with, text);
		return;
	case TOLD_DESTINATION:
		errand_add(&errand.destinations, text);
		return;
	case TOLD_SHOWN:
		errand_add(&errand.shown, text);
		return;
	case TOLD_PLACE:
		errand_place(text);
		return;
	case TOLD_FAR:
		errand.far = true;
		return;
	case TOLD_LIMITS:
		errand.limits = text;
		return;
	case TOLD_TOOL:
		errand.tool = text;
		return;
	case TOLD_ENGINE:
		errand.engine = text;
		return;
	case TOLD_SERVICE:
		errand_add(&errand.services, text);
		return;
	case TOLD_BEFORE:
		errand_add(&errand.before, text);
		return;
	case TOLD_LABEL:
		errand_add(&errand.labels, text);
		return;
	}
	fatalx("not an errand");
}

void
errand_read(void)
{
	struct span rest;
	struct stat st;
	const char *text;
	uint8_t *all;
	ssize_t n;
	int kind;

	if (fstat(STDIN_FILENO, &st) == -1 || st.st_size < 0 ||
	    st.st_size > (off_t)(4 * ERRAND_MAX_TEXT) ||
	    (all = malloc((size_t)st.st_size + 1)) == NULL ||
	    (n = pread(STDIN_FILENO, all, (size_t)st.st_size, 0)) !=
		(ssize_t)st.st_size)
		fatal("the errand");
	rest = span_of(all, (size_t)n);
	while (report_next(&rest, &kind, &text))
		errand_take((enum errand_told)kind, text);
	if (rest.len != 0 || errand.libexecdir == NULL || errand.home == NULL ||
	    errand.session_path == NULL)
		fatalx("not an errand");
}
