/* SPDX-License-Identifier: ISC */
/*
 * Takes back keys of sessions that could not do so themselves. The commands are
 * those of config.json as it was at the session's start; a program or a word
 * that an agent can write by now is refused.
 */
#include "icctl/revoke.h"

#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/jsonfile.h"
#include "base/session.h"
#include "base/spawn.h"
#include "common/wordlist.h"
#include "credential/revoke.h"
#include "icctl/driver/places.h"

#define LEFT_MS 10000
#define LEFT_WORDS 64U

/* Fill a list of words. Returns false if it is none, or too long. */
static bool
left_words(
    json_object *o, const char *key, const char *session, struct wordlist *w)
{
	json_object *list = get_typed(o, key, json_type_array);
	const char *word;

	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		word =
		    json_object_get_string(json_object_array_get_idx(list, i));
		if (word == NULL)
			return false;
		wordlist_add(
		    w, strcmp(word, "{session}") == 0 ? session : word);
	}
	return wordlist_end(w) != NULL;
}

/* Make the variables of a host command. Returns NULL if they are too many. */
static char *const *
left_environ(const char *const *more, struct wordlist *env)
{
	static const char *const names[] = {
	    "HOME", "USER", "LOGNAME", "LANG", "PATH", "XDG_RUNTIME_DIR"};
	const char *name, *value;
	char *text;

	for (size_t i = 0; i < nitems(names) || *more != NULL; i++) {
		name = i < nitems(names) ? names[i] : *more++;
		if ((value = getenv(name)) != NULL &&
		    asprintf(&text, "%s=%s", name, value) != -1)
			wordlist_add(env, text);
	}
	return wordlist_end(env);
}

/* Returns true if an agent can write the program, or what a word names. */
static bool
left_refused(const struct icctl *ctl, const char *what, const char *path,
    char *const *argv)
{
	const char *who = places_writer(ctl->home, path);
	char real[4096];

	for (; who == NULL && *argv != NULL; argv++)
		if ((*argv)[0] == '/' && realpath(*argv, real) != NULL)
			who = places_writer(ctl->home, real);
	if (who != NULL)
		warnx("%s is not run, because the agent of %s can write what "
		      "it names",
		    what, who);
	return who != NULL;
}

/* Run one command. Returns true if it has succeeded. */
static bool
left_run(const struct icctl *ctl, json_object *o, const char *session)
{
	const char *argv[LEFT_WORDS], *more[LEFT_WORDS], *env[LEFT_WORDS];
	struct wordlist words = WORDLIST_IN(argv), listed = WORDLIST_IN(more),
			variables = WORDLIST_IN(env);
	struct spawned sp = SPAWNED_INIT;
	struct spawn s = {
	    .fds = {-1, -1, STDERR_FILENO}, .nfds = 3, .session = true};
	struct pollfd p = {.events = POLLIN};
	char what[128], path[4096];
	int code = 0, status = 0;
	bool good = false;

	snprintf(what, sizeof(what), "credentials.%.64s.revoke",
	    get_str(o, "credential", "?"));
	if (!left_words(o, "command", session, &words) || words.n == 0 ||
	    !left_words(o, "variables", "", &listed) ||
	    (s.envp = left_environ(more, &variables)) == NULL ||
	    !places_program(argv[0], path)) {
		warnx("%s: its program is not found", what);
		return false;
	}
	s.path = path;
	s.argv = (char *const *)(uintptr_t)argv;
	if (!left_refused(ctl, what, path, s.argv) &&
	    spawn_start(&s, &sp) == 0 && spawn_check(&sp) == 0) {
		p.fd = sp.pidfd;
		(void)poll(&p, 1, LEFT_MS);
		good = spawn_reap(sp.pidfd, false, &code, &status) == 1 &&
		       spawn_status(code, status) == 0;
	}
	spawn_stop(&sp, 0);
	for (size_t i = 0; i < variables.n; i++)
		free((char *)(uintptr_t)env[i]);
	if (!good)
		warnx("%s has failed for the session %s: its key may still be "
		      "good",
		    what, session);
	return good;
}

/* Write the list again, or remove it if it is empty. */
static void
left_keep(int dirfd, json_object *o, json_object *failed)
{
	if (json_object_array_length(failed) == 0) {
		(void)unlinkat(dirfd, REVOKE_FILE, 0);
		return;
	}
	json_object_object_add(o, "revoke", json_object_get(failed));
	if (session_write(dirfd, REVOKE_FILE, 0600,
		span_str(json_object_to_json_string(o))) == -1)
		warn("%s", REVOKE_FILE);
}

int
revoke_left(const struct icctl *ctl, int dirfd)
{
	int fd = openat(
	    dirfd, REVOKE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	json_object *o = fd == -1 ? NULL : json_object_from_fd(fd), *list, *one;
	json_object *failed;
	bool good;

	if (fd == -1)
		return 0;
	close(fd);
	list = get_typed(o, "revoke", json_type_array);
	if (list == NULL || get_str(o, "session", "")[0] == '\0') {
		warnx("%s cannot be read: a key of the session may still be "
		      "good",
		    REVOKE_FILE);
		json_object_put(o);
		return -1;
	}
	failed = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		one = json_object_array_get_idx(list, i);
		if (!left_run(ctl, one, get_str(o, "session", "")))
			json_object_array_add(failed, json_object_get(one));
	}
	good = json_object_array_length(failed) == 0;
	left_keep(dirfd, o, failed);
	json_object_put(failed);
	json_object_put(o);
	return good ? 0 : -1;
}
