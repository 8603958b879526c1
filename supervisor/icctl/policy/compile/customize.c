/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy customize`: a short conversation that edits the user's
 * constitution. It never compiles.
 */
#include "icctl/policy/compile/command.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "icctl/policy/compile/compile.h"
#include "icctl/policy/compile/lines.h"

#define CUSTOMIZE_SAID 65536U

struct talk {
	struct compile *c;
	char path[PATH_MAX];
	char *text; /* the constitution */
	struct buf said;
};

/* Read the constitution; none is an empty one. */
static int
talk_open(struct talk *t, struct fault *fault)
{
	struct policy_file f;

	if (t->c->o.persona != NULL)
		snprintf(t->path, sizeof(t->path), "%s", t->c->o.constitution);
	else
		snprintf(t->path, sizeof(t->path),
		    "%.4000s/constitution-user.md", t->c->ctl->home);
	if (access(t->path, F_OK) == -1) {
		t->text = strdup("");
		return t->text == NULL ? fault_errno(fault, "%s", t->path) : 0;
	}
	if (policy_file_read(&f, t->path, fault) == -1)
		return -1;
	if (f.len > COMPILE_MAX_TEXT || !utf8_valid(span_of(f.text, f.len)) ||
	    memchr(f.text, '\0', f.len) != NULL)
		fault_set(fault, "%s: is no UTF-8 text of at most 256 KiB",
		    t->path);
	else
		t->text = span_dup(span_of(f.text, f.len));
	free(f.path);
	free(f.text);
	return t->text == NULL ? -1 : 0;
}

static int
reply_check(void *arg, const struct value *reply, struct fault *fault)
{
	struct span line, s = value_str(reply, "constitution");

	(void)arg;
	while (span_line(&s, &line))
		if (!text_plain(line))
			return fault_set(
			    fault, "/constitution: has control characters");
	s = value_str(reply, "reply");
	while (span_line(&s, &line))
		if (!text_plain(line))
			return fault_set(
			    fault, "/reply: has control characters");
	return 0;
}

static const struct value *
talk_ask(struct talk *t, struct span message, struct fault *fault)
{
	struct ask_part parts[4] = {{"constitution", span_str(t->text)},
	    {"tools", {0}}, {"what was said so far", buf_span(&t->said)},
	    {"what the owner says now", message}};
	const struct ask q = {
	    "customize", parts, nitems(parts), reply_check, NULL};
	const struct value *reply;
	struct buf tools;

	buf_init(&tools, (size_t)1 << 20);
	for (unsigned i = 0; i < t->c->nservers; i++) {
		quote_add(&tools, t->c->servers[i].name, 64);
		buf_adds(&tools, ":\n");
		server_describe(&t->c->servers[i], &tools);
	}
	parts[1].text = buf_span(&tools);
	reply = compile_ask(t->c, &q, NULL, fault);
	buf_free(&tools);
	return reply;
}

/* Show a new constitution, and save it after a yes. */
static int
talk_save(struct talk *t, struct span text, struct fault *fault)
{
	char *copy;

	puts("\nThe constitution would change like this:");
	if (lines_print(span_str(t->text), text) == 0)
		return 0;
	if (!icctl_confirm("Save this?")) {
		puts("Not saved.");
		return 0;
	}
	if ((copy = span_dup(text)) == NULL ||
	    jsonfile_replace(t->path, text) == -1) {
		free(copy);
		return fault_errno(fault, "%s", t->path);
	}
	free(t->text);
	t->text = copy;
	printf("Saved. When it says all that you want: icctl policy compile"
	       "%s%s\n",
	    t->c->o.persona != NULL ? " --persona " : "",
	    t->c->o.persona != NULL ? t->c->o.persona : "");
	return 0;
}

/* Print a reply of several lines. */
static void
put_reply(struct span s)
{
	struct span line;

	while (span_line(&s, &line)) {
		icctl_put(line, 4000, false);
		putchar('\n');
	}
}

/*
 * There is no reply that can be used: keep what was typed all the same, if the
 * person wants that. Returns 0, or -1 if nobody can be asked.
 */
static int
talk_keep(struct talk *t, struct span said, struct fault *fault)
{
	struct buf text;
	size_t len = strlen(t->text);
	int rv;

	if (!isatty(STDIN_FILENO))
		return -1;
	warnx("%s", fault->text);
	if (!icctl_confirm("The model's answer cannot be used. Add your "
			   "sentence to the constitution as it is?"))
		return 0;
	buf_init(&text, COMPILE_MAX_TEXT + CUSTOMIZE_SAID);
	buf_printf(&text, "%s%s%.*s\n", t->text,
	    len != 0 && t->text[len - 1] != '\n' ? "\n" : "", (int)said.len,
	    (const char *)said.p);
	rv = talk_save(t, buf_span(&text), fault);
	buf_free(&text);
	return rv;
}

static int
talk_run(struct talk *t, struct fault *fault)
{
	const struct value *reply;
	char *line = NULL;
	struct span s;
	size_t cap = 0;
	ssize_t n;
	int rv = 0;

	/* Without a key nobody has to type first. */
	if ((t->c->box = box_start(t->c, NULL, fault)) == NULL)
		return -1;
	puts("What may an agent do, what may it never do, and when is it to "
	     "ask you? An empty\nline ends this.");
	for (;;) {
		fputs("> ", stdout);
		fflush(stdout);
		if ((n = getline(&line, &cap, stdin)) <= 0)
			break;
		s = span_of(line, (size_t)n - (line[n - 1] == '\n'));
		if (s.len == 0)
			break;
		if (s.len > COMPILE_MAX_QUOTE || !utf8_valid(s) ||
		    memchr(s.p, '\0', s.len) != NULL) {
			puts("At most 4096 bytes of UTF-8 text at once.");
			continue;
		}
		s = pool_text(t->c, s);
		if ((reply = talk_ask(t, s, fault)) == NULL) {
			if ((rv = talk_keep(t, s, fault)) == -1)
				break;
			continue;
		}
		put_reply(value_str(reply, "reply"));
		if (t->said.len < CUSTOMIZE_SAID / 2)
			buf_printf(&t->said, "owner: %.*s\nyou: %.*s\n",
			    (int)s.len, (const char *)s.p,
			    (int)value_str(reply, "reply").len,
			    (const char *)value_str(reply, "reply").p);
		if (value_str(reply, "constitution").p != NULL &&
		    talk_save(t, value_str(reply, "constitution"), fault) ==
			-1) {
			rv = -1;
			break;
		}
	}
	free(line);
	return rv;
}

int
customize_main(struct icctl *ctl, const struct compile_opts *o)
{
	static struct compile c;
	static struct compile_place place;
	struct talk t = {.c = &c};
	struct compile_opts mine = *o;
	struct fault fault = {""};
	int rv = -1;

	mine.no_cache = true;
	buf_init(&t.said, CUSTOMIZE_SAID);
	if (place_open(&place, ctl, &mine) == -1)
		return ICCTL_FAILED;
	if (compile_open(&c, ctl, &mine, &fault) == 0 &&
	    compile_annotations(&c, &fault) == 0 && talk_open(&t, &fault) == 0)
		rv = talk_run(&t, &fault);
	if (rv == -1)
		warnx("%s", fault.text);
	free(t.text);
	buf_free(&t.said);
	compile_close(&c);
	place_close(&place);
	return rv == 0 ? ICCTL_OK : ICCTL_FAILED;
}
