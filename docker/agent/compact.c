/* SPDX-License-Identifier: ISC */
/*
 * Shortens a conversation: all but the latest messages become a summary that
 * the model writes.  If it writes none, the person's own messages are kept.
 */
#include "docker/agent/agent.h"
#include "common/plural.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPACT_KEEP 10U     /* messages */
#define COMPACT_PERSON 2000U /* bytes of each message of the person */
#define COMPACT_TEXT_MAX 65536U

static const char compact_ask[] =
    "The conversation becomes too long and will be shortened: your answer to "
    "this message takes the place of everything before it. Do not call tools. "
    "Write down what is needed to go on: what the user asked for, in their "
    "words where they matter; what was done, with names, paths and results; "
    "what was denied or failed, and why; what remains to be done.";

/* Returns how many messages come before those that stay. */
static size_t
compact_count(const struct history *h)
{
	size_t n = h->n > COMPACT_KEEP ? h->n - COMPACT_KEEP : 0;

	/* A result stays with the call that it answers. */
	while (n > 0 && h->messages[n].role == MODEL_TOOL)
		n--;
	return n;
}

static char *
compact_by_model(struct agent *a, size_t n)
{
	struct model_message *m;
	struct model_answer out;
	char *text = NULL, *ask = strdup(compact_ask);

	m = calloc(n + 1, sizeof(*m));
	if (m != NULL && ask != NULL) {
		memcpy(m, a->history.messages, n * sizeof(*m));
		m[n] = (struct model_message){.role = MODEL_USER, .text = ask};
		/* The tools are told again because the history has calls. */
		if (model_turn(a->provider, a->system, m, n + 1, a->offered,
			a->noffered, NULL, &out) == 0 &&
		    out.text != NULL) {
			text = out.text;
			out.text = NULL;
		}
		model_answer_free(&out);
	}
	free(m);
	free(ask);
	return text;
}

static void
compact_by_hand(const struct history *h, size_t n, struct buf *b)
{
	buf_adds(b, "The earlier conversation was removed. In it the user "
		    "wrote:");
	for (size_t i = 0; i < n && b->len < COMPACT_TEXT_MAX / 2; i++) {
		if (h->messages[i].role != MODEL_USER)
			continue;
		buf_printf(
		    b, "\n- %.*s", (int)COMPACT_PERSON, h->messages[i].text);
	}
}

void
compact_run(struct agent *a, bool now)
{
	struct history *h = &a->history;
	size_t n = compact_count(h);
	struct buf b;
	char *text;

	if (n < 2 || (!now && a->history.tokens < a->options->compact_at))
		return;
	text = compact_by_model(a, n);
	if (signals_got() != 0) {
		free(text);
		return;
	}
	buf_init(&b, COMPACT_TEXT_MAX);
	if (text != NULL)
		buf_printf(&b, "Summary of the conversation so far:\n\n%.*s",
		    (int)(COMPACT_TEXT_MAX / 2), text);
	else
		compact_by_hand(h, n, &b);
	buf_addc(&b, '\0');
	if (buf_check(&b) == 0 &&
	    history_replace(h, n, (const char *)buf_span(&b).p) == 0)
		show_say("The conversation was shortened: %zu message%s became "
			 "a summary%s.",
		    n, plural(n),
		    text != NULL ? "" : " of the user's own words");
	a->history.tokens = 0;
	buf_free(&b);
	free(text);
}
