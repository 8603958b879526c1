/* SPDX-License-Identifier: ISC */
/*
 * icfs: the built-in MCP file server, which speaks on stdin and stdout and runs
 * in a view of its own like any other server.  It reads and writes files
 * beneath the directories on its command line and nowhere else, links or not;
 * with --only, just one name in a directory, and nothing beside it.
 *
 * Holds: one descriptor per directory.  Is sent: tools/call lines that policyd
 * composed.  It trusts neither them nor the contents of the directories: before
 * it reads the first line it gives up every other file (Landlock), new
 * privileges, and all system calls that its tools do not need.
 */
#include "icfs/icfs.h"

#include <sys/prctl.h>

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <seccomp.h>

#include "common/confine/pledge.h"
#include "common/confine/unveil.h"
#include "common/log.h"

/* clang-format off */
static const enum pledge_promise icfs_promises[] = {
	PLEDGE_STDIO,
};

#define CALL(name, why) {.nr = SCMP_SYS(name), .reason = (why)}

static const struct pledge_rule icfs_rules[] = {
	CALL(openat2, "the one way to open: beneath a root, through no link"),
	CALL(readlinkat, "links are read, then followed as text"),
	CALL(newfstatat, "type, size, identity"),
	CALL(statx, "time of birth"),
	CALL(getdents64, "listing"),
	{.nr = SCMP_SYS(fcntl), .nargs = 1,
	    .arg = {{1, 0xffffffffU, F_SETFD}}, .reason = "fdopendir"},
	CALL(lseek, "closedir of some libcs"),
	CALL(pread64, "head and tail of a file"),
	CALL(mkdirat, "create_directory"),
	CALL(renameat, "a write becomes the file"),
	CALL(renameat2, "move_file: never over another"),
	CALL(unlinkat, "a write that failed; move_file to another mount"),
	CALL(fchmod, "a rewritten file keeps its mode"),
	CALL(utimensat, "a file moved to another mount keeps its time"),
	CALL(fsync, "it is on disk before its source is deleted"),
	CALL(ftruncate, "a file that is a mount of its own"),
};
/* clang-format on */

static const struct pledge icfs_pledge = {
    .promises = icfs_promises,
    .npromises = nitems(icfs_promises),
    .rules = icfs_rules,
    .nrules = nitems(icfs_rules),
};

/* Since this ABI, moving between directories is a right of its own. */
#define ABI_REFER 2

static struct icfs env;

#define USAGE "usage: icfs [--read-only] [--only FILE]... [DIRECTORY]...\n"

static void __attribute__((noreturn)) usage(const char *what)
{
	fprintf(stderr, "icfs: %s\n" USAGE, what);
	exit(2);
}

static void __attribute__((noreturn)) help(void)
{
	fputs(USAGE
	    "\nAn MCP server on stdin and stdout for the files of these "
	    "directories. See icfs(1).\n",
	    stdout);
	exit(0);
}

/*
 * Add a root, with its name as given (made absolute) and as the kernel reports
 * it.
 */
static void
add_root(struct icfs *f, const char *name, bool narrow)
{
	struct icfs_root *r = &f->roots[f->nroots];
	int n, fd;

	if (f->nroots == ICFS_MAX_ROOTS)
		errx(2, "more than %u directories", ICFS_MAX_ROOTS);
	fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		err(2, "%s", name);
	r->fd = fd;
	r->narrow = narrow;
	n = snprintf(r->name, sizeof(r->name), "%s%s%s",
	    name[0] == '/' ? "" : f->cwd, name[0] == '/' ? "" : "/", name);
	if (n < 0 || (size_t)n >= sizeof(r->name))
		errx(2, "%s: the path is too long", name);
	if (fchdir(fd) == -1 || getcwd(r->real, sizeof(r->real)) == NULL ||
	    r->real[0] != '/')
		err(2, "%s", name);
	if (chdir(f->cwd) == -1)
		err(2, "%s", f->cwd);
	if (icfs_tidy(r->name) == -1)
		memcpy(r->name, r->real, sizeof(r->name));
	f->nroots++;
}

/*
 * Returns the index of the root that is exactly that directory; adds it if
 * needed.
 */
static size_t
narrow_root(struct icfs *f, const char *dir)
{
	for (size_t i = 0; i < f->nroots; i++)
		if (strcmp(f->roots[i].name, dir) == 0)
			return i;
	add_root(f, dir, true);
	return f->nroots - 1;
}

/* Add one absolute path, which need not exist. */
static void
add_only(struct icfs *f, const char *path)
{
	struct icfs_only *o = &f->only[f->nonly];
	char dir[PATH_MAX], *slash;

	if (path == NULL || path[0] != '/' || strlen(path) >= sizeof(dir))
		usage("--only takes an absolute path");
	if (f->nonly == ICFS_MAX_ROOTS)
		errx(2, "more than %u of --only", ICFS_MAX_ROOTS);
	memcpy(dir, path, strlen(path) + 1);
	if (icfs_tidy(dir) == -1 || (slash = strrchr(dir, '/'))[1] == '\0' ||
	    strlen(slash + 1) > NAME_MAX)
		usage("--only takes the path of a file or directory");
	memcpy(o->name, slash + 1, strlen(slash + 1) + 1);
	slash[slash == dir ? 1 : 0] = '\0';
	o->root = narrow_root(f, dir);
	f->nonly++;
}

/*
 * Resolve relative paths from the working directory if it may be used, else
 * from the first root.
 */
static void
choose_cwd(struct icfs *f)
{
	for (size_t i = 0; i < f->nroots; i++) {
		size_t n = strlen(f->roots[i].real);

		if (strncmp(f->cwd, f->roots[i].real, n) == 0 &&
		    (f->cwd[n] == '\0' || f->cwd[n] == '/' || n == 1))
			return;
	}
	memcpy(f->cwd, f->roots[0].name, sizeof(f->cwd));
}

/* libc looks for its time zone when it first formats a time; do that now. */
static void
warm(void)
{
	const time_t epoch = 0;
	char text[32];
	struct tm tm;

	if (setenv("TZ", "UTC0", 1) == -1 || gmtime_r(&epoch, &tm) == NULL ||
	    strftime(text, sizeof(text), "%a %Y", &tm) == 0)
		errx(1, "time zone");
}

/*
 * Apply each layer that the kernel has; the view confines the server in any
 * case.
 */
static void
confine(const struct icfs *f)
{
	struct unveil_path paths[ICFS_MAX_ROOTS];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		err(1, "no_new_privs");
	for (size_t i = 0; i < f->nroots; i++) {
		paths[i].fd = f->roots[i].fd;
		paths[i].access = UNVEIL_READ;
		if (!f->read_only)
			paths[i].access |= UNVEIL_WRITE;
	}
	if (unveil_abi() < (f->read_only ? 1 : ABI_REFER))
		warnx("no Landlock here: the view alone holds");
	else if (unveil_apply(paths, f->nroots) == -1)
		warn("Landlock");
	if (pledge_apply(&icfs_pledge) == -1)
		warn("seccomp");
}

int
main(int argc, char **argv)
{
	struct icfs *f = &env;
	int i = 1;

	if (getcwd(f->cwd, sizeof(f->cwd)) == NULL || f->cwd[0] != '/')
		err(2, "working directory");

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--read-only") == 0)
			f->read_only = true;
		else if (strcmp(argv[i], "--only") == 0)
			add_only(f, argv[++i]);
		else if (strcmp(argv[i], "--help") == 0 ||
			 strcmp(argv[i], "-h") == 0)
			help();
		else if (strcmp(argv[i], "--") == 0 && ++i > 0)
			break;
		else
			usage("options are --read-only and --only FILE");
	}
	if (i >= argc && f->nonly == 0)
		usage("no directory given");
	for (; i < argc; i++)
		add_root(f, argv[i], false);
	choose_cwd(f);
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		err(1, "signal");
	log_init("icfs", false);
	buf_init(&f->text, ICFS_MAX_TEXT);
	buf_init(&f->out, 6 * ICFS_MAX_TEXT);
	if ((f->pool = value_pool_new((size_t)24 << 20)) == NULL)
		err(1, "memory");
	warm();
	confine(f);
	icfs_serve(f);
}
