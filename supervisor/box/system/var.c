/* SPDX-License-Identifier: ISC */
/*
 * The list names the state of the package manager and of the directories in
 * which links are made by hand, as they were when the links were looked for.
 */
#include "box/system/var.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "base/session.h"
#include "base/small_file.h"
#include "box/view.h"
#include "common/buf.h"
#include "core/sup.h"

#define VAR_FILE "usr-links"
#define VAR_MAX_FILE 65536U
#define VAR_MAX_STATE 1024U

/* Write a line that changes when links may have changed. */
static void
var_state(char dst[VAR_MAX_STATE])
{
	static const char *const places[] = {"/usr/bin", "/usr/lib",
	    "/usr/share", "/usr/local/bin", "/usr/local/lib",
	    "/usr/local/share", "/etc/alternatives", "/var/lib/dpkg/status",
	    "/var/lib/rpm/rpmdb.sqlite", "/var/lib/pacman/local",
	    "/lib/apk/db/installed"};
	size_t len = 0;
	struct stat st;

	dst[0] = '\0';
	for (size_t i = 0; i < nitems(places); i++) {
		if (stat(places[i], &st) == -1)
			memset(&st, 0, sizeof(st));
		len += (size_t)snprintf(dst + len, VAR_MAX_STATE - len,
		    "%llu.%lld.%09ld ", (unsigned long long)st.st_ino,
		    (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	}
}

int
var_add(struct var_list *l, const char *path)
{
	char *copy;

	for (size_t i = 0; i < l->n; i++)
		if (paths_under(path, l->paths[i]))
			return 0;
	if (l->n == nitems(l->paths))
		return 0;
	if ((copy = strdup(path)) == NULL)
		return -1;
	/* It replaces what lies below it. */
	for (size_t i = 0; i < l->n;) {
		if (!paths_under(l->paths[i], copy)) {
			i++;
			continue;
		}
		free(l->paths[i]);
		l->paths[i] = l->paths[--l->n];
	}
	l->paths[l->n++] = copy;
	return 0;
}

bool
var_load(int store, struct var_list *l)
{
	static char text[VAR_MAX_FILE];
	char state[VAR_MAX_STATE], *line, *save;

	if (small_file_read(store, VAR_FILE, text, sizeof(text)) == -1 ||
	    (line = strtok_r(text, "\n", &save)) == NULL)
		return false;
	var_state(state);
	if (strcmp(line, state) != 0)
		return false;
	while ((line = strtok_r(NULL, "\n", &save)) != NULL)
		if (line[0] == '/')
			(void)var_add(l, line);
	return true;
}

void
var_save(int store, const struct var_list *l)
{
	char state[VAR_MAX_STATE];
	struct buf b;

	var_state(state);
	buf_init(&b, VAR_MAX_FILE - 1);
	buf_printf(&b, "%s\n", state);
	for (size_t i = 0; i < l->n; i++)
		if (strchr(l->paths[i], '\n') == NULL)
			buf_printf(&b, "%s\n", l->paths[i]);
	/* Without it, a later session looks again. */
	if (b.failed ||
	    session_write(store, VAR_FILE, 0600, buf_span(&b)) == -1)
		sup_note("%s: %s", VAR_FILE, strerror(errno));
	buf_free(&b);
}

/* Returns true if a file may hold a credential. */
static bool
var_secret(const char *path)
{
	static uint8_t text[1U << 20];
	const char *slash = strrchr(path, '/');
	ssize_t n;
	int fd;

	if (secretive_name(slash + 1) != NULL)
		return true;
	fd = open(
	    path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return true;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n == -1 || secretive_text(span_of(text, (size_t)n)) != NULL ||
	       secretive_setting(span_of(text, (size_t)n)) != NULL;
}

int
var_open(const char *path)
{
	char *real = NULL;
	struct stat st;
	bool may;
	int fd;

	if ((fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return -1;
	/* No link on its way leads to another place. */
	may = fstat(fd, &st) == 0 && (real = paths_of_fd(fd)) != NULL &&
	      strcmp(real, path) == 0;
	if (may && S_ISDIR(st.st_mode))
		may = (st.st_mode & 05) == 05;
	else if (may)
		may = S_ISREG(st.st_mode) && (st.st_mode & 04) != 0 &&
		      !var_secret(path);
	free(real);
	if (may)
		return fd;
	close(fd);
	return -1;
}
