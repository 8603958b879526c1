/* SPDX-License-Identifier: ISC */
/* Reads one line of a relay strictly, and puts its frame. */
#include "workers/hear/hear.h"

#include <string.h>

#include "common/json/json.h"
#include "common/log.h"

static const char hear_form[] = "it sent a line of an unknown form";

/* Copy a text that may be missing, then "". Returns 0, or -1 if it is none. */
static int
line_text(const struct value *v, const char *key, char *dst, size_t cap)
{
	const struct value *m = value_get(v, key);

	dst[0] = '\0';
	if (m == NULL)
		return 0;
	return m->type != VALUE_STRING ||
		       memchr(m->text.p, '\0', m->text.len) != NULL
		   ? -1
		   : span_copy(m->text, dst, cap);
}

/*
 * Copy a text, of which as much is kept as has room, up to a whole character.
 * Returns 0, or -1 if it is none.
 */
static int
line_head(const struct value *v, const char *key, char *dst, size_t cap)
{
	const struct value *m = value_get(v, key);
	size_t n;

	dst[0] = '\0';
	if (m == NULL)
		return 0;
	if (m->type != VALUE_STRING ||
	    memchr(m->text.p, '\0', m->text.len) != NULL)
		return -1;
	n = m->text.len < cap ? m->text.len : cap - 1;
	while (n != 0 && n < m->text.len && (m->text.p[n] & 0xc0) == 0x80)
		n--;
	if (n != 0)
		memcpy(dst, m->text.p, n);
	dst[n] = '\0';
	return 0;
}

static int
line_u64(const struct value *v, const char *key, uint64_t *n)
{
	int64_t got;

	if (value_int(value_get(v, key), 0, INT64_MAX, &got) == -1)
		return -1;
	*n = (uint64_t)got;
	return 0;
}

static int
line_hello(struct hear *h, const struct value *v)
{
	struct hear_hello f = {.host = ""};
	int64_t version;

	if (h->met ||
	    value_int(value_get(v, "relay"), 1, INT32_MAX, &version) == -1 ||
	    line_text(v, "host", f.host, sizeof(f.host)) == -1 ||
	    line_text(v, "boot", f.boot, sizeof(f.boot)) == -1 ||
	    line_text(v, "user", f.user, sizeof(f.user)) == -1 ||
	    line_text(v, "version", f.version, sizeof(f.version)) == -1)
		return -1;
	h->met = true;
	h->put(HEAR_HELLO, span_of(&f, sizeof(f)), SPAN(""));
	return 0;
}

static int
line_reply(struct hear *h, const struct value *v)
{
	struct hear_reply f = {.n = 0};

	if (line_u64(v, "reply", &f.n) == -1 ||
	    line_head(v, "code", f.code, sizeof(f.code)) == -1 ||
	    line_head(v, "error", f.error, sizeof(f.error)) == -1)
		return -1;
	f.ok = value_bool(v, "ok", false);
	h->put(HEAR_REPLY, span_of(&f, sizeof(f)), SPAN(""));
	return 0;
}

static int
line_row(struct hear *h, const struct value *v, const char *session)
{
	struct hear_row f = {.session = ""};

	(void)strlcpy(f.session, session, sizeof(f.session));
	if (line_text(v, "is", f.is, sizeof(f.is)) == -1 ||
	    line_head(v, "agent", f.agent, sizeof(f.agent)) == -1 ||
	    line_head(v, "workspace", f.workspace, sizeof(f.workspace)) == -1 ||
	    line_head(v, "policy", f.policy, sizeof(f.policy)) == -1 ||
	    line_head(v, "state", f.state, sizeof(f.state)) == -1 ||
	    line_head(v, "until", f.until, sizeof(f.until)) == -1 ||
	    line_head(v, "why", f.why, sizeof(f.why)) == -1)
		return -1;
	h->put(HEAR_ROW, span_of(&f, sizeof(f)), SPAN(""));
	return 0;
}

/* Put a member that is an object as a tree. */
static int
line_tree(struct hear *h, enum hear_kind kind, const struct value *v,
    const char *session)
{
	struct hear_name f = {.session = ""};
	struct buf b;
	int r = -1;

	(void)strlcpy(f.session, session, sizeof(f.session));
	buf_init(&b, HEAR_FRAME - sizeof(f));
	if (v->type == VALUE_OBJECT && value_encode(v, &b) == 0) {
		h->put(kind, span_of(&f, sizeof(f)), buf_span(&b));
		r = 0;
	}
	buf_free(&b);
	return r;
}

static int
line_hold_end(struct hear *h, const struct value *v, const char *session)
{
	struct hear_name f = {.session = ""};

	(void)strlcpy(f.session, session, sizeof(f.session));
	if (line_text(v, "holdEnd", f.id, sizeof(f.id)) == -1 ||
	    line_text(v, "state", f.state, sizeof(f.state)) == -1)
		return -1;
	h->put(HEAR_HOLD_END, span_of(&f, sizeof(f)), SPAN(""));
	return 0;
}

static int
line_item(struct hear *h, const struct value *v, const char *session)
{
	struct hear_item f = {.us = 0};
	uint64_t kind;

	(void)strlcpy(f.session, session, sizeof(f.session));
	if (v->type != VALUE_OBJECT || line_u64(v, "kind", &kind) == -1 ||
	    kind > UINT32_MAX || line_u64(v, "us", &f.us) == -1 ||
	    line_text(v, "id", f.id, sizeof(f.id)) == -1 ||
	    line_text(v, "state", f.state, sizeof(f.state)) == -1 ||
	    line_head(v, "text", f.text, sizeof(f.text)) == -1)
		return -1;
	f.kind = (uint32_t)kind;
	h->put(HEAR_ITEM, span_of(&f, sizeof(f)), SPAN(""));
	return 0;
}

/* Take a line about a session. */
static int
line_session(struct hear *h, const struct value *v)
{
	struct hear_name f = {.session = ""};
	const struct value *m;
	char session[HEAR_ID];

	if (line_text(v, "session", session, sizeof(session)) == -1 ||
	    session[0] == '\0')
		return -1;
	if ((m = value_get(v, "hold")) != NULL)
		return line_tree(h, HEAR_HOLD, m, session);
	if ((m = value_get(v, "status")) != NULL)
		return line_tree(h, HEAR_STATUS, m, session);
	if ((m = value_get(v, "budget")) != NULL)
		return line_tree(h, HEAR_BUDGET, m, session);
	if ((m = value_get(v, "item")) != NULL)
		return line_item(h, m, session);
	if (value_get(v, "holdEnd") != NULL)
		return line_hold_end(h, v, session);
	if (value_get(v, "is") != NULL)
		return line_row(h, v, session);
	if (!value_bool(v, "gone", false))
		return -1;
	(void)strlcpy(f.session, session, sizeof(f.session));
	h->put(HEAR_GONE, span_of(&f, sizeof(f)), SPAN(""));
	return 0;
}

const char *
hear_line(struct hear *h, struct span line)
{
	const struct value *v;
	int r;

	value_pool_reset(h->pool);
	v = json_read(h->pool, line, NULL);
	if (v == NULL || v->type != VALUE_OBJECT)
		return h->met ? "it sent a line that is no JSON object"
			      : "its output is no relay's: something else is "
				"printed first";
	if (value_get(v, "relay") != NULL) {
		r = line_hello(h, v);
	} else if (!h->met) {
		return "its first line does not say that it is a relay";
	} else if (value_get(v, "alive") != NULL) {
		h->put(HEAR_ALIVE, SPAN(""), SPAN(""));
		r = 0;
	} else if (value_get(v, "reply") != NULL) {
		r = line_reply(h, v);
	} else {
		r = line_session(h, v);
	}
	return r == -1 ? hear_form : NULL;
}

void
hear_said(struct hear *h, struct span line)
{
	struct hear_text f;

	(void)log_vis(line, f.text, sizeof(f.text));
	h->put(HEAR_SAID, span_of(&f, sizeof(f)), SPAN(""));
}
