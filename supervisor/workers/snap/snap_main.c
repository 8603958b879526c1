/* SPDX-License-Identifier: ISC */
/*
 * ic-snap: saves a workspace, compares two saved states, or puts one back
 * (undo/snap.h). What it may touch depends on what it is for, and is closed
 * before it opens anything: saving cannot write the workspace, restoring cannot
 * write the store, and neither has a network or any other file.
 */
#include "workers/snap/snap.h"

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <linux/fs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "common/confine/unveil.h"
#include "common/log.h"

#include <seccomp.h>

/* clang-format off */
#define CALL(name, why) {.nr = SCMP_SYS(name), .reason = (why)}

static const enum pledge_promise snap_promises[] = {
	PLEDGE_STDIO,		/* reads files, writes copies and reports */
};

/* Paths are closed by Landlock; only a restore may change modes. */
#define SNAP_RULES							\
	CALL(openat, "the store, and directories that are open"),	\
	CALL(openat2, "the workspace, through no link"),		\
	CALL(getdents64, "names"),					\
	CALL(newfstatat, "kinds, modes and times"),			\
	CALL(statx, "the same, in newer libraries"),			\
	CALL(lseek, "readdir"),						\
	CALL(pread64, "contents"),					\
	CALL(readlinkat, "links are saved as links"),			\
	CALL(mkdirat, "directories of the store, or that come back"),	\
	CALL(renameat, "a file gets its name when it is complete"),	\
	CALL(renameat2, "the same, and replaces nothing"),		\
	CALL(unlinkat, "what is not needed, or goes away"),		\
	CALL(flock, "one save at a time"),				\
	CALL(sysinfo, "qsort asks how much memory there is"),		\
	CALL(fsync, "records survive a power loss"),			\
	CALL(sync_file_range, "changes of mapped files set their times"), \
	CALL(fstatfs, "how much of the disk is free"),			\
	CALL(fcntl, "readdir sets close-on-exec, and duplicates"),	\
	{.nr = SCMP_SYS(ioctl), .nargs = 1,				\
	    .arg = {{1, 0xffffffffULL, FICLONE & 0xffffffffULL}},	\
	    .reason = "contents are shared where that is possible"}

static const struct pledge_rule save_rules[] = {
	SNAP_RULES,
};

static const struct pledge_rule restore_rules[] = {
	SNAP_RULES,
	CALL(fchmod, "files get their modes"),
	CALL(symlinkat, "links come back as links"),
};
/* clang-format on */

enum snap_shape {
	SHAPE_SAVE,
	SHAPE_PLAN,
	SHAPE_RESTORE,
	SHAPE_FORGET
};

static const char *const shapes[] = {"save", "plan", "restore", "forget"};

static uint64_t
number(const char *text)
{
	uint64_t n;

	if (span_u64(span_str(text), UINT64_MAX, &n) == -1)
		fatalx("%s: not a number", text);
	return n;
}

/* Take "key=value" for a text. Returns false for another key. */
static bool
take_text(struct snap_how *h, const char *key, const char *value)
{
	struct undo_record *r = &h->record;

	if (strcmp(key, "session") == 0)
		(void)strlcpy(r->session, value, sizeof(r->session));
	else if (strcmp(key, "kind") == 0)
		(void)strlcpy(r->kind, value, sizeof(r->kind));
	else if (strcmp(key, "name") == 0)
		(void)strlcpy(r->name, value, sizeof(r->name));
	else if (strcmp(key, "digest") == 0)
		h->digest = value;
	else if (strcmp(key, "leave") == 0 && h->nleave < SNAP_MAX_NAMES)
		h->leave[h->nleave++] = value;
	else if (strcmp(key, "include") == 0 && h->ninclude < SNAP_MAX_NAMES)
		h->include[h->ninclude++] = value;
	else if (strcmp(key, "path") == 0 && h->npaths < SNAP_MAX_PATHS)
		h->paths[h->npaths++] = value;
	else
		return false;
	return true;
}

static void
take_number(struct snap_how *h, const char *key, uint64_t n)
{
	struct snap_limits *l = &h->limits;

	if (strcmp(key, "turn") == 0)
		h->record.turn = (uint32_t)n;
	else if (strcmp(key, "undoes") == 0)
		h->record.to = (uint32_t)n;
	else if (strcmp(key, "deadline") == 0)
		h->deadline = n;
	else if (strcmp(key, "once") == 0)
		h->once = n != 0;
	else if (strcmp(key, "files") == 0)
		l->files = (uint32_t)n;
	else if (strcmp(key, "file-mb") == 0)
		l->file = n << 20;
	else if (strcmp(key, "turn-mb") == 0)
		l->turn = n << 20;
	else if (strcmp(key, "store-mb") == 0)
		l->store = n << 20;
	else if (strcmp(key, "free") == 0)
		l->free = (uint32_t)n;
	else if (strcmp(key, "keep") == 0)
		l->keep = (uint32_t)n;
	else if (strcmp(key, "days") == 0)
		l->days = (uint32_t)n;
	else if (strcmp(key, "now") == 0)
		h->now = (uint32_t)n;
	else if (strcmp(key, "to") == 0)
		h->to = (uint32_t)n;
	else if (strcmp(key, "all") == 0)
		h->all = n != 0;
	else if (strcmp(key, "text") == 0)
		h->text = n != 0;
	else if (strcmp(key, "ref") == 0 && h->nrefs < SNAP_MAX_REFS)
		h->refs[h->nrefs++] = (uint32_t)n;
	else
		fatalx("%s: not an argument", key);
}

static void
take_arguments(struct snap_how *h, int argc, char **argv)
{
	char *value;

	for (int i = 2; i < argc; i++) {
		if ((value = strchr(argv[i], '=')) == NULL)
			fatalx("%s: not KEY=VALUE", argv[i]);
		*value++ = '\0';
		if (!take_text(h, argv[i], value))
			take_number(h, argv[i], number(value));
	}
}

static void
snap_confine(enum snap_shape shape)
{
	static struct unveil_path paths[2];
	struct confine_state state;
	struct confine c = {.limits = {.nofile = 512,
				.fsize = UINT64_MAX,
				.data = 4ULL << 30,
				.memlock = 0},
	    .pledge = {.promises = snap_promises,
		.npromises = nitems(snap_promises),
		.rules = shape == SHAPE_RESTORE ? restore_rules : save_rules,
		.nrules = shape == SHAPE_RESTORE ? nitems(restore_rules)
						 : nitems(save_rules)},
	    .unveil = paths};

	paths[c.nunveil++] = (struct unveil_path){
	    SNAP_STORE, shape == SHAPE_SAVE || shape == SHAPE_FORGET
			    ? UNVEIL_READ | UNVEIL_WRITE
			    : UNVEIL_READ};
	if (shape == SHAPE_SAVE || shape == SHAPE_RESTORE)
		paths[c.nunveil++] = (struct unveil_path){SNAP_TREE,
		    shape == SHAPE_RESTORE ? UNVEIL_READ | UNVEIL_WRITE
					   : UNVEIL_READ};
	if (confine_apply(&c, &state) == -1)
		exit(1);
}

static void
snap_plan(const struct store *s, const struct snap_how *h, bool restore)
{
	static struct plan p;
	const struct plan_row *r;
	char why[SNAP_WHY];

	buf_init(&snap_rows, SNAP_MAX_ROWS);
	if (plan_make(&p, s, h) == -1) {
		snap_row(SNAP_REFUSED, false, span_str(p.why), NULL);
	} else if (!restore) {
		for (size_t i = 0; i < p.n; i++) {
			r = &p.rows[i];
			/* A comparison is about what is there now. */
			snap_row(r->what,
			    !h->text
				? r->later
				: r->from != NULL &&
				      snap_runs_later(r->from->path, r->from),
			    r->from != NULL ? r->from->path : r->to->path,
			    plan_reason(r, why, sizeof(why)));
			if (!h->text || r->what == SNAP_LEFT)
				continue;
			snap_row_text(SNAP_WAS, s, r->to);
			snap_row_text(SNAP_IS, s, r->from);
		}
		snap_row(SNAP_END, false, span_str(p.digest), NULL);
	} else if (h->digest == NULL || strcmp(h->digest, p.digest) != 0) {
		snap_row(SNAP_REFUSED, false,
		    SPAN("this is not the plan that was shown"), NULL);
	} else {
		snap_restore(s, &p, SNAP_TREE);
		snap_row(SNAP_END, false, span_str(p.digest), NULL);
	}
	plan_free(&p);
	if (snap_rows.failed ||
	    span_write(STDOUT_FILENO, buf_span(&snap_rows)) == -1)
		exit(1);
	buf_free(&snap_rows);
}

static void
snap_change(struct store *s, struct snap_how *h, bool forget)
{
	struct snap_report out;
	int n;

	memset(&out, 0, sizeof(out));
	if (!forget)
		snap_save(s, h, &out);
	else if ((n = store_forget(s, h, out.why)) != -1) {
		out.number = (uint32_t)n;
		out.store = s->bytes;
	}
	if (span_write(STDOUT_FILENO, span_of(&out, sizeof(out))) == -1)
		exit(1);
	if (!forget)
		snap_save_free();
}

int
main(int argc, char **argv)
{
	static struct snap_how how;
	struct store s = {.fd = SNAP_STORE};
	unsigned shape = 0;
	bool write;

	confine_early();
	log_init("ic-snap", false);
	while (argc > 1 && shape < nitems(shapes) &&
	       strcmp(argv[1], shapes[shape]) != 0)
		shape++;
	if (argc < 2 || shape == nitems(shapes))
		fatalx("usage: ic-snap save|plan|restore|forget KEY=VALUE...");
	take_arguments(&how, argc, argv);
	snap_confine((enum snap_shape)shape);
	write = shape == SHAPE_SAVE || shape == SHAPE_FORGET;
	if (store_open(&s, write) == -1)
		fatal("the store");
	if (write)
		snap_change(&s, &how, shape == SHAPE_FORGET);
	else
		snap_plan(&s, &how, shape == SHAPE_RESTORE);
	return 0;
}
