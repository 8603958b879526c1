/* SPDX-License-Identifier: ISC */
/*
 * `icctl answer`: a person answers a question of an MCP server. The answer is
 * made of words, is checked here so that a mistake can be mended, and carries
 * the digest of the question that was shown; policyd checks it again.
 */
#include "icctl/question/question.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asks/form.h"
#include "base/json_get.h"
#include "base/json_put.h"
#include "common/ipc/proto.h"
#include "common/json/json.h"
#include "common/visible.h"
#include "icctl/hold/hold_view.h"
#include "icctl/words.h"

#define ANSWER_POOL ((size_t)8 << 20)
#define ANSWER_SETS 64U

struct answering {
	struct value_pool *pool;
	const struct value *asked;
	struct form form;
	struct value *values; /* the answer so far */
};

/* Print a reason that may have the server's words. */
static void
complain(const char *before, const char *text)
{
	struct buf b;

	buf_init(&b, 4096);
	(void)visible_add(&b, span_str(text), icctl_visible() | VISIBLE_AGAIN);
	warnx("%s%.*s", before, (int)b.len, (const char *)buf_span(&b).p);
	buf_free(&b);
}

static int
begin(struct answering *a, json_object *hold)
{
	*a = (struct answering){.pool = value_pool_new(ANSWER_POOL)};
	if (a->pool == NULL)
		return -1;
	a->asked = json_read(a->pool, get_span(hold, "arguments"), NULL);
	a->values = value_new(a->pool, VALUE_OBJECT);
	if (a->asked == NULL || a->values == NULL)
		return -1;
	if (value_get(a->asked, "url") != NULL)
		return 0;
	return form_from_schema(&a->form, value_get(a->asked, "requestedSchema"));
}

static void
end(struct answering *a)
{
	value_pool_free(a->pool);
}

/* Answer the fields that have no answer yet with their defaults. */
static int
take_presets(struct answering *a)
{
	const struct form_field *k;

	for (unsigned i = 0; i < a->form.n; i++) {
		k = &a->form.fields[i];
		if (k->preset == NULL ||
		    value_getspan(a->values, k->name) != NULL)
			continue;
		if (value_set(a->values, k->name,
			value_copy(a->pool, k->preset)) == -1)
			return -1;
	}
	return 0;
}

/* Take one --set. Returns 0, or an exit status. */
static int
take_set(struct answering *a, const char *set)
{
	const char *is = strchr(set, '=');
	const struct form_field *k = NULL;
	struct value *v;

	if (is != NULL)
		k = form_find(&a->form, span_of(set, (size_t)(is - set)));
	if (k == NULL) {
		complain("--set wants NAME=VALUE, and there is no such field: ",
		    set);
		return ICCTL_USAGE;
	}
	if ((v = form_value(&a->form, a->pool, k, span_str(is + 1))) == NULL) {
		complain("", a->form.why);
		return ICCTL_USAGE;
	}
	if (value_set(a->values, k->name, v) == -1) {
		complain("a field is set twice, or there are too many: ", set);
		return ICCTL_USAGE;
	}
	return 0;
}

/* Ask for one field until it fits. Returns 0, or -1 at the end of input. */
static int
ask_field(struct answering *a, const struct form_field *k)
{
	char *line = NULL, *kept;
	size_t cap = 0;
	ssize_t n;
	struct value *v = NULL;

	while (v == NULL) {
		fputs("  ", stdout);
		icctl_put(k->name, FORM_MAX_NAME, false);
		fputs(k->preset != NULL	  ? " (Enter: as offered): "
		      : !k->required	  ? " (Enter: no answer): "
					  : ": ",
		    stdout);
		fflush(stdout);
		if ((n = getline(&line, &cap, stdin)) <= 0)
			break;
		if (line[n - 1] == '\n')
			n--;
		if (n == 0 && (k->preset != NULL || !k->required)) {
			free(line);
			return 0;
		}
		/* The value points into it. */
		if ((kept = value_pool_alloc(a->pool, (size_t)n + 1)) == NULL)
			break;
		memcpy(kept, line, (size_t)n);
		v = form_value(
		    &a->form, a->pool, k, span_of(kept, (size_t)n));
		if (v == NULL)
			complain("", a->form.why);
	}
	free(line);
	return v == NULL ? -1 : value_set(a->values, k->name, v);
}

/* Send it: a form's values, or no text for an address. Returns an exit status. */
static int
send_answer(
    struct icctl *ctl, json_object *hold, struct span text, const char *op)
{
	json_object *req = icctl_request(op, icctl_text(hold, "id")), *reply;
	int r;

	put_str(req, "digest", icctl_text(hold, "digest"));
	if (text.len != 0)
		json_object_object_add(req, "answer",
		    json_object_new_string_len(
			(const char *)text.p, (int)text.len));
	if ((reply = icctl_command(ctl, req, &r)) == NULL)
		return r;
	if (ctl->json)
		icctl_put_json(reply);
	else
		printf("%s %s\n",
		    strcmp(op, "deny") == 0 ? "declined" : "answered",
		    icctl_text(hold, "id"));
	json_object_put(reply);
	return ICCTL_OK;
}

static int
send_form(struct icctl *ctl, json_object *hold, struct answering *a)
{
	struct buf b;
	int r;

	if (take_presets(a) == -1 || form_check(&a->form, a->values) == -1) {
		complain("it is not sent. ", a->form.why);
		return ICCTL_FAILED;
	}
	buf_init(&b, PROTO_MAX_ANSWER);
	if (json_write(&b, a->values) == -1) {
		warnx("an answer has at most %u bytes", PROTO_MAX_ANSWER);
		r = ICCTL_FAILED;
	} else {
		r = send_answer(ctl, hold, buf_span(&b), "approve");
	}
	buf_free(&b);
	return r;
}

static int
ask_form(struct icctl *ctl, json_object *hold, struct answering *a)
{
	struct buf b;

	for (unsigned i = 0; i < a->form.n; i++)
		if (ask_field(a, &a->form.fields[i]) == -1) {
			puts("\nNothing was answered.");
			return ICCTL_FAILED;
		}
	buf_init(&b, PROTO_MAX_ANSWER);
	if (take_presets(a) == 0 && json_write(&b, a->values) == 0) {
		fputs("  ", stdout);
		icctl_put(buf_span(&b), PROTO_MAX_ANSWER, false);
		putchar('\n');
	}
	buf_free(&b);
	if (!icctl_confirm("Send this to the server?")) {
		puts("Nothing was answered.");
		return ICCTL_FAILED;
	}
	return send_form(ctl, hold, a);
}

static int
open_address(struct icctl *ctl, json_object *hold, struct answering *a)
{
	char *url = span_dup(value_str(a->asked, "url"));
	int r = ICCTL_FAILED;

	if (url != NULL && question_open(url) == 0)
		r = send_answer(ctl, hold, SPAN(""), "approve");
	free(url);
	return r;
}

int
question_ask(struct icctl *ctl, json_object *hold)
{
	struct answering a;
	int r = ICCTL_FAILED;

	if (begin(&a, hold) == -1)
		warnx("the question cannot be read");
	else if (value_get(a.asked, "url") == NULL)
		r = ask_form(ctl, hold, &a);
	else if (icctl_confirm("Open this address in your browser?"))
		r = open_address(ctl, hold, &a);
	else
		puts("Nothing was opened, and nothing answered.");
	end(&a);
	return r;
}

/* Answer with the words of the command line. */
static int
answer_words(struct icctl *ctl, json_object *hold, const char *const *sets,
    size_t n)
{
	struct answering a;
	int r = 0;

	if (begin(&a, hold) == -1) {
		warnx("the question cannot be read");
		r = ICCTL_FAILED;
	} else if (value_get(a.asked, "url") == NULL) {
		if (words_given("--open") || words_given("--opened")) {
			warnx("this question has fields and no address: "
			      "--set NAME=VALUE");
			r = ICCTL_USAGE;
		}
		for (size_t i = 0; i < n && r == 0; i++)
			r = take_set(&a, sets[i]);
		if (r == 0)
			r = send_form(ctl, hold, &a);
	} else if (n != 0 || words_given("--yes")) {
		warnx("this question has an address: --open opens it in your "
		      "browser, and --opened says that you did");
		r = ICCTL_USAGE;
	} else if (words_given("--open")) {
		r = open_address(ctl, hold, &a);
	} else {
		r = send_answer(ctl, hold, SPAN(""), "approve");
	}
	end(&a);
	return r;
}

static int
answer_one(struct icctl *ctl, json_object *hold, const char *const *sets,
    size_t n)
{
	const char *digest = words_option("--digest");

	if (!get_true(hold, "question")) {
		warnx("%s is no question of a server. Approve or deny it: "
		      "icctl approve %s",
		    icctl_text(hold, "id"), icctl_text(hold, "id"));
		return ICCTL_FAILED;
	}
	if (digest != NULL &&
	    strcasecmp(digest, icctl_text(hold, "digest")) != 0) {
		warnx("%s is not the question with that digest. Look again: "
		      "icctl show %s",
		    icctl_text(hold, "id"), icctl_text(hold, "id"));
		return ICCTL_FAILED;
	}
	if (words_given("--decline"))
		return send_answer(ctl, hold, SPAN(""), "deny");
	if (!ctl->json &&
	    !hold_view(stdout, hold, HOLD_VIEW_FULL, icctl_visible()))
		return ICCTL_FAILED;
	if (n != 0 || words_given("--yes") || words_given("--open") ||
	    words_given("--opened"))
		return answer_words(ctl, hold, sets, n);
	if (ctl->json || !isatty(STDIN_FILENO)) {
		warnx("without a terminal, say the answer: --set NAME=VALUE "
		      "for each field, --yes to take the defaults, --open or "
		      "--opened for an address, or --decline");
		return ICCTL_USAGE;
	}
	return question_ask(ctl, hold);
}

int
icctl_answer(struct icctl *ctl, int argc, char **argv)
{
	const char *sets[ANSWER_SETS];
	size_t n = words_list("--set", sets, ANSWER_SETS);
	json_object *reply, *hold = NULL;
	int r;

	if (argc != 2 || n > ANSWER_SETS)
		return words_usage();
	reply = icctl_command(ctl, icctl_request("show", argv[1]), &r);
	if (reply == NULL)
		return r;
	json_object_object_get_ex(reply, "hold", &hold);
	r = answer_one(ctl, hold, sets, n);
	json_object_put(reply);
	return r;
}
