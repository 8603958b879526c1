/* SPDX-License-Identifier: ISC */
/* A turn: the model is asked, its calls are made, until it has answered. */
#include "docker/agent/agent.h"

#include <stdio.h>
#include <stdlib.h>

static void
on_text(void *arg, struct span text)
{
	show_text(text);
}

static void
on_again(void *arg, const char *why, unsigned ms, bool shown)
{
	show_say("%s%s Trying again in %u.%u s.",
	    shown ? "[This answer is void.] " : "", why, ms / 1000,
	    ms % 1000 / 100);
}

static const struct model_show turn_show = {.text = on_text, .again = on_again};

/* Say in plain words why the model could not be asked. */
static enum turn_end
turn_failed(struct agent *a, const struct model_answer *out)
{
	char text[MODEL_WHY_MAX + 256], again[64] = "";

	if (out->error == MODEL_CANCELLED)
		return TURN_INTERRUPTED;
	if (out->retry_s != 0)
		snprintf(
		    again, sizeof(again), " Try again in %u s.", out->retry_s);
	switch (out->error) {
	case MODEL_BUDGET:
		snprintf(text, sizeof(text),
		    "The session's budget is used up, so the model is not "
		    "asked any more. What was done is kept. Raise it outside "
		    "with `icctl budget`, then go on. (%s)",
		    out->why);
		break;
	case MODEL_QUOTA:
	case MODEL_AUTHENTICATION:
	case MODEL_TOO_LONG:
	case MODEL_TRANSIENT:
	case MODEL_HARD:
	case MODEL_OK:
	case MODEL_CANCELLED:
		snprintf(text, sizeof(text), "%s%s", out->why, again);
		break;
	}
	show_error(model_error_name(out->error), text);
	return TURN_FAILED;
}

/* Ask the model, with a shorter conversation if it is too long. */
static int
turn_ask(struct agent *a, struct model_answer *out)
{
	int r;

	compact_run(a, false);
	for (unsigned i = 0;; i++) {
		r = model_turn(a->provider, a->system, a->history.messages,
		    a->history.n, a->offered, a->noffered, &turn_show, out);
		show_text_end();
		if (r == 0 || out->error != MODEL_TOO_LONG || i == 1)
			return r;
		model_answer_free(out);
		compact_run(a, true);
	}
}

/* Keep what the model had said before it was interrupted. */
static void
turn_keep(struct agent *a, struct model_answer *out)
{
	struct model_message m = {.role = MODEL_ASSISTANT};

	if (out->text == NULL || out->error != MODEL_CANCELLED)
		return;
	m.text = out->text;
	out->text = NULL;
	history_add(&a->history, &m);
}

/* The list of tools may have changed since the latest request. */
static int
turn_tools(struct agent *a)
{
	char why[MODEL_WHY_MAX];

	if (!a->mcp.changed)
		return 0;
	if (offer_tools(a, why) == 0)
		return 0;
	show_error("tools", why);
	return -1;
}

static enum turn_end
turn_ended(struct agent *a)
{
	if (signals_got() != 0)
		return TURN_INTERRUPTED;
	if (a->mcp.gone) {
		show_error("session", a->mcp.why);
		return TURN_GONE;
	}
	if (repeat_hopeless(&a->repeat))
		show_error("circles",
		    "The agent goes in circles: it repeated calls after it was "
		    "told not to. The turn ends here.");
	return TURN_FAILED;
}

static void
turn_stopped(const struct model_answer *out, enum model_stop stop)
{
	if (stop == MODEL_STOP_LENGTH)
		show_say("The answer was cut: it reached the limit of one "
			 "answer.");
	else if (stop == MODEL_STOP_REFUSED)
		show_error("refused", "The model refused to answer.");
	else if (out->text == NULL && out->ncalls == 0)
		show_error("empty", "The model said nothing.");
}

/* One request and its calls.  Returns true if another one has to follow. */
static bool
turn_step(struct agent *a, enum turn_end *end)
{
	struct model_answer out = {0};
	struct model_message m;
	bool calls;

	*end = TURN_FAILED;
	if (turn_tools(a) == -1)
		return false;
	if (turn_ask(a, &out) == -1) {
		turn_keep(a, &out);
		*end = turn_failed(a, &out);
		model_answer_free(&out);
		return false;
	}
	a->history.tokens = out.usage.in + out.usage.out;
	turn_stopped(&out, out.stop);
	calls = out.ncalls != 0;
	*end = out.stop == MODEL_STOP_REFUSED ? TURN_FAILED : TURN_DONE;
	model_answer_take(&out, a->choice.dialect, &m);
	model_answer_free(&out);
	if (m.text == NULL && m.ncalls == 0) {
		model_message_free(&m);
		return false;
	}
	if (history_add(&a->history, &m) == -1) {
		show_error("long", "The conversation has too many messages. "
				   "Start a new one.");
		*end = TURN_FAILED;
		return false;
	}
	if (!calls)
		return false;
	if (calls_run(a, &a->history.messages[a->history.n - 1]) == 0)
		return true;
	*end = turn_ended(a);
	return false;
}

enum turn_end
turn_run(struct agent *a, const char *message)
{
	enum turn_end end;

	signals_clear();
	repeat_reset(&a->repeat);
	history_mend(&a->history, "The call was interrupted; its result is "
				  "unknown.");
	if (history_add_text(&a->history, MODEL_USER, message) == -1) {
		show_error("long", "The conversation has too many messages. "
				   "Start a new one.");
		return TURN_FAILED;
	}
	while (turn_step(a, &end))
		continue;
	show_text_end();
	if (a->history.lost)
		show_error("history", "The conversation cannot be written to "
				      "the agent's home: it will not be "
				      "remembered. Is the disk full?");
	return end;
}
