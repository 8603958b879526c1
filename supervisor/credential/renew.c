/* SPDX-License-Identifier: ISC */
/*
 * Renews or creates a login file under the locks of renew_lock.c, which are
 * taken before the file is opened and held until the new one is in place.
 */
#include "credential/renew.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "core/sup.h"
#include "hub/control.h"
#include "hub/notify.h"

#define RENEW_TRY_MS 50U     /* plus up to as much again, at random */
#define RENEW_LOCK_MS 60000U /* after this, another program hangs */
#define RENEW_HELD_MS 75000U /* keyd's own deadlines are shorter */
#define RENEW_TOUCH_MS 5000U /* how often a lock directory is refreshed */
#define RENEW_RETRY_MS 10000U
#define RENEW_TURNS 4U
#define RENEW_MAX_FILE (1 << 20)

static void renew_tick(struct loop_timer *);

int
renew_init(struct renewal *r, unsigned provider, int fd,
    const struct provider_login *l, struct fault *fault)
{
	char *slash;

	r->provider = provider;
	r->dirfd = r->own = r->temp = -1;
	r->lock_dirs = (const char *const *)l->lock_dirs;
	r->lock_files = (const char *const *)l->lock_files;
	if ((r->path = paths_of_fd(fd)) == NULL ||
	    (r->dir = strdup(r->path)) == NULL)
		return fault_errno(fault, "credential %s", l->file);
	if ((slash = strrchr(r->dir, '/')) == NULL)
		return fault_set(fault, "credential %s: no directory", l->file);
	*slash = '\0';
	r->name = slash + 1;
	if (strlen(r->name) > 200)
		return fault_set(
		    fault, "credential %s: name too long", l->file);
	return 0;
}

int
renew_init_kept(
    struct renewal *r, unsigned provider, const char *path, struct fault *fault)
{
	char *slash;

	r->provider = provider;
	r->dirfd = r->own = r->temp = -1;
	if ((r->path = strdup(path)) == NULL || (r->dir = strdup(path)) == NULL)
		return fault_errno(fault, "%s", path);
	slash = strrchr(r->dir, '/');
	*slash = '\0';
	r->name = slash + 1;
	if (mkdir(r->dir, 0700) == -1 && errno != EEXIST)
		return fault_errno(fault, "%s", r->dir);
	return 0;
}

static uint64_t
renew_now(void)
{
	return clock_mono_us() / 1000;
}

static void
renew_drop_temp(struct renewal *r)
{
	if (r->temp == -1)
		return;
	(void)unlinkat(r->dirfd, r->temp_name, 0);
	close(r->temp);
	r->temp = -1;
}

static void
renew_unlock(struct renewal *r)
{
	renew_drop_temp(r);
	renew_release(r);
}

/* Remove files left by a session that was killed while it renewed. */
static void
renew_sweep(const struct renewal *r, const char *prefix)
{
	struct dirent *e;
	DIR *dir;

	if ((dir = opendir(r->dir)) == NULL)
		return;
	while ((e = readdir(dir)) != NULL)
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			(void)unlinkat(r->dirfd, e->d_name, 0);
	closedir(dir);
}

static int
renew_open_temp(struct renewal *r)
{
	char prefix[256];

	snprintf(prefix, sizeof(prefix), ".%.200s.ironcurtain-", r->name);
	renew_sweep(r, prefix);
	snprintf(r->temp_name, sizeof(r->temp_name), "%s%08x", prefix,
	    (unsigned)arc4random());
	r->temp = openat(r->dirfd, r->temp_name,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return r->temp == -1 ? -1 : 0;
}

/* Give keyd an empty file beside the login file to write to. */
static int
renew_hand_out(struct renewal *r)
{
	struct msg_SECRET_OUT out;
	int temp;

	if (renew_open_temp(r) == -1 ||
	    (temp = fcntl(r->temp, F_DUPFD_CLOEXEC, 0)) == -1)
		return -1;
	out = (struct msg_SECRET_OUT){.turn = ++r->turn};
	child_send(ROLE_KEY, r->provider, MSG_SECRET_OUT, &out, temp);
	r->phase = RENEWAL_HELD;
	loop_timer_set(&sup.loop, &r->timer, RENEW_TOUCH_MS, renew_tick, r);
	return 0;
}

/* Give keyd both files: the new one to write, then the old one to read. */
static int
renew_hand_over(struct renewal *r, const char **why)
{
	struct msg_SECRET in = {
	    .kind = (uint8_t)(sup.providers.list[r->provider].login + 1)};
	int fd;

	*why = "has no room beside it for a new file";
	if (r->why == PROTO_WANT_CAPTURED)
		return renew_hand_out(r);
	*why = "cannot be opened";
	fd = openat(r->dirfd, r->name,
	    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	if (fd == -1)
		return -1;
	errno = 0;
	*why = "is no longer a plain file of yours";
	if (fstat(fd, &r->seen) == -1 || !S_ISREG(r->seen.st_mode) ||
	    r->seen.st_uid != geteuid() || r->seen.st_size > RENEW_MAX_FILE)
		goto bad;
	*why = "has no room beside it for a new file";
	if (renew_hand_out(r) == -1)
		goto bad;
	child_send(ROLE_KEY, r->provider, MSG_SECRET, &in, fd);
	return 0;
bad:
	close(fd);
	return -1;
}

static void
renew_over(struct renewal *r)
{
	renew_unlock(r);
	loop_timer_clear(&sup.loop, &r->timer);
	r->phase = RENEWAL_NONE;
}

static void
renew_give_up(struct renewal *r, const char *what, int error)
{
	struct msg_SECRET_NONE m;
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s", what, error != 0 ? ": " : "",
	    error != 0 ? strerror(error) : "");
	sup_warn("login of %s (%s): %s", sup.providers.list[r->provider].name,
	    r->path, text);
	event_credential(r->provider, "failed", text);
	m = (struct msg_SECRET_NONE){.text = span_str(text)};
	child_send(ROLE_KEY, r->provider, MSG_SECRET_NONE, &m, -1);
	renew_over(r);
}

static void
renew_try(struct renewal *r)
{
	const char *why = "";

	switch (renew_lock(r)) {
	case 1:
		r->until = renew_now() + RENEW_HELD_MS;
		r->again = 0;
		if (renew_hand_over(r, &why) == -1)
			renew_give_up(r, why, errno);
		return;
	case 0:
		if (renew_now() >= r->until) {
			renew_give_up(
			    r, "another program has locked it for a minute", 0);
			return;
		}
		loop_timer_set(&sup.loop, &r->timer,
		    RENEW_TRY_MS + arc4random_uniform(RENEW_TRY_MS), renew_tick,
		    r);
		return;
	default:
		renew_give_up(r, "cannot be locked", errno);
		return;
	}
}

static void
renew_tick(struct loop_timer *t)
{
	struct renewal *r = t->arg;

	if (r->phase == RENEWAL_LOCKING) {
		renew_try(r);
		return;
	}
	if (renew_now() >= r->until) {
		renew_give_up(r, "keyd did not finish", 0);
		return;
	}
	for (unsigned i = 0; i < r->nheld; i++)
		(void)utimensat(AT_FDCWD, r->held[i], NULL, 0);
	loop_timer_set(&sup.loop, t, RENEW_TOUCH_MS, renew_tick, r);
}

int
renew_want(struct renewal *r, const struct msg_SECRET_WANT *m)
{
	if (r->path == NULL)
		return -1;
	if (r->phase != RENEWAL_NONE)
		return 0;
	r->phase = RENEWAL_LOCKING;
	r->why = (enum proto_want)m->why;
	r->until = renew_now() + RENEW_LOCK_MS;
	renew_try(r);
	return 0;
}

/* Returns true if a program that does not use the locks wrote to the file. */
static bool
renew_changed(const struct renewal *r)
{
	struct stat st;

	/* The latest login wins, whatever the file contained. */
	if (r->why == PROTO_WANT_CAPTURED)
		return false;
	return fstatat(r->dirfd, r->name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	       st.st_ino != r->seen.st_ino || st.st_dev != r->seen.st_dev ||
	       st.st_size != r->seen.st_size ||
	       st.st_mtim.tv_sec != r->seen.st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != r->seen.st_mtim.tv_nsec;
}

/* The new file is complete: sync it to disk, then rename it into place. */
static int
renew_place(struct renewal *r)
{
	mode_t mode = r->seen.st_mode & 07777;

	if (r->why == PROTO_WANT_CAPTURED)
		mode = 0600;
	if (fchmod(r->temp, mode) == -1 || fsync(r->temp) == -1 ||
	    renameat(r->dirfd, r->temp_name, r->dirfd, r->name) == -1)
		return -1;
	(void)fsync(r->dirfd);
	close(r->temp);
	r->temp = -1;
	return 0;
}

/* keyd may have noted in the file that its login has ended. */
static void
renew_place_ended(struct renewal *r)
{
	struct stat st;

	if (fstat(r->temp, &st) == 0 && st.st_size != 0 && renew_place(r) == -1)
		sup_warn("%s: that its login has ended cannot be noted: %s",
		    r->path, strerror(errno));
}

/*
 * Let keyd start over, so that neither its new token nor the change that
 * another program made is lost.
 */
static bool
renew_look_again(struct renewal *r)
{
	const char *why;

	renew_drop_temp(r);
	return ++r->again < RENEW_TURNS && renew_hand_over(r, &why) == 0;
}

/* Tell the user that a login began in the sandbox. */
static void
renew_tell(const struct renewal *r)
{
	const struct provider *p = &sup.providers.list[r->provider];

	sup_note("a login of %s (%s) was made in this session and is kept in "
		 "%s; later sessions use it. To remove it: icctl keys forget "
		 "%s",
	    p->name, p->logins[p->login].name, r->path, p->name);
	control_key(r->provider);
	notify_text("IronCurtain: the agent logged in to a provider; see "
		    "icctl keys");
}

int
credential_renew_done(struct renewal *r, const struct msg_SECRET_DONE *m)
{
	static const char *const results[] = {
	    "renewed", "adopted", "failed", "refused"};
	const char *name = sup.providers.list[r->provider].name;
	char text[256];
	bool captured;

	if (r->path == NULL)
		return -1;
	/* The answer belongs to a turn that was given up. */
	if (r->phase != RENEWAL_HELD || m->turn != r->turn)
		return 0;
	log_vis_again(m->text, text, sizeof(text));
	if (m->result != PROTO_DONE_KEPT && renew_changed(r) &&
	    renew_look_again(r))
		return 0;
	if (m->result == PROTO_DONE_WRITTEN && renew_place(r) == -1) {
		snprintf(text, sizeof(text),
		    "the new file cannot be put in its place: %s",
		    strerror(errno));
		sup_warn("login of %s (%s): %s. Until you correct that, only "
			 "this session has the renewed login",
		    name, r->path, text);
		event_credential(r->provider, "failed", text);
		/*
		 * Try again later: keyd sees from the old token in the file
		 * that it is stale.
		 */
		renew_unlock(r);
		r->phase = RENEWAL_LOCKING;
		r->until = renew_now() + RENEW_LOCK_MS;
		loop_timer_set(
		    &sup.loop, &r->timer, RENEW_RETRY_MS, renew_tick, r);
		return 0;
	}
	captured =
	    r->why == PROTO_WANT_CAPTURED && m->result == PROTO_DONE_WRITTEN;
	event_credential(
	    r->provider, captured ? "captured" : results[m->result], text);
	if (captured)
		renew_tell(r);
	else if (m->result == PROTO_DONE_REFUSED) {
		renew_place_ended(r);
		sup_warn("the login of %s has ended: %s. Log in again: icctl "
			 "%s %s",
		    name, text, sup_login(r->provider),
		    sup_login_name(r->provider));
	} else if (m->result == PROTO_DONE_FAILED)
		sup_warn("the login of %s was not renewed: %s", name, text);
	else
		sup_note("the login of %s is %s", name, results[m->result]);
	renew_over(r);
	return 0;
}

bool
renew_busy(const struct renewal *r)
{
	return r->path != NULL && r->phase == RENEWAL_HELD;
}

void
renew_close(struct renewal *r)
{
	if (r->path == NULL)
		return;
	renew_over(r);
	free(r->path);
	free(r->dir);
	r->path = r->dir = r->name = NULL;
}
