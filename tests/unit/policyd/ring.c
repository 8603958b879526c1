/* SPDX-License-Identifier: ISC */
#include "common/sha256.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static struct ring *current;

/* Keep a copy of the message, followed by its texts. */
static void
keep(struct policyd_env *env, enum role role, enum msg_type type,
    const void *msg)
{
	const struct proto_msg *m = proto_find((uint16_t)type);
	struct ring *r = current;
	struct ring_sent *s = &r->sent[r->n];
	size_t bytes = 0, at = 0;
	struct span text;

	if (r->n == RING_MAX)
		errx(1, "more than %d messages", RING_MAX);
	s->role = role;
	s->type = type;
	memcpy(&s->msg, msg, m->size);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < m->nfields; i++) {
			uint8_t *f = (uint8_t *)&s->msg + m->fields[i].offset;

			if (m->fields[i].kind < PROTO_str)
				continue;
			memcpy(&text, f, sizeof(text));
			if (text.len > m->fields[i].max)
				errx(1, "%s.%s is too long: %zu", m->name,
				    m->fields[i].name, text.len);
			if (pass == 0) {
				bytes += text.len;
				continue;
			}
			if (text.len != 0)
				memcpy(s->bytes + at, text.p, text.len);
			text.p = s->bytes + at;
			at += text.len;
			memcpy(f, &text, sizeof(text));
		}
		if (pass == 0 && (s->bytes = malloc(bytes + 1)) == NULL)
			err(1, "malloc");
	}
	r->n++;
}

void
ring_init(struct ring *r, bool ask)
{
	memset(r, 0, sizeof(*r));
	current = r;
	if (loop_init(&r->loop, POLICYD_TIMERS) == -1)
		err(1, "loop_init");
	r->loop.now = 1000000;
	if (policyd_init(&r->env, &r->loop) == -1)
		err(1, "policyd_init");
	r->env.send = keep;
	r->env.started = true;
	rig_init(&r->rig, &r->env.engine);
	r->env.engine.ask = ask;
}

void
ring_free(struct ring *r)
{
	ring_clear(r);
	policyd_free(&r->env);
	loop_free(&r->loop);
	rig_free(&r->rig);
}

void
ring_clear(struct ring *r)
{
	for (unsigned i = 0; i < r->n; i++)
		free(r->sent[i].bytes);
	r->n = 0;
}

const union proto_any *
ring_find(const struct ring *r, enum msg_type type, unsigned n)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (r->sent[i].type == type && n-- == 0)
			return &r->sent[i].msg;
	}
	return NULL;
}

static struct span
encoded(struct ring *r, const char *json, struct buf *b)
{
	buf_init(b, 32 << 20);
	if (value_encode(rig_tree(&r->rig, json), b) == -1)
		err(1, "value_encode");
	return buf_span(b);
}

void
ring_ready_json(
    struct ring *r, unsigned index, const char *name, const char *tools)
{
	struct msg_INIT_RESULT init = {.good = 1,
	    .tools = 1,
	    .version = SPAN("2025-06-18"),
	    .text = span_str(name)};
	struct msg_DISCOVERED old = {.how = PROTO_DISCOVERED_INITIALIZE};
	struct msg_TOOLS_PAGE page = {.good = 1};
	struct buf bytes;

	session_start(&r->env, (uint16_t)index);
	session_discovered(&r->env, (uint16_t)index, &old);
	session_init_result(&r->env, (uint16_t)index, &init);
	page.seq = r->env.sessions[index].seq;
	page.tree = encoded(r, tools, &bytes);
	session_tools_page(&r->env, (uint16_t)index, &page);
	buf_free(&bytes);
	if (r->env.sessions[index].state != PROTO_STATE_READY)
		errx(1, "%s is not ready", name);
}

void
ring_ready(struct ring *r, unsigned index, const char *name, const char *tools)
{
	struct buf json;
	char *text;
	size_t len;

	buf_init(&json, 1 << 20);
	buf_addc(&json, '[');
	for (; *tools != '\0'; tools += len + strspn(tools + len, " ")) {
		len = strcspn(tools, " ");
		buf_printf(&json,
		    "%s{\"name\":\"%.*s\",\"inputSchema\":"
		    "{\"type\":\"object\"}}",
		    json.len == 1 ? "" : ",", (int)len, tools);
	}
	buf_addc(&json, ']');
	if ((text = span_dup(buf_span(&json))) == NULL)
		err(1, "span_dup");
	ring_ready_json(r, index, name, text);
	buf_free(&json);
	free(text);
}

uint64_t
ring_call(struct ring *r, unsigned server, const char *tool, const char *args)
{
	struct msg_CALL m = {
	    .id = ++r->id, .server = (uint16_t)server, .tool = span_str(tool)};
	const char *why;
	struct buf b;
	int ret;

	m.args = encoded(r, args, &b);
	ret = call_take(&r->env, &m, &why);
	buf_free(&b);
	if (ret == -1)
		printf("# violation: %s\n", why);
	return ret == -1 ? 0 : m.id;
}

void
ring_verdict(struct ring *r, uint64_t id, struct span digest, bool approve,
    const char *because)
{
	struct msg_VERDICT_GO m = {.id = id,
	    .digest = digest,
	    .approve = approve,
	    .because = span_str(because)};

	call_verdict(&r->env, &m);
}

void
ring_verdict_session(
    struct ring *r, uint64_t id, struct span digest, const char *offer)
{
	uint8_t shown[SHA256_SIZE];
	struct msg_VERDICT_GO m = {.id = id,
	    .digest = digest,
	    .session = span_of(shown, sizeof(shown)),
	    .approve = 1};

	sha256_span(span_str(offer), shown);
	call_verdict(&r->env, &m);
}

const char *
ring_str(struct span s)
{
	static char texts[2][1 << 16];
	static unsigned which;
	char *t = texts[which ^= 1];

	if (span_copy(s, t, sizeof(texts[0])) == -1)
		return "(unprintable)";
	return t;
}
