/* SPDX-License-Identifier: ISC */
/*
 * The way a viewer shows a session: derived from standard input, output and
 * error, and passed between programs as text.
 */
#include "relay/viewer_how.h"

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"
#include "files/answer_key.h"

static bool
how_same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* Returns true if the terminal can show more than lines. */
static bool
how_draws(void)
{
	const char *term = getenv("TERM");

	return term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0 &&
	       strcmp(term, "unknown") != 0;
}

void
viewer_how_find(struct viewer_how *how, bool no_input)
{
	struct winsize ws;

	*how = (struct viewer_how){
	    .rows = 24, .cols = 80, .key = ANSWER_KEY_DEFAULT};
	how->screen = !no_input && isatty(STDIN_FILENO) &&
		      isatty(STDOUT_FILENO) && how_draws();
	if (how->screen) {
		if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 &&
		    ws.ws_row != 0 && ws.ws_col != 0) {
			how->rows = ws.ws_row;
			how->cols = ws.ws_col;
		}
		/* The bottom line is for icctl. */
		how->rows -= how->rows > 2;
		return;
	}
	how->raw[0] = !isatty(STDOUT_FILENO);
	how->raw[1] = !isatty(STDERR_FILENO);
	how->merge = how->raw[0] && how->raw[1] &&
		     how_same_file(STDOUT_FILENO, STDERR_FILENO);
	how->input = !no_input;
}

void
viewer_how_editor(struct viewer_how *how)
{
	*how = (struct viewer_how){.rows = 24,
	    .cols = 80,
	    .raw = {true, true},
	    .input = true,
	    .acp = true};
}

void
viewer_how_text(const struct viewer_how *how, char *dst)
{
	if (how->screen)
		snprintf(dst, VIEWER_HOW_TEXT, "screen:%ux%u,key:%u%s",
		    how->rows, how->cols, (unsigned)how->key,
		    how->attached ? ",attached" : "");
	else
		snprintf(dst, VIEWER_HOW_TEXT, "lines%s%s%s%s%s%s%s%s",
		    how->raw[0] ? ",raw-out" : "",
		    how->raw[1] ? ",raw-err" : "", how->input ? ",input" : "",
		    how->merge ? ",merge" : "", how->acp ? ",acp" : "",
		    how->attached ? ",attached" : "",
		    how->talk ? ",talk" : "",
		    how->answers ? ",answers" : "");
}

static int
how_key(struct viewer_how *how, const char *digits, size_t len)
{
	unsigned key = 0;

	for (size_t i = 0; i < len; i++) {
		if (digits[i] < '0' || digits[i] > '9' || key > 31)
			return -1;
		key = key * 10 + (unsigned)(digits[i] - '0');
	}
	if (key > 31 || !answer_key_valid((uint8_t)key))
		return -1;
	how->key = (uint8_t)key;
	return 0;
}

static int
how_word(struct viewer_how *how, const char *word, size_t len)
{
	const struct {
		const char *name;
		bool *flag;
	} words[] = {
	    {"raw-out", &how->raw[0]},
	    {"raw-err", &how->raw[1]},
	    {"input", &how->input},
	    {"merge", &how->merge},
	    {"acp", &how->acp},
	    {"attached", &how->attached},
	    {"talk", &how->talk},
	    {"answers", &how->answers},
	};

	if (len > 4 && strncmp(word, "key:", 4) == 0)
		return how_key(how, word + 4, len - 4);
	for (size_t i = 0; i < nitems(words); i++) {
		if (strlen(words[i].name) != len ||
		    strncmp(words[i].name, word, len) != 0)
			continue;
		*words[i].flag = true;
		return 0;
	}
	return -1;
}

int
viewer_how_parse(struct viewer_how *how, const char *text)
{
	size_t n = strcspn(text, ",");
	char end;

	*how = (struct viewer_how){
	    .rows = 24, .cols = 80, .key = ANSWER_KEY_DEFAULT};
	if (n == 5 && strncmp(text, "lines", n) == 0) {
		how->screen = false;
	} else if (n > 7 && strncmp(text, "screen:", 7) == 0) {
		how->screen = true;
		if (sscanf(text + 7, "%5ux%5u%c", &how->rows, &how->cols,
			&end) < 2 ||
		    how->rows == 0 || how->rows > 10000 || how->cols == 0 ||
		    how->cols > 10000)
			return -1;
	} else {
		return -1;
	}
	for (text += n; *text == ','; text += n) {
		text++;
		n = strcspn(text, ",");
		if (how_word(how, text, n) == -1)
			return -1;
	}
	return 0;
}

void
viewer_how_environment(char **envp)
{
	static const char *const names[] = {
	    "TERM=", "COLORTERM=", "LANG=", "NO_COLOR=", "HOME=",
	    "IRONCURTAIN_HOME=", "LC_",
	    /* The desktop's, for an address that the person opens. */
	    "DISPLAY=", "WAYLAND_DISPLAY=", "XAUTHORITY=", "XDG_RUNTIME_DIR=",
	    "DBUS_SESSION_BUS_ADDRESS="};
	size_t n = 0;

	for (char **e = environ; *e != NULL; e++)
		for (size_t i = 0; i < nitems(names); i++)
			if (n < VIEWER_HOW_ENV &&
			    strncmp(*e, names[i], strlen(names[i])) == 0)
				envp[n++] = *e;
	envp[n] = NULL;
}
