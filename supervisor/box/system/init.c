/* SPDX-License-Identifier: ISC */
/*
 * Begins a sandbox. Each has namespaces of every kind, no capabilities, no user
 * namespaces inside, and the system read-only.
 */
#include "box/system/init.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/system/etc.h"
#include "box/system/survey.h"

/*
 * Hide files of /proc that show the kernel and keyrings in every namespace. The
 * settings of the kernel become read-only: in the session of root, who owns
 * them, no capability is needed to write there.
 */
static void
box_mask(struct box *b)
{
	static const char *const files[] = {"/proc/keys", "/proc/key-users",
	    "/proc/kallsyms", "/proc/kcore", "/proc/timer_list",
	    "/proc/latency_stats", "/proc/sched_debug"};

	/* A device on a nodev mount: it cannot be opened. */
	for (size_t i = 0; i < nitems(files); i++)
		if (access(files[i], F_OK) == 0)
			box_args(b, "--ro-bind", "/dev/null", files[i]);
	box_args(b, "--ro-bind-try", "/proc/sys", "/proc/sys");
	box_args(b, "--ro-bind-try", "/proc/fs", "/proc/fs");
}

void
box_tmpfs(struct box *b, const char *dest, uint64_t mib)
{
	char bytes[24];

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)mib << 20);
	if (mib != 0)
		box_args(b, "--size", bytes, NULL);
	box_args(b, "--tmpfs", dest, NULL);
}

bool
box_proc_masked(void)
{
	struct statvfs st;

	return statvfs("/proc/sys", &st) == 0 && (st.f_flag & ST_RDONLY) != 0;
}

/* /bin and the like are links into /usr today, directories on older systems. */
static void
box_programs(struct box *b)
{
	static const char *const dirs[] = {
	    "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"};
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	box_args(b, "--ro-bind", "/usr", "/usr");
	for (size_t i = 0; i < nitems(dirs); i++) {
		if (lstat(dirs[i], &st) == -1)
			continue;
		if (!S_ISLNK(st.st_mode)) {
			box_args(b, "--ro-bind", dirs[i], dirs[i]);
			continue;
		}
		if ((n = readlink(dirs[i], target, sizeof(target) - 1)) == -1)
			continue;
		target[n] = '\0';
		box_args(b, "--symlink", target, dirs[i]);
	}
}

static void
box_system(struct box *b, const struct limits *l, bool proc)
{
	if (proc) {
		box_args(b, "--proc", "/proc", NULL);
		box_mask(b);
	}
	box_args(b, "--dev", "/dev", NULL);
	box_tmpfs(b, "/dev/shm", l->shm_mb);
	/*
	 * Devices stay usable on a read-only mount, but no file can be created.
	 */
	box_args(b, "--remount-ro", "/dev", NULL);
	box_tmpfs(b, "/tmp", l->tmp_mb);
	box_args(b, "--dir", "/run", NULL);
	box_args(b, "--dir", "/var", NULL);
	box_args(b, "--symlink", "../tmp", "/var/tmp");
}

void
box_apart(
    struct box *b, enum filter_kind kind, const struct limits *l, bool nested)
{
	box_begin(b, kind, limits_files(l));
	box_arg(b, "--unshare-all");
	box_arg(b, "--unshare-user");
	if (!nested)
		box_arg(b, "--disable-userns");
	box_arg(b, "--die-with-parent");
	/* Keep its signals and its terminal inside. */
	box_arg(b, "--new-session");
	box_args(b, "--cap-drop", "ALL", NULL);
	box_args(b, "--hostname", SURVEY_HOSTNAME, NULL);
	box_arg(b, "--clearenv");
	box_programs(b);
}

void
box_init(struct box *b, enum filter_kind kind, const struct limits *l)
{
	/* Our own servers do without it; their filter refuses namespaces. */
	bool proc = kind != FILTER_OURS || !box_proc_masked();

	box_apart(b, kind, l, !proc);
	box_system(b, l, proc);
	box_etc(b);
}
