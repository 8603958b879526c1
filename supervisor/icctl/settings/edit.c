/* SPDX-License-Identifier: ISC */
/*
 * `icctl config edit`: the person's editor works on a copy, which takes the
 * place of config.json once a session would take it.
 */
#include "icctl/settings/settings.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/spawn.h"

#define EDIT_NEW "{\n}\n"

/* Write the copy. Returns 0, or -1. */
static int
edit_copy(const struct settings *s, char *path, size_t cap)
{
	struct fault fault = {""};
	struct stat st;
	size_t len = 0;
	char *text = jsonfile_text(s->path, &len, &st, &fault);
	int fd, rv = -1;
	FILE *f;

	snprintf(path, cap, "%s.XXXXXX.json", s->path);
	if ((fd = mkostemps(path, 5, O_CLOEXEC)) != -1 &&
	    (f = fdopen(fd, "w")) != NULL) {
		fputs(text == NULL ? EDIT_NEW : text, f);
		rv = fclose(f);
	}
	if (text != NULL)
		freezero(text, len);
	return rv;
}

/* Run the editor as git does: $EDITOR may have arguments. */
static int
edit_run(const char *path)
{
	const char *editor = getenv("VISUAL");
	/* The words of the variable are the person's own. */
	const char *argv[] = {"sh", "-c", "exec $0 \"$1\"", NULL, path, NULL};
	const struct spawn s = {.path = "/bin/sh",
	    .argv = (char *const *)(uintptr_t)argv,
	    .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
	    .nfds = 3};

	if (editor == NULL || editor[0] == '\0')
		editor = getenv("EDITOR");
	if (editor == NULL || editor[0] == '\0')
		editor = "vi";
	argv[3] = editor;
	if (spawn_run(&s) != 0) {
		warnx("the editor %s did not end well: nothing is changed",
		    editor);
		return -1;
	}
	return 0;
}

/* Returns the copy's text if it may take the place of the file. */
static char *
edit_result(const struct settings *s, const char *path)
{
	struct fault fault = {""};
	struct stat st;
	size_t len = 0;
	char *text = jsonfile_text(path, &len, &st, &fault);

	if (text != NULL && settings_check(s, text, &fault) == 0)
		return text;
	warnx("%s", fault.text);
	if (text != NULL)
		freezero(text, len);
	return NULL;
}

int
settings_edit(const struct icctl *ctl)
{
	struct fault fault = {""};
	struct settings s;
	int rv = ICCTL_FAILED;
	char path[4300], *text = NULL;

	if (!isatty(STDIN_FILENO)) {
		warnx("config edit needs a terminal; icctl config set changes "
		      "one key");
		return ICCTL_USAGE;
	}
	/* One that is broken is what an editor is for. */
	if (settings_open(ctl, &s, true, &fault) == -1)
		warnx("%s", fault.text);
	if (edit_copy(&s, path, sizeof(path)) == -1) {
		warn("%s", path);
		settings_close(&s);
		return ICCTL_FAILED;
	}
	while (edit_run(path) == 0 && (text = edit_result(&s, path)) == NULL &&
	       icctl_confirm("Edit it again? Otherwise nothing is changed."))
		;
	if (text != NULL && jsonfile_replace(s.path, span_str(text)) == 0) {
		rv = ICCTL_OK;
		puts("Saved; it holds for sessions that start from now on.");
	} else if (text != NULL) {
		warn("%s", s.path);
	}
	free(text);
	(void)unlink(path);
	settings_close(&s);
	return rv;
}
