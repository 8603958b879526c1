/* SPDX-License-Identifier: ISC */
/*
 * The sums of one session, read from its log or from what was kept of it. A
 * log that only grew is read from where it ended before.
 */
#include "icctl/past/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"

/* A session of a year with several models has no more. */
#define FOLD_MAX 200000U

static void
fold_row(void *arg, const struct report_row *row)
{
	struct past_fold *f = arg;
	struct report_row *more;

	if (f->n % 64 == 0) {
		f->full =
		    f->n >= FOLD_MAX || (more = reallocarray(f->rows, f->n + 64,
					     sizeof(*more))) == NULL;
		if (f->full)
			return;
		f->rows = more;
	}
	f->rows[f->n++] = *row;
}

/* Read one file. Returns 0, or -1 with the fault set. */
static int
fold_part(struct past_fold *f, int dirfd, const char *dir, unsigned older,
    struct fault *fault)
{
	const struct past_reader to = {.arg = f, .row = fold_row};
	const char *words[] = {"fold", f->part > older ? "last=1" : "last=0",
	    f->broken ? "verify=0" : "verify=1", NULL};
	char name[AUDITPARTS_NAME];
	int fd, rv;

	(void)auditparts_name(f->part, older, name);
	if ((fd = past_open(dirfd, name)) == -1)
		return errno == EINVAL
			   ? fault_set(
				 fault, "%s/%s: not a plain file", dir, name)
			   : fault_errno(fault, "%s/%s", dir, name);
	rv = past_run(&to, fd, words, &f->end, fault);
	close(fd);
	if (rv == -1)
		return -1;
	if (f->end.check != AUDITLOG_GOOD && !f->broken) {
		f->broken = true;
		f->check = f->end.check;
		f->line = f->end.line;
		(void)strlcpy(f->file, name, sizeof(f->file));
	}
	return 0;
}

static void
fold_reset(struct past_fold *f)
{
	past_fold_free(f);
	f->part = 1;
	f->end.mark.log.seq = 1;
}

int
past_fold(struct past_fold *f, int dirfd, const char *dir, bool again,
    struct fault *fault)
{
	unsigned older;
	int kept;

	fold_reset(f);
	kept = again ? 0 : past_kept(f, dirfd, dir);
	f->kept = kept == 1;
	if (f->kept)
		return 0;
	if (kept == 0)
		fold_reset(f);
	if (auditparts_count(dirfd, &older) == -1) {
		if (errno != ENODATA)
			return fault_errno(fault, "%s", dir);
		return fault_set(
		    fault, "%s: a file of its log is missing", dir);
	}
	if (!past_look(f, dirfd, older))
		return fault_errno(fault, "%s: its log", dir);
	for (; f->part <= older + 1; f->part++) {
		if (fold_part(f, dirfd, dir, older, fault) == -1)
			return -1;
		f->left_out += f->end.left_out;
		f->end.left_out = 0;
		if (f->part <= older)
			f->end.mark.offset = 0;
	}
	f->part = older + 1;
	if (f->full)
		return fault_set(
		    fault, "%s: its log has too many models and days", dir);
	/* A log that grew and no longer fits is read again from its first record. */
	if (f->broken && kept == 2)
		return past_fold(f, dirfd, dir, true, fault);
	f->kept = past_keep(f, dirfd) == 0;
	return 0;
}

void
past_fold_free(struct past_fold *f)
{
	free(f->rows);
	memset(f, 0, sizeof(*f));
}
