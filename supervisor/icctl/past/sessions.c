/* SPDX-License-Identifier: ISC */
/*
 * Lists the sessions of a person that have a log. Anything else may be in the
 * same directories, and is passed over.
 */
#include "icctl/past/past.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/newest.h"

static void
list_add(struct past_sessions *all, const char *id, const char *dir)
{
	struct past_session *s;

	if (all->n % 64 == 0) {
		s = reallocarray(all->list, all->n + 64, sizeof(*s));
		if (s == NULL)
			err(ICCTL_FAILED, "sessions");
		all->list = s;
	}
	s = &all->list[all->n];
	(void)strlcpy(s->id, id, sizeof(s->id));
	if ((s->dir = strdup(dir)) == NULL)
		err(ICCTL_FAILED, "sessions");
	all->n++;
}

/* Returns true if the directory is this user's and has a log. */
static bool
list_has_log(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	bool has;

	if (fd == -1)
		return false;
	has =
	    fstat(fd, &st) == 0 && st.st_uid == geteuid() && auditparts_any(fd);
	close(fd);
	return has;
}

static int
by_id(const void *a, const void *b)
{
	const struct past_session *x = a, *y = b;

	return strcmp(x->id, y->id);
}

/* Add what is in a directory; links of run/ lead to sessions elsewhere. */
static void
list_in(struct past_sessions *all, const char *home, const char *sub)
{
	size_t known = all->n;
	struct past_session key;
	char dir[4600];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.4000s/%s", home, sub);
	if ((d = opendir(dir)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		(void)strlcpy(key.id, e->d_name, sizeof(key.id));
		if (e->d_name[0] == '.' ||
		    (known != 0 && bsearch(&key, all->list, known, sizeof(key),
				       by_id) != NULL))
			continue;
		snprintf(
		    dir, sizeof(dir), "%.4000s/%s/%s", home, sub, e->d_name);
		if (list_has_log(dir))
			list_add(all, e->d_name, dir);
	}
	closedir(d);
	if (all->n != 0)
		qsort(all->list, all->n, sizeof(*all->list), by_id);
}

int
past_list(struct icctl *ctl, struct past_sessions *all)
{
	const char *slash;
	char shown[ICCTL_PATH];
	int r;

	memset(all, 0, sizeof(*all));
	if (ctl->session == NULL) {
		list_in(all, ctl->home, "sessions");
		list_in(all, ctl->home, "run");
		return 0;
	}
	if ((r = icctl_find(ctl)) != 0)
		return r;
	slash = strrchr(ctl->dir, '/');
	if (!list_has_log(ctl->dir)) {
		warnx("%s is not a session directory: it has no audit.jsonl",
		    icctl_path(ctl->dir, shown));
		return ICCTL_NO_SESSION;
	}
	list_add(all, slash == NULL ? ctl->dir : slash + 1, ctl->dir);
	return 0;
}

int
past_newest(struct icctl *ctl)
{
	static char dir[sizeof(ctl->dir)];
	char shown[ICCTL_PATH];

	if (ctl->session != NULL)
		return 0;
	if (icctl_newest(ctl) == -1) {
		warnx(
		    "no session in %s/sessions", icctl_path(ctl->home, shown));
		return ICCTL_NO_SESSION;
	}
	(void)strlcpy(dir, ctl->dir, sizeof(dir));
	ctl->session = dir;
	return 0;
}

void
past_list_free(struct past_sessions *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->list[i].dir);
	free(all->list);
	memset(all, 0, sizeof(*all));
}

const char *
past_project(
    const struct past_session *s, const char *workspace, char *dst, size_t cap)
{
	json_object *clone = NULL;
	const char *from = workspace;
	size_t n = strlen(s->dir);

	/* A clone lies in the session's own directory. */
	if (strncmp(workspace, s->dir, n) == 0 ||
	    strstr(workspace, "/sessions/") != NULL)
		clone = newest_read(s->dir, "clone.json");
	if (clone != NULL)
		from = icctl_text(
		    clone, icctl_text(clone, "dir")[0] != '\0' ? "dir" : "url");
	(void)strlcpy(dst, from[0] != '\0' ? from : "(none)", cap);
	json_object_put(clone);
	return dst;
}
