/* SPDX-License-Identifier: ISC */
/*
 * Resolves and starts programs of the host. The kernel would look up a script's
 * interpreter again, and /usr/bin/env would look up its argument in PATH: both
 * are done here, once, so that nothing is looked up later.
 */
#include "host/program.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "host/environ.h"

/* The kernel reads this much of a script's first line. */
#define HOST_LINE 256U

extern char **environ;

static int host_add(struct host_program *, const struct host_how *,
    const char *what, const char *name, struct fault *);

static int
host_refuse(struct host_program *p, const char *what, const char *path,
    const char *place, struct fault *fault)
{
	p->refused = true;
	return fault_set(fault,
	    "%s: %s is refused: the agent can write %s, and could put a "
	    "program of its own there. Write the whole path of a program that "
	    "lies elsewhere",
	    what, path, place);
}

/* Open an executable file. Returns the descriptor, or -1 with the fault set. */
static int
host_open(struct host_program *p, const struct host_how *h, const char *what,
    const char *path, struct fault *fault)
{
	const char *place;
	struct stat st;
	char self[32];
	int fd;

	place = places_of(h->places, path, &fd);
	if (fd == -1)
		return fault_errno(fault, "%s: %s", what, path);
	if (place != NULL) {
		close(fd);
		return host_refuse(p, what, path, place, fault);
	}
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		close(fd);
		return fault_set(fault, "%s: %s is not a file", what, path);
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (access(self, X_OK) == -1) {
		fault_errno(fault, "%s: %s", what, path);
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Returns the place that hides the program if it is in a directory of the
 * user's PATH that was left out, or NULL. `dst` becomes the program's path.
 */
static const char *
host_left_out(const struct host_how *h, const char *name, char *dst, size_t cap)
{
	const char *p = h->path_env, *end, *place;
	int n;

	for (; p != NULL && *p != '\0'; p = *end == ':' ? end + 1 : end) {
		end = strchrnul(p, ':');
		n = snprintf(dst, cap, "%.*s/%s", (int)(end - p), p, name);
		if (*p != '/' || n < 0 || (size_t)n >= cap ||
		    access(dst, X_OK) == -1)
			continue;
		if ((place = places_of(h->places, dst, NULL)) != NULL)
			return place;
	}
	return NULL;
}

/* Open the program from the first directory of PATH that has it. */
static int
host_search(struct host_program *p, const struct host_how *h, const char *what,
    const char *name, struct fault *fault)
{
	const char *dir = h->path, *end, *place;
	char path[PATH_MAX];
	int n;

	for (; dir != NULL && *dir != '\0'; dir = *end == ':' ? end + 1 : end) {
		end = strchrnul(dir, ':');
		n = snprintf(
		    path, sizeof(path), "%.*s/%s", (int)(end - dir), dir, name);
		if (n < 0 || (size_t)n >= sizeof(path) ||
		    access(path, X_OK) == -1)
			continue;
		return host_open(p, h, what, path, fault);
	}
	if ((place = host_left_out(h, name, path, sizeof(path))) != NULL)
		return host_refuse(p, what, path, place, fault);
	return fault_set(fault, "%s: %s not found in PATH", what, name);
}

/*
 * Add a script's interpreter. "#!/usr/bin/env [-S] NAME ARG" becomes "#!NAME
 * ARG", and NAME is searched for in PATH here.
 */
static int
host_interpreter(struct host_program *p, const struct host_how *h,
    const char *what, char *line, struct fault *fault)
{
	char *word, *arg;

	line[strcspn(line, "\r\n")] = '\0';
	line += 2 + strspn(line + 2, " \t");
	word = line;
	arg = word + strcspn(word, " \t");
	if (*arg != '\0')
		*arg++ = '\0';
	arg += strspn(arg, " \t");
	if (strcmp(word, "/usr/bin/env") == 0 ||
	    strcmp(word, "/bin/env") == 0) {
		if (strncmp(arg, "-S", 2) == 0)
			arg += 2 + strspn(arg + 2, " \t");
		if (arg[0] == '-' || strpbrk(arg, "='\"\\$") != NULL)
			return fault_set(fault,
			    "%s: its first line uses options of env that are "
			    "not supported here: name the interpreter",
			    what);
		word = arg;
		arg = word + strcspn(word, " \t");
		if (*arg != '\0')
			*arg++ = '\0';
		arg += strspn(arg, " \t");
	}
	for (size_t n = strlen(arg);
	     n > 0 && strchr(" \t", arg[n - 1]) != NULL;)
		arg[--n] = '\0';
	if (arg[0] != '\0' &&
	    (p->files[p->nfiles - 1].arg = strdup(arg)) == NULL)
		return fault_errno(fault, "%s", what);
	return host_add(p, h, what, word, fault);
}

/* Add the interpreter of the last of files[], if that is a script. */
static int
host_script(struct host_program *p, const struct host_how *h, const char *what,
    struct fault *fault)
{
	char self[32], line[HOST_LINE + 1];
	ssize_t n;
	int fd;

	snprintf(
	    self, sizeof(self), "/proc/self/fd/%d", p->files[p->nfiles - 1].fd);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* A file that is executable but not readable cannot be a script. */
	if (fd == -1)
		return errno == EACCES ? 0 : fault_errno(fault, "%s", what);
	n = pread(fd, line, HOST_LINE, 0);
	close(fd);
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[n] = '\0';
	return host_interpreter(p, h, what, line, fault);
}

static int
host_add(struct host_program *p, const struct host_how *h, const char *what,
    const char *name, struct fault *fault)
{
	char path[PATH_MAX];
	unsigned i = p->nfiles;
	int fd;

	if (i == HOST_MAX_FILES)
		return fault_set(fault,
		    "%s: more than %u interpreters of interpreters", what,
		    HOST_MAX_FILES - 1);
	if (name[0] == '/') {
		fd = host_open(p, h, what, name, fault);
	} else if (i == 0 && strncmp(name, "~/", 2) == 0) {
		snprintf(path, sizeof(path), "%s%s", h->user_home, name + 1);
		fd = host_open(p, h, what, path, fault);
	} else if (name[0] == '\0' || strchr(name, '/') != NULL) {
		return fault_set(fault,
		    "%s: %s: write the whole path, or a plain name to be found "
		    "in PATH",
		    what, name);
	} else {
		fd = host_search(p, h, what, name, fault);
	}
	if (fd == -1)
		return -1;
	p->files[i].fd = fd;
	p->nfiles++;
	if ((p->files[i].name = strdup(name)) == NULL)
		return fault_errno(fault, "%s", what);
	return host_script(p, h, what, fault);
}

int
host_program_find(struct host_program *p, const struct host_how *h,
    const char *what, const char *name, struct fault *fault)
{
	bool refused;

	memset(p, 0, sizeof(*p));
	if (host_add(p, h, what, name, fault) == 0)
		return 0;
	refused = p->refused;
	host_program_free(p);
	p->refused = refused;
	return -1;
}

void
host_program_free(struct host_program *p)
{
	for (unsigned i = 0; i < p->nfiles; i++) {
		close(p->files[i].fd);
		free(p->files[i].name);
		free(p->files[i].arg);
	}
	memset(p, 0, sizeof(*p));
}

const char *
host_program_reached(const struct host_program *p, const struct places *places)
{
	const char *place = NULL;
	char *path;

	for (unsigned i = 0; place == NULL && i < p->nfiles; i++) {
		if ((path = paths_of_fd(p->files[i].fd)) == NULL)
			return "a place that cannot be found out";
		place = places_of(places, path, NULL);
		free(path);
	}
	return place;
}

char **
host_program_argv(const struct host_program *p, struct spawn *s)
{
	size_t n = 0, k = 0;
	char **argv;

	while (s->argv[n] != NULL)
		n++;
	argv = calloc(n + 3 * HOST_MAX_FILES, sizeof(*argv));
	if (argv == NULL)
		return NULL;
	/* From the binary back to the program itself. */
	argv[k++] =
	    strdup(p->nfiles == 1 ? s->argv[0] : p->files[p->nfiles - 1].name);
	for (unsigned i = p->nfiles - 1; i-- > 0;) {
		if (p->files[i].arg != NULL)
			argv[k++] = strdup(p->files[i].arg);
		if (asprintf(&argv[k++], "/proc/self/fd/%zu", s->nfds) == -1)
			argv[k - 1] = NULL;
		s->fds[s->nfds++] = p->files[i].fd;
	}
	for (size_t i = 1; i < n; i++)
		argv[k++] = strdup(s->argv[i]);
	for (size_t i = 0; i < k; i++)
		if (argv[i] == NULL) {
			for (; k > 0; k--)
				free(argv[k - 1]);
			free(argv);
			errno = ENOMEM;
			return NULL;
		}
	return argv;
}

int
host_program_start(const struct host_program *p, const struct places *places,
    const struct spawn *how, struct spawned *out)
{
	const struct environ_how usual = {
	    .places = places, .user_home = "/", .listed = NULL};
	struct spawn s = *how;
	char **argv, **env = NULL;
	int rv = -1;

	if (p->nfiles == 0 || s.nfds + p->nfiles - 1 > SPAWN_MAX_FDS) {
		errno = p->nfiles == 0 ? ENOENT : E2BIG;
		return -1;
	}
	if ((argv = host_program_argv(p, &s)) == NULL)
		return -1;
	s.argv = argv;
	if (s.envp == NULL)
		s.envp = env = host_environ(&usual, environ);
	if (s.cwd == NULL)
		s.cwd = "/";
	s.by_fd = true;
	s.exec = p->files[p->nfiles - 1].fd;
	if (s.envp != NULL)
		rv = spawn_start(&s, out);
	jsonfile_strings_free(env);
	jsonfile_strings_free(argv);
	return rv;
}
