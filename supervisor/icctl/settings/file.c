/* SPDX-License-Identifier: ISC */
#include "icctl/settings/settings.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/paths.h"
#include "files/config.h"

/* Lock the directory, for as long as it is open. */
static int
settings_lock(const char *home)
{
	int fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd != -1 && flock(fd, LOCK_EX) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

int
settings_open(const struct icctl *ctl, struct settings *s, bool lock,
    struct fault *fault)
{
	struct stat st;
	size_t len = 0;
	char *text;

	*s = (struct settings){.lock = -1};
	snprintf(s->path, sizeof(s->path), "%s/config.json", ctl->home);
	if (lock && mkdir(ctl->home, 0700) == -1 && errno != EEXIST)
		return fault_errno(fault, "%s", ctl->home);
	if (lock && (s->lock = settings_lock(ctl->home)) == -1)
		return fault_errno(fault, "%s", ctl->home);
	if ((text = jsonfile_text(s->path, &len, &st, fault)) == NULL) {
		if (errno != ENOENT)
			return -1;
		s->root = json_object_new_object();
		return 0;
	}
	s->root = jsonfile_parse(s->path, span_of(text, len), fault);
	freezero(text, len);
	return s->root == NULL ? -1 : 0;
}

void
settings_close(struct settings *s)
{
	json_object_put(s->root);
	if (s->lock != -1)
		close(s->lock);
}

const char *
settings_text(json_object *root)
{
	return json_object_to_json_string_ext(root,
	    JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		JSON_C_TO_STRING_NOSLASHESCAPE);
}

static int
settings_try(const struct settings *s, const char *text, const char *profile,
    struct fault *fault)
{
	const char *home = getenv("HOME");
	struct config cfg;

	if (config_parse(&cfg, s->path, home == NULL ? "/" : home, profile,
		span_str(text), fault) == -1)
		return -1;
	config_free(&cfg);
	return 0;
}

int
settings_check(const struct settings *s, const char *text, struct fault *fault)
{
	json_object *root, *all = NULL;
	int rv = settings_try(s, text, NULL, fault);

	if (rv == -1 ||
	    (root = jsonfile_parse(s->path, span_str(text), fault)) == NULL)
		return -1;
	if (json_object_object_get_ex(root, "profiles", &all)) {
		json_object_object_foreach(all, name, val)
		{
			(void)val;
			if (rv == 0)
				rv = settings_try(s, text, name, fault);
		}
	}
	json_object_put(root);
	return rv;
}

int
settings_write(const struct settings *s, struct fault *fault)
{
	char *text = NULL;
	int rv = -1;

	if (asprintf(&text, "%s\n", settings_text(s->root)) == -1)
		return fault_errno(fault, "%s", s->path);
	if (settings_check(s, text, fault) == 0) {
		rv = jsonfile_replace(s->path, span_str(text));
		if (rv == -1)
			fault_errno(fault, "%s", s->path);
	}
	freezero(text, strlen(text));
	return rv;
}
