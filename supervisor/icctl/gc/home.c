/* SPDX-License-Identifier: ISC */
/*
 * `icctl home`: lists the homes of agents that stay (--home project), and
 * removes one. Agents may have filled them with traps: they are removed through
 * descriptors, no link is followed, and one that a session uses is refused.
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

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/tree.h"
#include "common/log.h"
#include "common/time_text.h"
#include "home/store.h"
#include "icctl/words.h"

/* Returns the opened homes, or -1 with errno set. */
static int
homes_open(const struct icctl *ctl)
{
	char path[4200];

	snprintf(path, sizeof(path), "%.4000s/" HOMES, ctl->home);
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns home.json, which the caller owns, or NULL. */
static json_object *
home_json(int dirfd)
{
	int fd = openat(dirfd, HOME_FILE,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	json_object *o = fd == -1 ? NULL : json_object_from_fd(fd);

	if (fd != -1)
		close(fd);
	return o;
}

static uint64_t
home_bytes(int homes, const char *id)
{
	struct tree t = {.dry = true};
	struct stat st;

	if (fstat(homes, &st) == -1)
		return 0;
	t.dev = st.st_dev;
	tree_whole(&t, homes, id);
	return t.bytes;
}

static void
home_print(json_object *o)
{
	char when[TIME_TEXT], path[ICCTL_PATH];
	int64_t used = (int64_t)icctl_number(o, "used");

	printf("%s  %s  %6llu MiB  ", icctl_text(o, "id"),
	    used > 0 ? time_text_local(used, when) : "-",
	    (unsigned long long)icctl_number(o, "bytes") >> 20);
	icctl_put_str(icctl_text(o, "agent"));
	printf("  ");
	icctl_put_str(icctl_path(icctl_text(o, "workspace"), path));
	printf("%s\n", get_true(o, "inUse") ? "  (in use)" : "");
}

/* Returns what is known of a home, which the caller owns, or NULL. */
static json_object *
home_row(int homes, const char *id)
{
	int dir, lock;
	json_object *o;

	if (!home_id_ok(id) || (dir = tree_open(homes, id, false)) == -1)
		return NULL;
	if ((o = home_json(dir)) == NULL)
		o = json_object_new_object();
	put_str(o, "id", id);
	put_int(o, "bytes", (int64_t)home_bytes(homes, id));
	lock = home_take(dir);
	put_bool(o, "inUse", lock == -1 && errno == EWOULDBLOCK);
	if (lock != -1)
		close(lock);
	close(dir);
	return o;
}

static int
home_list(const struct icctl *ctl)
{
	json_object *list = json_object_new_array(), *all, *row;
	int homes = homes_open(ctl), copy;
	struct dirent *e;
	DIR *dir = NULL;

	if (homes != -1 &&
	    (copy = openat(homes, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) !=
		-1)
		dir = fdopendir(copy);
	while (dir != NULL && (e = readdir(dir)) != NULL)
		if ((row = home_row(homes, e->d_name)) != NULL)
			json_object_array_add(list, row);
	if (dir != NULL)
		closedir(dir);
	if (homes != -1)
		close(homes);
	if (ctl->json) {
		all = json_object_new_object();
		put_bool(all, "ok", 1);
		json_object_object_add(all, "homes", list);
		icctl_put_json(all);
		json_object_put(all);
		return ICCTL_OK;
	}
	for (size_t i = 0; i < json_object_array_length(list); i++)
		home_print(json_object_array_get_idx(list, i));
	if (json_object_array_length(list) == 0)
		puts("no homes (icctl start --home project makes them)");
	json_object_put(list);
	return ICCTL_OK;
}

static int
home_refused(int dir, const char *id)
{
	char user[HOME_USER_MAX], path[ICCTL_PATH];

	if (errno != EWOULDBLOCK) {
		warn("home %s", id);
		return ICCTL_FAILED;
	}
	home_user(dir, user);
	fprintf(stderr, "icctl: home %s: session ", id);
	log_vis(span_str(user), path, sizeof(path));
	fprintf(stderr, "%s uses it. End that first: icctl stop\n", path);
	return ICCTL_FAILED;
}

static int
home_remove(int homes, const char *id)
{
	struct tree t = {.dry = false};
	struct stat st;
	int dir, lock;

	if (!home_id_ok(id) || (dir = tree_open(homes, id, false)) == -1) {
		warnx("there is no home of this id: icctl home lists them");
		return ICCTL_FAILED;
	}
	if ((lock = home_take(dir)) == -1) {
		home_refused(dir, id);
		close(dir);
		return ICCTL_FAILED;
	}
	if (fstat(dir, &st) == 0) {
		t.dev = st.st_dev;
		tree_whole(&t, homes, id);
	}
	close(lock);
	close(dir);
	if (faccessat(homes, id, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		warnx("home %s: not all of it could be removed", id);
		return ICCTL_FAILED;
	}
	return ICCTL_OK;
}

int
icctl_home(struct icctl *ctl, int argc, char **argv)
{
	int homes, rv = ICCTL_OK;

	if (argc == 1 || (argc == 2 && strcmp(argv[1], "ls") == 0))
		return home_list(ctl);
	if (argc < 3 || strcmp(argv[1], "rm") != 0)
		return words_usage();
	homes = homes_open(ctl);
	for (int i = 2; i < argc; i++)
		if (home_remove(homes, argv[i]) != ICCTL_OK)
			rv = ICCTL_FAILED;
	if (homes != -1)
		close(homes);
	return rv;
}
