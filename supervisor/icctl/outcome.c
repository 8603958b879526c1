/* SPDX-License-Identifier: ISC */
/*
 * Prints the outcome of a command as JSON when the process ends, however it
 * ends: by a return, by exit(3) or by err(3). Standard output and standard
 * error are variables in the GNU C library, so that streams of ours take their
 * places.
 */
#include "icctl/outcome.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/buf.h"
#include "icctl/wrap.h"

#define OUTCOME_ERROR 4096U /* bytes of an error's text */
#define OUTCOME_DEPTH 256
#define OUTCOME_NARROW 40U /* columns, in which nothing is divided */

static struct {
	const struct icctl *ctl;
	pid_t pid;
	char error[OUTCOME_ERROR];
	size_t len;
	FILE *real; /* standard output, if it is collected */
	char *text;
	size_t text_len;
} outcome_env;

bool
outcome_asked(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

/* Pass a message on, and remember its beginning. */
static ssize_t
outcome_heard(void *cookie, const char *p, size_t n)
{
	size_t room = sizeof(outcome_env.error) - outcome_env.len - 1, keep;

	(void)cookie;
	keep = n < room ? n : room;
	if (keep != 0)
		memcpy(outcome_env.error + outcome_env.len, p, keep);
	outcome_env.len += keep;
	for (size_t at = 0; at < n;) {
		ssize_t w = write(STDERR_FILENO, p + at, n - at);

		if (w <= 0)
			break;
		at += (size_t)w;
	}
	return (ssize_t)n;
}

/* Returns true if the text is JSON: one value, or several. */
static bool
outcome_is_json(struct span s)
{
	struct json_tokener *tok = json_tokener_new_ex(OUTCOME_DEPTH);
	enum json_tokener_error bad = json_tokener_continue;
	json_object *o;

	while (tok != NULL && s.len != 0) {
		if (strchr(" \n", s.p[0]) != NULL && s.p[0] != '\0') {
			s = span_of(s.p + 1, s.len - 1);
			continue;
		}
		json_tokener_reset(tok);
		/* A number ends with what follows it. */
		o = json_tokener_parse_ex(tok, (const char *)s.p,
		    s.len > INT32_MAX ? INT32_MAX : (int)s.len);
		bad = json_tokener_get_error(tok);
		json_object_put(o);
		if (bad != json_tokener_success)
			break;
		s = span_of(s.p + json_tokener_get_parse_end(tok),
		    s.len - json_tokener_get_parse_end(tok));
	}
	if (tok != NULL)
		json_tokener_free(tok);
	return bad == json_tokener_success;
}

/* Returns what a program may compare, for an exit status. */
static const char *
outcome_code(int status)
{
	if (outcome_env.ctl->code != NULL)
		return outcome_env.ctl->code;
	switch (status) {
	case ICCTL_USAGE:
		return "usage";
	case ICCTL_NO_SESSION:
		return "not-found";
	case ICCTL_BUSY:
		return "busy";
	default:
		return "failed";
	}
}

/*
 * Returns the reason that a command printed as its last line, for one that
 * failed without a message.
 */
static struct span
outcome_last_line(void)
{
	struct span rest = span_of(outcome_env.text, outcome_env.text_len),
		    line, last = SPAN("");

	while (span_line(&rest, &line))
		if (line.len != 0)
			last = line;
	return last;
}

/* Write the messages as one text, without the program's name. */
static void
outcome_error(struct buf *b)
{
	struct span rest = span_of(outcome_env.error, outcome_env.len), line;
	const struct span name = span_str("icctl: ");

	while (span_line(&rest, &line)) {
		if (line.len >= name.len &&
		    memcmp(line.p, name.p, name.len) == 0)
			line = span_of(line.p + name.len, line.len - name.len);
		if (b->len != 0)
			buf_addc(b, '\n');
		buf_addspan(b, line);
	}
	if (b->len == 0)
		buf_addspan(b, outcome_last_line());
	buf_addc(b, '\0');
}

/* Print the object for a command that printed no JSON. */
static void
outcome_put(int status)
{
	json_object *o = json_object_new_object();
	struct buf b;

	put_bool(o, "ok", status == ICCTL_OK);
	if (status != ICCTL_OK) {
		buf_init(&b, 2 * OUTCOME_ERROR);
		outcome_error(&b);
		put_str(o, "code", outcome_code(status));
		put_str(
		    o, "error", b.failed ? "" : (const char *)buf_span(&b).p);
		buf_free(&b);
	}
	if (outcome_env.text_len != 0)
		json_object_object_add(o, "text",
		    json_object_new_string_len(
			outcome_env.text, (int)outcome_env.text_len));
	icctl_put_json(o);
	json_object_put(o);
}

static void
outcome_end(int status, void *arg)
{
	(void)arg;
	/* A child that ends is no outcome. */
	if (getpid() != outcome_env.pid)
		return;
	if (outcome_env.real != NULL) {
		(void)fclose(stdout);
		stdout = outcome_env.real;
		/* "--json" may have been the value of an option. */
		if ((status == ICCTL_OK && !outcome_env.ctl->json) ||
		    (outcome_env.text_len != 0 &&
			outcome_is_json(
			    span_of(outcome_env.text, outcome_env.text_len))))
			(void)fwrite(
			    outcome_env.text, 1, outcome_env.text_len, stdout);
		else
			outcome_put(status);
		free(outcome_env.text);
	} else if (status != ICCTL_OK && !icctl_json_shown()) {
		outcome_put(status);
	}
	(void)fflush(stdout);
}

void
outcome_begin(const struct icctl *ctl)
{
	const cookie_io_functions_t heard = {.write = outcome_heard};
	FILE *f = fopencookie(NULL, "w", heard);

	if (f == NULL)
		err(ICCTL_FAILED, "standard error");
	(void)setvbuf(f, NULL, _IONBF, 0);
	stderr = f;
	outcome_env.ctl = ctl;
	outcome_env.pid = getpid();
	if (on_exit(outcome_end, NULL) != 0)
		err(ICCTL_FAILED, "exit");
}

void
outcome_collect(void)
{
	FILE *f = open_memstream(&outcome_env.text, &outcome_env.text_len);

	if (f == NULL)
		err(ICCTL_FAILED, "standard output");
	outcome_env.real = stdout;
	stdout = f;
}

/* The stream that divides lines, on their way to a terminal. */
static struct {
	FILE *stream;
	char buffer[65536];
	bool within; /* the beginning of a line, a question, is printed */
} dividing;

static void
outcome_write(const char *p, size_t n)
{
	(void)span_write(STDOUT_FILENO, span_of(p, n));
}

/*
 * Take whole lines; only a question, which is flushed, or a line that is longer
 * than the buffer comes in parts.
 */
static ssize_t
outcome_lines(void *cookie, const char *p, size_t n)
{
	const char *nl = dividing.within ? memchr(p, '\n', n) : NULL;
	const size_t head = !dividing.within ? 0
			    : nl == NULL     ? n
					     : (size_t)(nl + 1 - p);
	size_t len;
	char *text;

	(void)cookie;
	outcome_write(p, head);
	text = wrap_text(p + head, n - head, wrap_columns(STDOUT_FILENO), &len);
	if (text != NULL)
		outcome_write(text, len);
	free(text);
	dividing.within = p[n - 1] != '\n';
	return (ssize_t)n;
}

void
outcome_wrap(void)
{
	const cookie_io_functions_t fns = {.write = outcome_lines};

	if (wrap_columns(STDOUT_FILENO) < OUTCOME_NARROW)
		return;
	if ((dividing.stream = fopencookie(NULL, "w", fns)) == NULL)
		err(ICCTL_FAILED, "standard output");
	(void)setvbuf(
	    dividing.stream, dividing.buffer, _IOLBF, sizeof(dividing.buffer));
	stdout = dividing.stream;
}
