/* SPDX-License-Identifier: ISC */
/*
 * Reads what `audit.anchor` told elsewhere of a log's end: the file that it
 * names, or the journal's lines on standard input.  Both may hold lines of
 * other sessions, and anything else: only a line that names the log's directory
 * counts, and of several the last.
 */
#include "icctl/audit_anchor.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/config.h"
#include "icctl/icctl.h"

static const char journal_middle[] = "/audit.jsonl ends with record ";
static const char journal_hash[] = ", hash ";

static bool
take_number(const char *p, const char *end, uint64_t *n)
{
	return end > p && span_u64(span_of(p, (size_t)(end - p)), UINT64_MAX,
			      n) == 0;
}

/* "TIME NUMBER HASH DIRECTORY" */
static bool
read_file_line(const char *line, const char *dir, struct audit_anchor *a)
{
	const char *number = strchr(line, ' '), *hash, *where;
	struct audit_anchor got = {.found = true};

	if (number == NULL || (hash = strchr(number + 1, ' ')) == NULL ||
	    (where = strchr(hash + 1, ' ')) == NULL ||
	    strcmp(where + 1, dir) != 0 ||
	    !take_number(number + 1, hash, &got.seq) ||
	    sha256_unhex(span_of(hash + 1, (size_t)(where - hash - 1)),
		got.hash) == -1)
		return false;
	*a = got;
	return true;
}

/* "DIRECTORY/audit.jsonl ends with record NUMBER, hash HASH" */
static bool
read_journal_line(const char *line, const char *dir, struct audit_anchor *a)
{
	struct audit_anchor got = {.found = true};
	size_t len = strlen(dir), mid = sizeof(journal_middle) - 1;
	const char *number = line + len + mid, *hash;

	if (strncmp(line, dir, len) != 0 ||
	    strncmp(line + len, journal_middle, mid) != 0 ||
	    (hash = strstr(number, journal_hash)) == NULL ||
	    !take_number(number, hash, &got.seq))
		return false;
	hash += sizeof(journal_hash) - 1;
	if (sha256_unhex(span_str(hash), got.hash) == -1)
		return false;
	*a = got;
	return true;
}

static int
read_lines(FILE *f, const char *dir, struct audit_anchor *a)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, f)) != -1) {
		if (n != 0 && line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (!read_file_line(line, dir, a))
			(void)read_journal_line(line, dir, a);
	}
	free(line);
	return ferror(f) ? -1 : 0;
}

/* The directory that a log is in, as a session names its own. Fresh memory. */
static char *
dir_of(const char *log)
{
	char copy[4200], *slash;

	if (strlcpy(copy, log, sizeof(copy)) >= sizeof(copy)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	if ((slash = strrchr(copy, '/')) == NULL)
		return realpath(".", NULL);
	slash[slash == copy ? 1 : 0] = '\0';
	return realpath(copy, NULL);
}

int
audit_anchor_read(const char *where, const char *log, struct audit_anchor *a)
{
	bool input = strcmp(where, "-") == 0;
	char *dir;
	FILE *f;
	int rv;

	*a = (struct audit_anchor){.found = false};
	if ((dir = dir_of(log)) == NULL) {
		warn("%s", log);
		return -1;
	}
	f = input ? stdin : fopen(where, "re");
	rv = f == NULL ? -1 : read_lines(f, dir, a);
	if (rv == -1)
		warn("anchor %s", where);
	if (f != NULL && !input)
		fclose(f);
	free(dir);
	return rv;
}

int
audit_anchor_default(const struct icctl *ctl, char *dst, size_t cap)
{
	const char *home = getenv("HOME");
	struct fault fault = {""};
	struct config cfg;
	int rv = 0;

	dst[0] = '\0';
	/* A configuration that cannot be read is for doctor to explain. */
	if (config_load(&cfg, NULL, ctl->home, home == NULL ? "/" : home, NULL,
		&fault) == -1)
		return 0;
	if (cfg.anchor != NULL && strlcpy(dst, cfg.anchor, cap) >= cap)
		rv = -1;
	config_free(&cfg);
	return rv;
}
