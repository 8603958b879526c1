/* SPDX-License-Identifier: ISC */
/*
 * ic-survey: looks at the machine for a sandbox that icsupervisor is about to
 * make. It copies what may be seen of /etc into IRONCURTAIN_HOME/system, and
 * looks through directories for what a sandbox must not reach. It holds these
 * directories, reads names and small files, and writes to the store alone.
 */
#include <sys/resource.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "common/confine/unveil.h"
#include "common/log.h"
#include "common/plural.h"
#include "workers/survey/etc_copy.h"
#include "box/system/survey.h"
#include "workers/survey/tree_look.h"
#include "workers/survey/usr_links.h"

#include <seccomp.h>

#define SURVEY_BUFFER 65536U

/* clang-format off */
#define CALL(name, why) {.nr = SCMP_SYS(name), .reason = (why)}

static const enum pledge_promise survey_promises[] = {
	PLEDGE_STDIO,		/* reads files, writes copies and reports */
};

static const struct pledge_rule survey_rules[] = {
	CALL(openat, "directories and files below those that are open"),
	CALL(openat2, "the same, but no mount"),
	CALL(fstatfs, "file systems that give all names at once"),
	CALL(getdents64, "names"),
	CALL(newfstatat, "kinds, modes and times"),
	CALL(statx, "the same, in newer libraries"),
	CALL(lseek, "readdir"),
	CALL(readlinkat, "links are copied as links"),
	CALL(symlinkat, "the same"),
	CALL(mkdirat, "the copy"),
	CALL(fchmod, "the copy is readable by all"),
	CALL(utimensat, "it has the times of its files"),
	CALL(renameat, "it gets its name when it is complete"),
	CALL(renameat2, "the same, where there is no renameat"),
	CALL(unlinkat, "older copies"),
	CALL(flock, "a copy that a session uses stays"),
	CALL(fcntl, "readdir sets close-on-exec, and duplicates"),
};

static struct unveil_path survey_unveil[SURVEY_MAX_TREES + 3];

static struct confine survey_confine = {
	.limits = {
		.nofile = 256,
		.fsize = 64U << 20,	/* a file of the copy */
		.data = 256U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = survey_promises,
		.npromises = nitems(survey_promises),
		.rules = survey_rules,
		.nrules = nitems(survey_rules),
	},
	.unveil = survey_unveil,
};
/* clang-format on */

static struct {
	char text[SURVEY_BUFFER];
	size_t len, total;
} out;

static void
report_send(void)
{
	if (span_write(STDOUT_FILENO, span_of(out.text, out.len)) == -1)
		exit(1);
	out.len = 0;
}

static void
report(enum survey_report kind, const char *text)
{
	const size_t n = strlen(text) + 2;

	if (out.total + n > SURVEY_MAX_REPORT - SURVEY_BUFFER)
		exit(1);
	if (n > sizeof(out.text) - out.len)
		report_send();
	out.text[out.len] = (char)kind;
	memcpy(out.text + out.len + 1, text, n - 1);
	out.len += n;
	out.total += n;
}

static void
survey_cover(const char *path)
{
	report(SURVEY_COVER, path);
}

static void
survey_tree(unsigned nth)
{
	static struct tree_look look;
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	report(SURVEY_AT, text);
	look = (struct tree_look){.cover = survey_cover};
	if (tree_look(&look, SURVEY_TREE + (int)nth) == -1) {
		report(SURVEY_BAD, look.bad);
		report(SURVEY_BAD_AT, look.path);
	}
}

static void
survey_etc(const struct etc_how *how)
{
	struct etc_copied copied;
	char text[200];

	if (etc_copy(how, &copied) == -1) {
		report(SURVEY_FAILED, strerror(errno));
		return;
	}
	report(SURVEY_COPY, copied.name);
	if (!copied.made)
		return;
	snprintf(text, sizeof(text),
	    "/etc has been copied for sandboxes: %u file%s and %u link%s; %u "
	    "name%s left out",
	    copied.files, plural(copied.files), copied.links,
	    plural(copied.links), copied.left, plural_are(copied.left));
	report(SURVEY_SAID, text);
	if (copied.cut)
		report(SURVEY_TOO, "/etc is too large or too deep: a part of "
				   "it is not in the sandbox");
}

/* Report a path below /var, but not twice in a row. */
static void
survey_var(const char *path)
{
	static char last[PATH_MAX];

	if (strcmp(path, last) == 0)
		return;
	(void)strlcpy(last, path, sizeof(last));
	report(SURVEY_VAR, path);
}

/* Identify this program: another one may leave out other files. */
static int
survey_version(char *dst, size_t cap)
{
	struct stat st;

	if (stat("/proc/self/exe", &st) == -1)
		return -1;
	snprintf(dst, cap, "%llu.%llu.%lld.%ld", (unsigned long long)st.st_dev,
	    (unsigned long long)st.st_ino, (long long)st.st_mtim.tv_sec,
	    st.st_mtim.tv_nsec);
	return 0;
}

static unsigned
survey_number(const char *text)
{
	uint64_t n;

	if (span_u64(span_str(text), UINT32_MAX, &n) == -1)
		fatalx("%s: not a number", text);
	return (unsigned)n;
}

int
main(int argc, char **argv)
{
	struct etc_how how = {.store = SURVEY_STORE, .etc = SURVEY_ETC};
	struct confine_state state;
	char version[96];
	unsigned n;

	confine_early();
	log_init("ic-survey", false);
	if (argc != 5)
		fatalx("usage: ic-survey UID GID LINKS DIRECTORIES");
	how.uid = survey_number(argv[1]);
	how.gid = survey_number(argv[2]);
	how.version = version;
	n = survey_number(argv[4]);
	if (n > SURVEY_MAX_TREES ||
	    survey_version(version, sizeof(version)) == -1)
		fatalx("more directories than %u", SURVEY_MAX_TREES);
	survey_unveil[0] =
	    (struct unveil_path){SURVEY_STORE, UNVEIL_READ | UNVEIL_WRITE};
	for (unsigned i = 0; i <= n + 1; i++)
		survey_unveil[i + 1] =
		    (struct unveil_path){SURVEY_ETC + (int)i, UNVEIL_READ};
	survey_confine.nunveil = n + 3;
	if (confine_apply(&survey_confine, &state) == -1)
		return 1;
	survey_etc(&how);
	if (strcmp(argv[3], "links") == 0) {
		usr_links(SURVEY_USR, "/usr", survey_var);
		usr_links(SURVEY_ETC, "/etc", survey_var);
	}
	for (unsigned i = 0; i < n; i++)
		survey_tree(i);
	report(SURVEY_END, "");
	report_send();
	return 0;
}
