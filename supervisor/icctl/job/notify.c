/* SPDX-License-Identifier: ISC */
/*
 * Tells a person how a run ended, by the notify program of config.json. It is
 * found before an agent runs, and never where an agent of any session can
 * write; if another file has taken its place since, it is not run.
 */
#include "icctl/job/job.h"

#include <sys/stat.h>

#include <err.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/spawn.h"
#include "common/wordlist.h"
#include "icctl/driver/places.h"
#include "icctl/newest.h"

#define NOTIFY_WORDS 64U
#define NOTIFY_MS 10000

/* Returns the words of the command, or NULL. */
static json_object *
notify_words(json_object *config)
{
	json_object *o = get_member(config, "notify");

	if (json_object_is_type(o, json_type_object))
		o = get_member(o, "command");
	return json_object_is_type(o, json_type_array) &&
		       json_object_array_length(o) != 0 &&
		       json_object_array_length(o) < NOTIFY_WORDS
		   ? o
		   : NULL;
}

void
job_notify_find(const struct icctl *ctl, struct job_notify *n)
{
	json_object *config = newest_read(ctl->home, "config.json"),
		    *words = notify_words(config);
	const char *word, *who;
	struct stat st;

	memset(n, 0, sizeof(*n));
	if (words == NULL ||
	    (n->argv = calloc(NOTIFY_WORDS + 2, sizeof(*n->argv))) == NULL)
		goto out;
	for (; n->n < json_object_array_length(words); n->n++) {
		word = json_object_get_string(
		    json_object_array_get_idx(words, n->n));
		if (word == NULL || (n->argv[n->n] = strdup(word)) == NULL)
			goto bad;
		if (word[0] == '/' &&
		    (who = places_writer(ctl->home, word)) != NULL) {
			warnx("notify: %s is not used, because the agent of %s "
			      "can write it",
			    word, who);
			goto bad;
		}
	}
	if (!places_program(n->argv[0], n->path) || stat(n->path, &st) == -1) {
		warnx("notify: the program %s is not found", n->argv[0]);
		goto bad;
	}
	if ((who = places_writer(ctl->home, n->path)) != NULL) {
		warnx("notify: %s is not run, because the agent of %s can "
		      "write it",
		    n->path, who);
		goto bad;
	}
	n->dev = st.st_dev;
	n->ino = st.st_ino;
	goto out;
bad:
	for (size_t i = 0; i < NOTIFY_WORDS; i++)
		free(n->argv[i]);
	free(n->argv);
	n->argv = NULL;
out:
	json_object_put(config);
}

/* The variables that it gets; keys of a shell stay behind. */
static char *const *
notify_env(const char *list[16], char text[15][1024])
{
	static const char *const names[] = {"HOME", "USER", "LOGNAME", "LANG",
	    "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
	    "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "PATH"};
	struct wordlist w = {.v = list, .max = 16};
	const char *value;

	for (size_t i = 0; i < nitems(names); i++) {
		if ((value = getenv(names[i])) == NULL)
			continue;
		snprintf(
		    text[i], sizeof(text[i]), "%s=%.1000s", names[i], value);
		wordlist_add(&w, text[i]);
	}
	return wordlist_end(&w);
}

void
job_notify(struct job_notify *n, const char *text)
{
	struct spawned sp = SPAWNED_INIT;
	struct spawn s = {.path = n->path, .fds = {-1, -1, -1}, .nfds = 3};
	const char *env[16];
	char values[15][1024];
	struct pollfd p = {.events = POLLIN};
	struct stat st;

	if (n->argv == NULL)
		return;
	n->argv[n->n] = strdup(text);
	s.argv = n->argv;
	s.envp = notify_env(env, values);
	s.session = true;
	if (stat(n->path, &st) == -1 || st.st_dev != n->dev ||
	    st.st_ino != n->ino) {
		warnx(
		    "notify: %s is another file now, and is not run", n->path);
	} else if (spawn_start(&s, &sp) == -1 || spawn_check(&sp) == -1) {
		warn("notify: %s", n->path);
	} else {
		p.fd = sp.pidfd;
		if (poll(&p, 1, NOTIFY_MS) == 0)
			warnx(
			    "notify: %s took too long and was ended", n->path);
		spawn_stop(&sp, 0);
	}
	for (size_t i = 0; i <= n->n; i++)
		free(n->argv[i]);
	free(n->argv);
	n->argv = NULL;
}
