/* SPDX-License-Identifier: ISC */
/*
 * Reads the desktop's clipboard with the desktop's own program: a fixed path,
 * fixed arguments, and no shell.
 */
#include "icctl/paste/priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_until.h"
#include "base/spawn.h"

#define CLIP_MS 5000U
#define CLIP_WORDS 8U

/* clang-format off */
static const struct clip_program {
	const char *variable;
	const char *words[CLIP_WORDS]; /* "": the type of the image */
} programs[] = {
	{"WAYLAND_DISPLAY", {"/usr/bin/wl-paste", "--no-newline", "--type", ""}},
	{"DISPLAY",
	    {"/usr/bin/xclip", "-selection", "clipboard", "-t", "", "-o"}},
};
/* clang-format on */

/* Run the program for this type. Returns 0 if it printed anything, or -1. */
static int
clip_run(const struct clip_program *c, const char *type, struct paste_bytes *b)
{
	char *argv[CLIP_WORDS + 1] = {NULL};
	struct spawn s = {.path = c->words[0],
	    .argv = argv,
	    .fds = {-1, -1, -1},
	    .nfds = 3,
	    .session = true,
	    .tie = SPAWN_KILLED};
	struct spawned sp = SPAWNED_INIT;
	int out[2];

	for (size_t i = 0; i < CLIP_WORDS && c->words[i] != NULL; i++)
		argv[i] =
		    (char *)(uintptr_t)(c->words[i][0] != '\0' ? c->words[i]
							       : type);
	if (pipe2(out, O_CLOEXEC) == -1)
		return -1;
	s.fds[1] = out[1];
	b->len = 0;
	if (spawn_start(&s, &sp) == 0 && spawn_check(&sp) == 0) {
		close(out[1]);
		out[1] = -1;
		(void)read_until(out[0], b->p, PASTE_MAX + 1, CLIP_MS, &b->len);
	}
	spawn_stop(&sp, 0);
	if (out[1] != -1)
		close(out[1]);
	close(out[0]);
	return b->len != 0 ? 0 : -1;
}

static const struct clip_program *
clip_find(const char **why)
{
	const char *display;
	bool desktop = false;

	for (size_t i = 0; i < nitems(programs); i++) {
		display = getenv(programs[i].variable);
		if (display == NULL || display[0] == '\0')
			continue;
		desktop = true;
		if (access(programs[i].words[0], X_OK) == 0)
			return &programs[i];
	}
	*why = desktop ? "the clipboard cannot be read: install wl-clipboard "
			 "(Wayland) or xclip (X11), or name a file: icctl "
			 "paste FILE"
		       : "there is no desktop here whose clipboard could be "
			 "read. Name a file (icctl paste FILE), or send one "
			 "from the machine that has it: ssh HOST icctl paste "
			 "- < FILE";
	return NULL;
}

int
paste_clip(struct paste_bytes *b, const char **why)
{
	const struct clip_program *c = clip_find(why);
	const struct paste_kind *kind;

	if (c == NULL)
		return -1;
	for (size_t i = 0; (kind = paste_kind_nth(i)) != NULL; i++)
		if (clip_run(c, kind->type, b) == 0 &&
		    paste_kind(span_of(b->p, b->len)) != NULL)
			return 0;
	*why = "there is no image in the clipboard (PNG, JPEG, GIF or WebP). "
	       "Copy one, or name a file: icctl paste FILE";
	return -1;
}
