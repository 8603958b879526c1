/* SPDX-License-Identifier: ISC */
/*
 * The files of a login, below IRONCURTAIN_HOME/logins: mcp-NAME.json, with the
 * tokens, which only mcp-grantd and keyds read and write, and
 * mcp-NAME.server.json, with what is no secret. Both are put in place under the
 * lock that everyone takes who renews a login.
 */
#include "icctl/mcp/login/login.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/own_file.h"
#include "common/log.h"

#define LOCK_TRIES 600U /* each of them takes 100 ms */

void
files_provider(const char *name, char dst[80])
{
	size_t n = (size_t)snprintf(dst, 80, "mcp-%.64s", name);

	for (size_t i = 4; i < n && i < 80; i++) {
		if (dst[i] >= 'A' && dst[i] <= 'Z')
			dst[i] = (char)(dst[i] - 'A' + 'a');
		else if (dst[i] == '_')
			dst[i] = '-';
	}
}

void
files_name(struct login_files *f, const char *home, const char *provider)
{
	snprintf(f->dir, sizeof(f->dir), "%.4000s/logins", home);
	snprintf(f->token, sizeof(f->token), "%s/%.80s.json", f->dir, provider);
	snprintf(f->server, sizeof(f->server), "%s/%.80s.server.json", f->dir,
	    provider);
}

int
files_dir(const struct login_files *f)
{
	if (mkdir(f->dir, 0700) == -1 && errno != EEXIST) {
		icctl_warn_errno(f->dir);
		return -1;
	}
	return 0;
}

int
files_one(const struct login *l)
{
	char path[4400];
	int fd;

	snprintf(
	    path, sizeof(path), "%s/.%s.login.lock", l->files.dir, l->provider);
	fd = open(
	    path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (fd == -1) {
		icctl_warn_errno(path);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	warnx("another login of %s is under way; end it first", l->name);
	close(fd);
	return -1;
}

int
files_temp(const struct login *l, char *path, size_t cap)
{
	int fd;

	/*
	 * Sessions that renew the login remove what other renewals have left;
	 * this file is not of that kind. One that is there is of a login that
	 * was killed: only one is under way.
	 */
	snprintf(path, cap, "%s/.%s.login.json", l->files.dir, l->provider);
	if (unlink(path) == -1 && errno != ENOENT) {
		icctl_warn_errno(path);
		return -1;
	}
	fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd == -1)
		icctl_warn_errno(path);
	return fd;
}

int
files_lock(const struct login_files *f, struct renewal *r)
{
	const struct timespec wait = {.tv_nsec = 100000000};
	int rv;

	*r = (struct renewal){.dir = (char *)(uintptr_t)f->dir,
	    .dirfd = -1,
	    .own = -1,
	    .temp = -1};
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if ((rv = renew_lock(r)) == 1)
			return 0;
		if (rv == -1) {
			icctl_warn_errno(f->dir);
			return -1;
		}
		(void)nanosleep(&wait, NULL);
	}
	warnx("%s: another program has locked it for a minute", f->dir);
	return -1;
}

static void
put_list(struct json_object *o, const char *key, const char *scopes)
{
	struct json_object *list = json_object_new_array();
	size_t n;

	for (; *scopes != '\0'; scopes += n + (scopes[n] == ' ')) {
		n = strcspn(scopes, " ");
		json_object_array_add(
		    list, json_object_new_string_len(scopes, (int)n));
	}
	json_object_object_add(o, key, list);
}

/* Write what is no secret. */
static int
files_say(const struct login *l)
{
	struct json_object *o = json_object_new_object();
	struct place token, revocation;
	const char *text, *why;
	char port[16];
	int rv = 0;

	(void)plan_place(l->server.token, &token, &why);
	snprintf(port, sizeof(port), "%u", token.port);
	put_str(o, "server", l->url);
	put_str(o, "issuer", l->issuer);
	put_str(o, "tokenHost", token.host);
	put_str(o, "tokenPort", port);
	put_str(o, "tokenPath", token.path);
	if (plan_place(l->server.revocation, &revocation, &why) == 0)
		put_str(o, "revocation", l->server.revocation);
	put_str(o, "resource", l->resource);
	put_str(o, "client", l->client);
	put_str(o, "clientFrom", l->client_from);
	put_list(o, "asked", l->wanted);
	put_list(o, "granted", l->granted[0] != '\0' ? l->granted : l->wanted);
	put_int(o, "at", (int64_t)time(NULL));
	put_int(o, "expires", (int64_t)l->end.expires);
	put_bool(o, "renews", l->end.renews != 0);
	text = json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text == NULL ||
	    jsonfile_replace(l->files.server, span_str(text)) == -1) {
		icctl_warn_errno(l->files.server);
		rv = -1;
	}
	json_object_put(o);
	return rv;
}

int
files_place(struct login *l, const char *temp, int fd)
{
	struct renewal lock;
	int rv = -1;

	if (files_lock(&l->files, &lock) == -1)
		return -1;
	/*
	 * The tokens name the endpoint that renews them, so that no session
	 * sends them to another one in between.
	 */
	if (fsync(fd) == -1 || rename(temp, l->files.token) == -1)
		icctl_warn_errno(l->files.token);
	else
		rv = files_say(l);
	if (lock.dirfd != -1)
		(void)fsync(lock.dirfd);
	renew_release(&lock);
	return rv;
}

struct json_object *
files_said(const struct login_files *f)
{
	const char *name = strrchr(f->server, '/') + 1;
	struct json_object *o = NULL;
	struct fault fault = {""};
	int dir = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir == -1)
		return NULL;
	if (access(f->token, F_OK) == 0)
		o = own_file_read(dir, f->dir, name, &fault);
	close(dir);
	return o;
}

unsigned
files_remove(const struct login_files *f)
{
	unsigned n = 0;

	n += unlink(f->token) == 0;
	n += unlink(f->server) == 0;
	return n;
}

/* Returns true if a session that runs has this remote server. */
static bool
tell_has(const char *dir, const char *provider)
{
	struct json_object *reply = icctl_ask_dir(dir, "keys"), *list = NULL;
	size_t n = 0;
	bool has = false;

	if (reply != NULL && json_object_object_get_ex(reply, "keys", &list))
		n = json_object_array_length(list);
	for (size_t i = 0; i < n; i++)
		has =
		    has || strcmp(icctl_text(json_object_array_get_idx(list, i),
				      "provider"),
			       provider) == 0;
	json_object_put(reply);
	return has;
}

static void
tell_one(const struct login *l, const char *dir)
{
	struct json_object *ask = json_object_new_object(), *reply = NULL;
	struct icctl_rest rest = {NULL, 0, 0};
	const char *id = strrchr(dir, '/') + 1;
	char vis[600];
	int fd = icctl_dial(dir);

	put_str(ask, "op", "keys-reload");
	put_str(ask, "id", l->provider);
	if (fd != -1 && icctl_tell(fd, ask) == 0)
		reply = icctl_receive(fd, &rest);
	if (reply != NULL && get_true(reply, "ok"))
		printf("Session %s uses it.\n", id);
	else
		printf("Session %s does not use it: %s\n", id,
		    log_vis(span_str(reply != NULL ? icctl_text(reply, "error")
						   : "it does not answer"),
			vis, sizeof(vis)));
	json_object_put(reply);
	json_object_put(ask);
	free(rest.p);
	if (fd != -1)
		close(fd);
}

static void
end_one(const struct login *l, const char *dir)
{
	const char *id = strrchr(dir, '/') + 1;

	printf("Session %s has its token in memory, and may use it until it "
	       "expires. To end that now: icctl stop %s\n",
	    id, id);
}

/* Call `one` for each session that runs and has the server. */
static void
files_each(
    const struct login *l, void (*one)(const struct login *, const char *))
{
	char run[4300], path[4600];
	struct dirent *e;
	DIR *d;

	snprintf(run, sizeof(run), "%.4000s/run", l->own.paths.home);
	if ((d = opendir(run)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%.255s", run, e->d_name);
		if (tell_has(path, l->provider))
			one(l, path);
	}
	closedir(d);
}

void
files_tell(const struct login *l)
{
	files_each(l, tell_one);
}

void
files_end(const struct login *l)
{
	files_each(l, end_one);
}
