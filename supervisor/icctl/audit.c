/* SPDX-License-Identifier: ISC */
/*
 * `icctl audit verify`: reads a log as any outside program could, and reports
 * where its chain is first broken. The other words of `icctl audit` are in
 * past/audit.c. A directory stands for all files of its log,
 * and so does the newest of them.
 */
#include "icctl/icctl.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/plural.h"
#include "icctl/audit_anchor.h"
#include "icctl/newest.h"
#include "icctl/past/past.h"
#include "icctl/words.h"
#include "log/scan.h"

static const char *
check_text(enum auditlog_check c)
{
	switch (c) {
	case AUDITLOG_GOOD:
		return "good";
	case AUDITLOG_FORM:
		return "is not a record (changed, or written by something "
		       "else)";
	case AUDITLOG_SEQ:
		return "has the wrong sequence number (a record was removed or "
		       "added)";
	case AUDITLOG_PREV:
		return "does not continue the record before it (one was "
		       "removed, added or replaced)";
	case AUDITLOG_BROKEN:
		return "does not match its own hash (it was changed)";
	}
	return "bad";
}

/* NULL if the log ends where it was said to, or goes on from there. */
static const char *
anchor_fault(const struct auditscan *v, const struct audit_anchor *a)
{
	if (a == NULL || v->check != AUDITLOG_GOOD)
		return NULL;
	if (!a->found)
		return "the anchor does not mention this log";
	if (!v->seen)
		return "the log ends before the record that the anchor names: "
		       "its end was cut off";
	if (memcmp(v->at, a->hash, sizeof(v->at)) != 0)
		return "the record that the anchor names has another hash: the "
		       "log was written again";
	if (v->closed && v->seq - 1 != a->seq)
		return "the log continues after the record that the anchor "
		       "names, and is closed: this end was never reported to "
		       "the anchor";
	return NULL;
}

static void
report_anchor(const struct auditscan *v, const struct audit_anchor *a)
{
	const char *why = anchor_fault(v, a);

	if (a == NULL || v->check != AUDITLOG_GOOD)
		return;
	if (why != NULL && a->found)
		printf("WRONG END: %s (record %llu)\n", why,
		    (unsigned long long)a->seq);
	else if (why != NULL)
		printf("WRONG END: %s\n", why);
	else if (v->seq - 1 == a->seq)
		puts("its end is the one recorded in the anchor");
	else
		printf("the anchor names record %llu, and the log continues "
		       "from there: the session is still running\n",
		    (unsigned long long)a->seq);
}

static void
report(const struct icctl *ctl, const char *path, const struct auditscan *v,
    const struct audit_anchor *a)
{
	char hex[AUDITLOG_HEX + 1], shown[ICCTL_PATH];

	hex_string(v->hash, AUDITLOG_HASH, hex);
	if (ctl->json) {
		json_object *o = json_object_new_object();

		put_bool(o, "ok",
		    v->check == AUDITLOG_GOOD && anchor_fault(v, a) == NULL);
		put_str(o, "file", path);
		if (v->part > 1)
			put_int(o, "files", v->part);
		put_int(o, "records", (int64_t)v->records);
		put_bool(o, "closed", v->closed);
		put_str(o, "hash", hex);
		if (v->check != AUDITLOG_GOOD) {
			put_int(o, "line", (int64_t)v->line);
			put_str(o, "error", check_text(v->check));
		}
		if (anchor_fault(v, a) != NULL)
			put_str(o, "error", anchor_fault(v, a));
		if (a != NULL && a->found)
			put_int(o, "anchor", (int64_t)a->seq);
		icctl_put_json(o);
		json_object_put(o);
		return;
	}
	if (v->check != AUDITLOG_GOOD) {
		printf("BROKEN: %s line %zu %s%s\n", icctl_path(path, shown),
		    v->line, check_text(v->check),
		    v->cut != 0 ? "; it is incomplete: a crash interrupted it, "
				  "or it was cut off"
				: "");
		if (v->records == 0)
			puts("No record before it is valid.");
		else
			printf("The first %zu record%s intact.\n", v->records,
			    plural_are(v->records));
		return;
	}
	printf("good: %zu record%s", v->records, plural(v->records));
	if (v->part > 1)
		printf(" in %u files", v->part);
	else if (v->seq > v->records + 1)
		printf(" from record %llu on, which continues another file",
		    (unsigned long long)(v->seq - v->records));
	printf(", chain unbroken, last hash %s\n", hex);
	if (v->torn != 0)
		printf("line %zu was interrupted by a crash; the chain "
		       "continues after it%s\n",
		    v->torn,
		    v->old ? " (an older version wrote this log, and did not "
			     "record how much was lost)"
			   : "");
	if (!v->closed)
		puts("no closing record: the session is still running, or the "
		     "end of the log is missing");
	report_anchor(v, a);
}

/*
 * The anchor's word on this log.  Returns 0, with *use NULL if there is no
 * anchor to ask, or -1.
 */
static int
find_anchor(const struct icctl *ctl, const char *anchor, const char *path,
    struct audit_anchor *a, const struct audit_anchor **use)
{
	char place[4200];

	*use = NULL;
	if (anchor == NULL) {
		if (audit_anchor_default(ctl, place, sizeof(place)) == -1 ||
		    place[0] == '\0')
			return 0;
		if (strcmp(place, "journal") == 0) {
			warnx("its end was reported to the journal. Compare: "
			      "journalctl -t icsupervisor -o cat | icctl audit "
			      "verify --anchor - %s",
			    path);
			return 0;
		}
		anchor = place;
		/* A session that still runs may be the first. */
		if (access(anchor, F_OK) == -1 && errno == ENOENT)
			return 0;
	}
	if (audit_anchor_read(anchor, path, a) == -1)
		return -1;
	/* Configured later than this log was written. */
	if (anchor == place && !a->found)
		return 0;
	*use = a;
	return 0;
}

/*
 * Returns true if the path names a log of several files: its directory, or the
 * newest of them. `dir` is then the directory, open.
 */
static bool
verify_whole(const char *path, char *name, size_t cap, int *dir)
{
	static const char newest[] = "audit.jsonl";
	const char *slash = strrchr(path, '/');
	const char *file = slash == NULL ? path : slash + 1;
	unsigned older = 0;

	snprintf(name, cap, "%s", path);
	*dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir != -1)
		return true;
	if (strcmp(file, newest) != 0)
		return false;
	if (slash == NULL)
		snprintf(name, cap, ".");
	else
		snprintf(name, cap, "%.*s", (int)(slash - path) + 1, path);
	*dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir != -1 && auditparts_count(*dir, &older) == 0 && older == 0) {
		close(*dir);
		*dir = -1;
	}
	return *dir != -1;
}

/* Read from its first record where a file begins that is not a log's first. */
static void
verify_begin(const char *path, struct span all, struct auditplace *at)
{
	const char *slash = strrchr(path, '/');
	struct span line;
	unsigned n;

	*at = (struct auditplace){.log = {.seq = 1}};
	if (sscanf(slash == NULL ? path : slash + 1, "audit.%5u.jsonl", &n) !=
		1 ||
	    n < 2 || !span_line(&all, &line))
		return;
	if (auditlog_before(line, &at->log))
		at->format = AUDITSCAN_FORMAT;
	else
		*at = (struct auditplace){.log = {.seq = 1}};
}

/* Check one file by itself. Returns 0, or -1 after it printed the reason. */
static int
verify_one(const char *path, uint64_t want, struct auditscan *v)
{
	char *file = realpath(path, NULL);
	struct auditplace at;
	struct span all;
	int r = file == NULL ? -1 : auditparts_map(AT_FDCWD, file, &all);

	free(file);
	if (r == -1) {
		if (errno == EINVAL)
			warnx("%s: not a plain file", path);
		else
			warn("%s", path);
		return -1;
	}
	memset(v, 0, sizeof(*v));
	verify_begin(path, all, &at);
	auditscan_file(all, true, want, &at, v);
	auditparts_unmap(&all);
	return 0;
}

static int
verify_file(const struct icctl *ctl, const char *path, const char *anchor)
{
	const struct audit_anchor *use;
	char name[4200], log[4300];
	struct audit_anchor a;
	struct auditscan v;
	struct fault fault;
	uint64_t want;
	int dir, r;

	snprintf(log, sizeof(log), "%s", path);
	if (verify_whole(path, name, sizeof(name), &dir)) {
		for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
			name[n - 1] = '\0';
		snprintf(log, sizeof(log), "%s/audit.jsonl", name);
	}
	r = find_anchor(ctl, anchor, log, &a, &use);
	want = r == 0 && use != NULL && use->found ? use->seq : 0;
	if (r == 0 && dir == -1)
		r = verify_one(path, want, &v);
	else if (r == 0 &&
		 (r = auditscan(dir, name, NULL, want, &v, &fault)) == -1)
		warnx("%s", fault.text);
	if (dir != -1)
		close(dir);
	if (r == -1)
		return ICCTL_FAILED;
	if (v.check != AUDITLOG_GOOD && v.part != 0)
		snprintf(log, sizeof(log), "%s/%s", name, v.name);
	report(ctl, log, &v, use);
	return v.check == AUDITLOG_GOOD && anchor_fault(&v, use) == NULL
		   ? ICCTL_OK
		   : ICCTL_FAILED;
}

int
icctl_audit(struct icctl *ctl, int argc, char **argv)
{
	const char *anchor = words_option("--anchor");
	char shown[ICCTL_PATH];
	int r;

	if (argc < 2 || argc > 3)
		return words_usage();
	if (strcmp(argv[1], "verify") != 0)
		return past_audit(ctl, argc, argv);
	if (argc == 3)
		return verify_file(ctl, argv[2], anchor);
	if (ctl->session != NULL) {
		if ((r = icctl_find(ctl)) != 0)
			return r;
	} else if (icctl_newest(ctl) == -1) {
		warnx("no session in %s/sessions; name the file: icctl audit "
		      "verify FILE",
		    icctl_path(ctl->home, shown));
		return ICCTL_NO_SESSION;
	}
	return verify_file(ctl, ctl->dir, anchor);
}
