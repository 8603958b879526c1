/* SPDX-License-Identifier: ISC */
/*
 * Requests of every dialect, byte for byte: one conversation with calls and
 * results, and what another dialect makes of an answer that is not its own.
 */
#include <stdlib.h>

#include "docker/model/model_priv.h"
#include "tap.h"
#include "unit/model/compose_rows.h"

static struct model_call calls[] = {
    {(char[]){"c1"}, (char[]){"look"}, (char[]){"{\"p\":1}"}},
    {(char[]){"c2"}, (char[]){"look"}, NULL},
};

static struct model_message messages[] = {
    {.role = MODEL_USER, .text = (char[]){"one"}},
    {.role = MODEL_ASSISTANT,
	.text = (char[]){"I look."},
	.calls = calls,
	.ncalls = 2},
    {.role = MODEL_TOOL,
	.text = (char[]){"seen \"it\"\n"},
	.call_id = (char[]){"c1"},
	.call_name = (char[]){"look"}},
    {.role = MODEL_TOOL,
	.text = (char[]){"bad"},
	.is_error = true,
	.call_id = (char[]){"c2"},
	.call_name = (char[]){"look"}},
    {.role = MODEL_USER, .text = (char[]){"two \xff"}},
    {.role = MODEL_ASSISTANT,
	.text = (char[]){"Thought."},
	.dialect = MODEL_ANTHROPIC,
	.native = (char[]){"[{\"type\":\"thinking\",\"signature\":\"S\"}]"}},
    {.role = MODEL_USER, .text = (char[]){"three"}},
};

static const struct model_tool tools[] = {
    {"look", "Looks.", "{\"type\":\"object\"}"},
};

int
main(void)
{
	struct model_request r = {.name = "m",
	    .system = "Be brief.",
	    .max_output = 9,
	    .messages = messages,
	    .nmessages = nitems(messages),
	    .tools = tools,
	    .ntools = 1};
	struct value_pool *pool = value_pool_new(MODEL_POOL);
	struct buf b, path;
	char *text;

	for (size_t i = 0; i < nitems(compose_rows); i++) {
		const struct dialect *d = dialect_find(compose_rows[i].dialect);

		buf_init(&b, MODEL_REQUEST_MAX);
		buf_init(&path, 256);
		r.openai = true;
		d->compose(&b, &r);
		d->path(&path, "m");
		text = span_dup(buf_span(&b));
		is_str(text, compose_rows[i].want, "a request of %s", d->name);
		free(text);
		ok(json_read(pool, buf_span(&b), NULL) != NULL,
		    "is one JSON text");
		ok(span_is(buf_span(&path), compose_rows[i].path), "its path");
		value_pool_reset(pool);
		buf_free(&b);
		buf_free(&path);
	}
	value_pool_free(pool);
	return tap_done();
}
