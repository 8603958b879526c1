/* SPDX-License-Identifier: ISC */
/*
 * Refuses to show certain objects to an agent or a server: IRONCURTAIN_HOME,
 * session directories, the home directory as a whole, the root, and sockets
 * that control something outside the sandbox. Objects are compared by device
 * and inode after resolving links, so that neither a bind mount nor a symbolic
 * link gets around this.
 */
#include "base/paths.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

static bool
id_eq(const struct paths_id *a, const struct paths_id *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

static int
id_of(int fd, struct paths_id *id)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return -1;
	id->dev = st.st_dev;
	id->ino = st.st_ino;
	return S_ISDIR(st.st_mode) ? 1 : 0;
}

/* Open the directory that contains the object of `fd`. */
static int
parent_of(int fd, bool is_dir)
{
	char *path, *slash;
	int up;

	if (is_dir)
		return openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if ((path = paths_of_fd(fd)) == NULL)
		return -1;
	if ((slash = strrchr(path, '/')) == NULL) {
		free(path);
		errno = ENOENT;
		return -1;
	}
	slash[slash == path ? 1 : 0] = '\0';
	up = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(path);
	return up;
}

/*
 * Store the ids of `fd` and its parents up to the root. Returns their number,
 * or -1.
 */
static int
id_chain(int fd, struct paths_id *ids, unsigned max)
{
	unsigned n = 0;
	int cur, is_dir, up;

	if ((cur = fcntl(fd, F_DUPFD_CLOEXEC, 0)) == -1)
		return -1;
	for (;;) {
		if (n == max) {
			errno = ENAMETOOLONG;
			break;
		}
		if ((is_dir = id_of(cur, &ids[n])) == -1)
			break;
		if (n != 0 && id_eq(&ids[n], &ids[n - 1])) {
			close(cur);
			return (int)n;
		}
		n++;
		if ((up = parent_of(cur, is_dir == 1)) == -1)
			break;
		close(cur);
		cur = up;
	}
	close(cur);
	return -1;
}

#define TMP_WHAT "where all programs put their temporary files and sockets"
#define RUN_WHAT "/run, where the sockets of the host's programs are"
#define KERNEL_WHAT "a directory of the kernel, not of files"
#define SHM_WHAT "/dev/shm, where all programs put memory that they share"

int
guards_add(
    struct guards *g, enum guard_kind kind, const char *what, const char *path)
{
	struct guard *item;
	int fd, n;

	if (g->n == GUARDS_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	if ((fd = open(path, O_PATH | O_CLOEXEC)) == -1)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
			       errno == ELOOP
			   ? 0
			   : -1;
	item = &g->items[g->n];
	item->but_set = false;
	n = id_chain(fd, item->ids, nitems(item->ids));
	close(fd);
	if (n == -1)
		return -1;
	item->kind = kind;
	item->nids = (unsigned)n;
	snprintf(item->what, sizeof(item->what), "%s", what);
	g->n++;
	return 0;
}

/*
 * Guard the directories of the kernel. In /dev/shm, other programs' memory is
 * at the top; a directory in it is like any other.
 */
static int
guards_kernel(struct guards *g)
{
	int fd;

	if (guards_add(g, GUARD_TREE, KERNEL_WHAT, "/proc") == -1 ||
	    guards_add(g, GUARD_TREE, KERNEL_WHAT, "/sys") == -1 ||
	    guards_add(g, GUARD_SELF, SHM_WHAT, "/dev/shm") == -1 ||
	    guards_add(g, GUARD_TREE, KERNEL_WHAT, "/dev") == -1)
		return -1;
	if ((fd = open("/dev/shm", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return 0;
	g->items[g->n - 1].but_set = id_of(fd, &g->items[g->n - 1].but) != -1;
	close(fd);
	return 0;
}

/* Returns true for a file system that shows no files of anybody. */
static bool
guards_magic(int fd)
{
	static const unsigned long magics[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,
	    DEVPTS_SUPER_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
	    DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC, BPF_FS_MAGIC,
	    PSTOREFS_MAGIC, EFIVARFS_MAGIC, NSFS_MAGIC, SELINUX_MAGIC,
	    HUGETLBFS_MAGIC, BINFMTFS_MAGIC, 0x62656570 /* configfs */,
	    0x65735543 /* fusectl */, 0x19800202 /* mqueue */};
	struct statfs sf;

	if (fstatfs(fd, &sf) == -1)
		return false;
	for (size_t i = 0; i < nitems(magics); i++)
		if ((unsigned long)sf.f_type == magics[i])
			return true;
	return false;
}

/* Guard all running sessions: run/ has a link to each of them. */
static int
guards_sessions(struct guards *g, const char *home)
{
	struct dirent *e;
	char *path, *run;
	DIR *dir;
	int rv = 0;

	if ((run = paths_join(home, "run")) == NULL)
		return -1;
	dir = opendir(run);
	while (dir != NULL && rv == 0 && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		if ((path = paths_join(run, e->d_name)) == NULL)
			rv = -1;
		else if (g->n < GUARDS_MAX - 16)
			rv = guards_add(
			    g, GUARD_TREE, "a session directory", path);
		free(path);
	}
	if (dir != NULL)
		closedir(dir);
	free(run);
	return rv;
}

/* Guard the socket in an environment variable: unix:path=X, unix:X or X. */
static int
guards_socket_env(struct guards *g, const char *name, const char *what)
{
	const char *v = getenv(name), *p;
	char path[4096];
	size_t n;

	if (v == NULL)
		return 0;
	if ((p = strstr(v, "path=")) != NULL)
		v = p + 5;
	else if (strncmp(v, "unix://", 7) == 0)
		v += 7;
	n = strcspn(v, ",;");
	if (v[0] != '/' || n >= sizeof(path))
		return 0;
	memcpy(path, v, n);
	path[n] = '\0';
	return guards_add(g, GUARD_SELF, what, path);
}

static int
guards_sockets(struct guards *g)
{
	static const struct {
		const char *path, *what;
	} fixed[] = {
	    {"/run/docker.sock", "the Docker socket"},
	    {"/var/run/docker.sock", "the Docker socket"},
	    {"/run/podman/podman.sock", "the Podman socket"},
	    {"/run/containerd/containerd.sock", "the containerd socket"},
	    {"/run/dbus/system_bus_socket", "the system bus"},
	    {"/run/systemd/private", "systemd's socket"},
	    {"/tmp/.X11-unix", "the X11 sockets"},
	};
	static const struct {
		const char *sub, *what;
	} user[] = {
	    {"bus", "the session bus"},
	    {"docker.sock", "the Docker socket"},
	    {"podman/podman.sock", "the Podman socket"},
	    {"systemd/private", "systemd's socket"},
	    {"gnupg", "the GnuPG sockets"},
	};
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char path[128];

	for (size_t i = 0; i < nitems(fixed); i++)
		if (guards_add(g, GUARD_SELF, fixed[i].what, fixed[i].path) ==
		    -1)
			return -1;
	/* Everything below these is as sensitive as the directories. */
	if (guards_add(g, GUARD_TREE, RUN_WHAT, "/run") == -1 ||
	    (runtime != NULL && runtime[0] == '/' &&
		guards_add(g, GUARD_TREE, "XDG_RUNTIME_DIR", runtime) == -1))
		return -1;
	for (size_t i = 0; i < nitems(user); i++) {
		snprintf(path, sizeof(path), "/run/user/%u/%s",
		    (unsigned)geteuid(), user[i].sub);
		if (guards_add(g, GUARD_SELF, user[i].what, path) == -1)
			return -1;
	}
	if (guards_socket_env(g, "SSH_AUTH_SOCK", "the ssh agent") == -1 ||
	    guards_socket_env(g, "DOCKER_HOST", "the Docker socket") == -1 ||
	    guards_socket_env(
		g, "DBUS_SESSION_BUS_ADDRESS", "the session bus") == -1 ||
	    guards_socket_env(g, "NOTIFY_SOCKET", "systemd's socket") == -1)
		return -1;
	return 0;
}

int
guards_init(struct guards *g, const struct paths *p, struct fault *fault)
{
	g->n = 0;
	g->own_set = false;
	if (guards_add(g, GUARD_SELF, "the root directory", "/") == -1 ||
	    guards_add(g, GUARD_SELF, TMP_WHAT, "/tmp") == -1 ||
	    guards_add(g, GUARD_SELF, TMP_WHAT, "/var/tmp") == -1 ||
	    guards_add(g, GUARD_SELF, "your home directory", p->user_home) ==
		-1 ||
	    guards_add(g, GUARD_TREE, "IRONCURTAIN_HOME", p->home) == -1 ||
	    guards_kernel(g) == -1 || guards_sockets(g) == -1 ||
	    guards_sessions(g, p->home) == -1)
		return fault_errno(fault, "a directory that must stay hidden");
	return 0;
}

int
guards_allow(struct guards *g, int fd)
{
	if (id_of(fd, &g->own) == -1)
		return -1;
	g->own_set = true;
	return 0;
}

int
guards_check(const struct guards *g, int fd, const char *what, const char *path,
    struct fault *fault)
{
	struct paths_id chain[64];
	const struct guard *item;
	int n;

	n = id_chain(fd, chain, nitems(chain));
	if (n == -1)
		return fault_errno(fault, "%s %s", what, path);
	if (g->own_set && id_eq(&chain[0], &g->own))
		return 0;
	if (guards_magic(fd))
		return fault_set(fault, "%s %s: refused, because it is %s",
		    what, path, KERNEL_WHAT);
	/* Report the object's own name first, whatever else it contains. */
	for (unsigned i = 0; i < g->n; i++) {
		item = &g->items[i];
		if (id_eq(&chain[0], &item->ids[0]))
			return fault_set(fault,
			    "%s %s: refused, because it is "
			    "%s",
			    what, path, item->what);
	}
	for (unsigned i = 0; i < g->n; i++) {
		item = &g->items[i];
		for (unsigned k = 1; k < item->nids; k++)
			if (id_eq(&chain[0], &item->ids[k]))
				return fault_set(fault,
				    "%s %s: refused, because it contains %s",
				    what, path, item->what);
		for (unsigned k = 1;
		     item->kind == GUARD_TREE && k < (unsigned)n; k++)
			if (item->but_set && id_eq(&chain[k], &item->but))
				break;
			else if (id_eq(&chain[k], &item->ids[0]))
				return fault_set(fault,
				    "%s %s: refused, because it is inside %s",
				    what, path, item->what);
	}
	return 0;
}

int
paths_within(int a, int b)
{
	struct paths_id chain[64], id;
	int n;

	if (id_of(b, &id) == -1)
		return -1;
	n = id_chain(a, chain, nitems(chain));
	if (n == -1)
		return -1;
	for (int i = 0; i < n; i++)
		if (id_eq(&chain[i], &id))
			return 1;
	return 0;
}
