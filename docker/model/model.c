/* SPDX-License-Identifier: ISC */
/*
 * Turns of a conversation.  A turn is tried again only after a failure that
 * passes, and only where the caller can say that text it showed is void.
 */
#include "docker/model/model.h"

#include <stdio.h>
#include <stdlib.h>

#include "docker/model/http.h"

#define WAIT_FIRST_MS 500U
#define WAIT_MAX_MS 30000U
/* A provider that wants more is reported instead. */
#define WAIT_ASKED_MS 60000U

struct model {
	const struct dialect *dialect;
	struct model_options options;
	char *name;
	struct http *http;
	struct buf path;
};

/* The name becomes part of a path. */
static bool
name_ok(enum model_dialect d, const char *name)
{
	size_t n = name != NULL ? strlen(name) : 0;

	return n != 0 && n <= MODEL_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
			    "XYZ0123456789._:@+-/") == n &&
	       strstr(name, "..") == NULL &&
	       (d != MODEL_GEMINI || strpbrk(name, "/:@+") == NULL);
}

struct model *
model_new(const struct model_options *o, char why[MODEL_WHY_MAX])
{
	const struct dialect *d = dialect_find(o->dialect);
	struct model *m;

	*why = '\0';
	if (d == NULL || !name_ok(o->dialect, o->name)) {
		snprintf(why, MODEL_WHY_MAX, "%s",
		    d == NULL ? "There is no such dialect."
			      : "The model's name may have letters, digits and "
				"._:@+-/ only.");
		return NULL;
	}
	if (o->key == NULL || *o->key == '\0') {
		snprintf(why, MODEL_WHY_MAX, "There is no key.");
		return NULL;
	}
	if ((m = calloc(1, sizeof(*m))) == NULL)
		return NULL;
	m->dialect = d;
	m->options = *o;
	m->options.key = m->options.base = m->options.name = NULL;
	if (o->connect_ms == 0)
		m->options.connect_ms = 30000;
	if (o->idle_ms == 0)
		m->options.idle_ms = 300000;
	if (o->total_ms == 0)
		m->options.total_ms = 1800000;
	if (o->attempts == 0)
		m->options.attempts = 5;
	if (o->max_output == 0)
		m->options.max_output = 8192;
	buf_init(&m->path, 1024);
	d->path(&m->path, o->name);
	buf_addc(&m->path, '\0');
	m->name = strdup(o->name);
	m->options.key = o->key;
	m->options.base = o->base;
	m->http = http_new(d, &m->options, why);
	m->options.key = m->options.base = NULL;
	if (m->name == NULL || m->http == NULL || buf_check(&m->path) == -1) {
		model_free(m);
		return NULL;
	}
	return m;
}

void
model_free(struct model *m)
{
	if (m == NULL)
		return;
	http_free(m->http);
	buf_free(&m->path);
	free(m->name);
	free(m);
}

static int
attempt(struct model *m, struct span body, const struct model_show *show,
    struct model_answer *out, struct http_reply *reply, bool *shown)
{
	struct stream s;
	int r;

	*reply = (struct http_reply){0};
	if (stream_init(&s, m->dialect, show, out) == 0)
		r = http_post(m->http, (const char *)buf_span(&m->path).p, body,
		    &s, reply);
	else
		r = -1;
	*shown = s.shown;
	model_stream_free(&s);
	return r;
}

/* Returns the time until the next attempt. */
static unsigned
wait_ms(unsigned n, const struct http_reply *reply)
{
	unsigned ms = WAIT_FIRST_MS << (n < 6 ? n : 6);

	if (reply->retry_ms != 0)
		return reply->retry_ms;
	if (ms > WAIT_MAX_MS)
		ms = WAIT_MAX_MS;
	/* Sessions that failed together do not come back together. */
	return ms + arc4random_uniform(ms / 4 + 1);
}

static int
turn_run(struct model *m, struct span body, const struct model_show *show,
    struct model_answer *out)
{
	struct http_reply reply;
	unsigned ms;
	bool shown;

	for (unsigned n = 0;; n++) {
		*out = (struct model_answer){0};
		if (attempt(m, body, show, out, &reply, &shown) == 0)
			return 0;
		out->retry_s = (reply.retry_ms + 999) / 1000;
		if (out->error != MODEL_TRANSIENT || reply.no_retry ||
		    n + 1 >= m->options.attempts ||
		    reply.retry_ms > WAIT_ASKED_MS ||
		    (shown && (show == NULL || show->again == NULL)))
			return -1;
		ms = wait_ms(n, &reply);
		if (show != NULL && show->again != NULL)
			show->again(show->arg, out->why, ms, shown);
		if (!http_wait(m->http, ms)) {
			out->error = MODEL_CANCELLED;
			snprintf(out->why, sizeof(out->why),
			    "The turn was interrupted.");
			return -1;
		}
		model_answer_free(out);
	}
}

int
model_turn(struct model *m, const char *system,
    const struct model_message *messages, size_t nmessages,
    const struct model_tool *tools, size_t ntools,
    const struct model_show *show, struct model_answer *out)
{
	struct model_request r = {.name = m->name,
	    .system = system,
	    .max_output = m->options.max_output,
	    .openai = http_is_base(m->http, "https://api.openai.com"),
	    .messages = messages,
	    .nmessages = nmessages,
	    .tools = tools,
	    .ntools = ntools};
	struct buf body;
	int ret = -1;

	*out = (struct model_answer){0};
	buf_init(&body, MODEL_REQUEST_MAX);
	m->dialect->compose(&body, &r);
	if (buf_check(&body) == -1) {
		out->error = MODEL_TOO_LONG;
		snprintf(out->why, sizeof(out->why),
		    "The conversation is too long: over %u MB.",
		    MODEL_REQUEST_MAX >> 20);
	} else {
		ret = turn_run(m, buf_span(&body), show, out);
	}
	buf_free(&body);
	return ret;
}
