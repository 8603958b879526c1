/* SPDX-License-Identifier: ISC */
/*
 * The key of a provider: in the environment, named in config.json, or typed
 * here, unseen. A typed one goes to a private file, and config.json names that.
 */
#include "icctl/settings/setup.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <readpassphrase.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"

/* Returns true if config.json says where the key is. */
static bool
key_is_named(struct setup *s)
{
	json_object *o = NULL;

	return json_object_object_get_ex(s->file.root, "credentials", &o) &&
	       json_object_object_get_ex(o, s->provider->provider, &o) &&
	       icctl_text(o, "login")[0] == '\0' &&
	       icctl_text(o, "capture")[0] == '\0';
}

/* Returns true if it may be a key: printable ASCII without a space. */
static bool
key_may_be(const char *key)
{
	if (strlen(key) < 8 || strlen(key) > SETUP_KEY)
		return false;
	for (; *key != '\0'; key++)
		if (*key <= ' ' || *key > '~')
			return false;
	return true;
}

/* Name the file in config.json, in place of any other credential. */
static int
key_name(struct setup *s)
{
	json_object *o = json_object_new_object();
	char key[128];

	put_str(o, "file", s->path);
	snprintf(key, sizeof(key), "credentials.%s", s->provider->provider);
	s->given = true;
	return setup_put(s, key, o);
}

/*
 * Read a key, unseen. Returns 1 if there is one, 0 if none was typed, or -1 at
 * the end of input.
 */
static int
key_read(struct setup *s)
{
	for (;;) {
		if (readpassphrase("Key (it is not shown): ", s->secret,
			sizeof(s->secret), RPP_REQUIRE_TTY) == NULL)
			return -1;
		if (s->secret[0] == '\0')
			return 0;
		if (key_may_be(s->secret))
			return 1;
		setup_say("A key is a single word of 8 to 4096 letters, digits "
			  "and signs.");
	}
}

bool
setup_key_again(struct setup *s)
{
	char answer[16];

	return setup_ask("Type another key?", "y", answer, sizeof(answer)) &&
	       (answer[0] == 'y' || answer[0] == 'Y') && key_read(s) == 1 &&
	       setup_key_save(s) == 0;
}

int
setup_key(struct setup *s)
{
	const char *env = getenv(s->provider->env);
	char shown[ICCTL_PATH], answer[16];
	int n;

	putchar('\n');
	if (key_is_named(s)) {
		setup_say("config.json already says where the key of %s is. To "
			  "name another: icctl config edit",
		    s->provider->provider);
		return 0;
	}
	if (env != NULL && env[0] != '\0') {
		setup_say("Sessions take the key from %s, which is set.",
		    s->provider->env);
		s->given = true;
		return 0;
	}
	snprintf(s->path, sizeof(s->path), "%.4000s/keys/%s", s->ctl->home,
	    s->provider->provider);
	if (access(s->path, F_OK) == 0) {
		printf("There is a key in %s.\n", icctl_path(s->path, shown));
		if (!setup_ask("Use it?", "y", answer, sizeof(answer)))
			return -1;
		if (answer[0] == 'y' || answer[0] == 'Y')
			return key_name(s);
	}
	setup_say("A key goes to %s, which only you can read. Agents see a "
		  "placeholder instead of it. Enter leaves it out: icctl login "
		  "lists other ways, such as a password store.",
	    icctl_path(s->path, shown));
	n = key_read(s);
	return n == 1 ? key_name(s) : n;
}

int
setup_key_save(const struct setup *s)
{
	char dir[4200], tmp[4300];
	FILE *f = NULL;
	int fd;

	if (s->secret[0] == '\0')
		return 0;
	snprintf(dir, sizeof(dir), "%.4000s/keys", s->ctl->home);
	if (mkdir(dir, 0700) == -1 && errno != EEXIST) {
		warn("%s", dir);
		return -1;
	}
	snprintf(tmp, sizeof(tmp), "%s.XXXXXX", s->path);
	if ((fd = mkostemp(tmp, O_CLOEXEC)) == -1 ||
	    (f = fdopen(fd, "w")) == NULL || fputs(s->secret, f) == EOF ||
	    fputc('\n', f) == EOF || fflush(f) == EOF || fsync(fd) == -1 ||
	    rename(tmp, s->path) == -1) {
		warn("%s", s->path);
		if (fd != -1)
			(void)unlink(tmp);
		if (f != NULL)
			fclose(f);
		return -1;
	}
	fclose(f);
	return 0;
}
