/* SPDX-License-Identifier: ISC */
/*
 * Notes about definitions that do not reach the agent as their server wrote
 * them. Names and reasons were made printable before; the person reads them
 * through icsupervisor.
 */
#include "policyd.h"

#include "common/json/json.h"
#include "common/log.h"
#include "common/sha256.h"

/* Messages for one server in a session, which may list its tools for ever. */
#define NOTES_SENT 64U

static struct span
keep(struct session_tools *t, struct span text)
{
	uint8_t *p;

	if (text.len == 0 || (p = value_pool_alloc(t->pool, text.len)) == NULL)
		return span_of(NULL, 0);
	memcpy(p, text.p, text.len);
	return span_of(p, text.len);
}

void
tool_note_add(struct session_tools *t, struct span tool, struct span full,
    bool left, const char *why)
{
	struct tool_note *n = NULL;

	if (t->nnotes < TOOL_NOTES) {
		n = &t->notes[t->nnotes++];
	} else {
		t->more++;
		for (unsigned i = 0; left && i < t->nnotes && n == NULL; i++)
			if (!t->notes[i].left)
				n = &t->notes[i];
	}
	if (n == NULL)
		return;
	*n = (struct tool_note){
	    .tool = keep(t, tool),
	    .full = keep(t, full),
	    .why = keep(t, span_str(why)),
	    .left = left,
	};
}

static void
put(struct buf *b, const char *before, struct span text)
{
	buf_adds(b, before);
	(void)json_write_string(b, text);
}

static void
put_note(struct buf *b, const struct tool_note *n)
{
	buf_adds(b, b->len > 1 ? ",{" : "{");
	if (n->full.len != 0)
		put(b, "\"as\":", n->full);
	buf_printf(b, "%s\"left\":%s", n->full.len != 0 ? "," : "",
	    n->left ? "true" : "false");
	put(b, ",\"tool\":", n->tool);
	put(b, ",\"why\":", n->why);
	buf_addc(b, '}');
}

/* Write all notes, and one for each tool that has no room. */
static unsigned
put_notes(struct buf *b, const struct session *s)
{
	struct tool_note n = {.left = true,
	    .why = SPAN("the definitions of all servers have no room for it "
			"(toolDefinitions.maxTotalKiB)")};
	const struct session_tools *t = &s->tools;
	unsigned more = t->more, written = t->nnotes;

	buf_addc(b, '[');
	for (unsigned i = 0; i < t->nnotes; i++)
		put_note(b, &t->notes[i]);
	for (size_t i = 0; i < t->n; i++) {
		if (!t->list[i].crowded)
			continue;
		n.tool = t->list[i].name;
		if (written++ < TOOL_NOTES)
			put_note(b, &n);
		else
			more++;
	}
	buf_addc(b, ']');
	return more;
}

void
tool_notes_send(struct session *s)
{
	struct msg_TOOLS_NOTED m = {.server = s->index};
	uint8_t digest[32];
	struct buf b;

	buf_init(&b, PROTO_MAX_NOTED);
	m.more = put_notes(&b, s);
	m.text = buf_span(&b);
	sha256_span(m.text, digest);
	if (b.failed || (m.text.len == 2 && s->nnoted == 0) ||
	    (s->nnoted != 0 && memcmp(digest, s->noted, sizeof(digest)) == 0))
		goto out;
	if (s->nnoted > NOTES_SENT)
		goto out;
	memcpy(s->noted, digest, sizeof(digest));
	if (s->nnoted++ == NOTES_SENT)
		log_warnx("server %s changes its tools too often: no more is "
			  "told of their definitions",
		    s->env->engine.servers[s->index].name);
	else
		s->env->send(s->env, ROLE_AUDIT, MSG_TOOLS_NOTED, &m);
out:
	buf_free(&b);
}
