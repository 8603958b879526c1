/* SPDX-License-Identifier: ISC */
/*
 * The channel to icctl, which the editor has started. icctl passes on the
 * editor's bytes unread, and composes the editor's lines from trees.
 */
#include "workers/acpd/acpd.h"

#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "common/visible.h"

/* Returns true if the agent has taken what it was sent. */
static bool
editor_may_send(void)
{
	return acpd_env.box.out.len <= ACPD_BOX_FULL &&
	       !acp_waits(&acpd_env.acp);
}

static int
on_input(struct chan *c, const struct msg_INPUT *m)
{
	struct lines *l = &acpd_env.editor.lines;
	uint8_t *room;

	if (m->bytes.len > PROTO_TYPED_ROOM - acpd_env.owed)
		return chan_violation(c, "more INPUT than there is room for");
	acpd_env.owed += (uint32_t)m->bytes.len;
	if ((room = lines_room(l)) == NULL)
		fatal("a line of the editor");
	memcpy(room, m->bytes.p, m->bytes.len);
	lines_filled(l, m->bytes.len);
	acpd_env.editor.more = true;
	return 0;
}

static int
on_input_end(struct chan *c, const struct msg_INPUT_END *m)
{
	acpd_env.input_end = true;
	return 0;
}

static int
on_shown(struct chan *c, const struct msg_ACP_SHOWN *m)
{
	if (!acp_waits(&acpd_env.acp))
		return chan_violation(c, "ACP_SHOWN of no image");
	acp_shown(&acpd_env.acp, m->name);
	return 0;
}

/* Nobody reads the answers any more: the agent may end. */
static int
on_out_gone(struct chan *c, const struct msg_OUT_GONE *m)
{
	if (m->stream == 0) {
		acpd_env.gone = true;
		acpd_box_end();
	}
	return 0;
}

/* clang-format off */
static const struct chan_handler editor_handlers[] = {
	HANDLER(INPUT,		on_input),
	HANDLER(INPUT_END,	on_input_end),
	HANDLER(OUT_GONE,	on_out_gone),
	HANDLER(ACP_SHOWN,	on_shown),
};
/* clang-format on */

static void
editor_closed(struct chan *c, const char *why)
{
	if (why != NULL)
		log_warnx("icctl broke the protocol: %s", why);
	chan_free(c);
	acpd_env.chan = NULL;
	acpd_env.gone = true;
	acpd_box_end();
}

void
acpd_editor_open(int fd)
{
	static const struct chan_ops ops = {.handlers = editor_handlers,
	    .nhandlers = nitems(editor_handlers),
	    .closed = editor_closed};
	struct acpd_env *e = &acpd_env;

	if (e->chan != NULL || e->gone) {
		log_warnx("another viewer than the editor");
		close(fd);
		return;
	}
	e->chan = chan_new(
	    &e->w.loop, fd, ROLE_ACP, ROLE_VIEWER, 0, &ops, NULL);
	if (e->chan == NULL)
		fatal("chan_new");
	chan_phase(e->chan, PHASE_RUN);
	if (chan_open(e->chan) == -1)
		fatal("the editor's channel");
}

static void
editor_send(enum msg_type type, const void *msg)
{
	if (acpd_env.chan != NULL && !acpd_env.gone)
		(void)chan_send(acpd_env.chan, type, msg, -1);
}

void
acpd_editor_room(void)
{
	struct msg_INPUT_ROOM m = {.bytes = acpd_env.owed};

	acpd_lines_work(&acpd_env.editor, editor_may_send, false);
	if (acpd_env.editor.more || !editor_may_send())
		return;
	/* Nothing of what was typed before the end is waiting. */
	if (acpd_env.input_end)
		acpd_box_end();
	if (m.bytes == 0)
		return;
	acpd_env.owed = 0;
	editor_send(MSG_INPUT_ROOM, &m);
}

bool
acpd_editor_reads(void)
{
	const struct acpd_env *e = &acpd_env;

	if (e->box.out.len > ACPD_BOX_STOP || worker_is_behind(&e->w))
		return false;
	if (e->chan == NULL)
		return e->gone || e->stopping;
	return chan_queued(e->chan) <= ACPD_AHEAD && !chan_is_behind(e->chan);
}

void
acpd_editor_end(void)
{
	static const struct msg_BOX_END m;

	if (!acpd_env.ended)
		editor_send(MSG_BOX_END, &m);
	acpd_env.ended = true;
}

/* Send a line for standard error. */
static void
editor_log(const char *who, struct span text, bool again)
{
	struct msg_RAW m = {.stream = 1};
	struct buf b;

	buf_init(&b, 8 * ACPD_SAID);
	buf_adds(&b, who);
	(void)visible_add(&b, text, again ? VISIBLE_AGAIN : 0);
	buf_addc(&b, '\n');
	m.bytes = buf_span(&b);
	if (buf_check(&b) == 0)
		editor_send(MSG_RAW, &m);
	buf_free(&b);
}

void
acpd_say(struct span line)
{
	editor_log("agent: ", line, false);
}

static void
ops_to_agent(struct acp *a, struct span line)
{
	acpd_box_send(line);
	acpd_box_send(SPAN("\n"));
}

/* Returns the id as a value, or NULL if there is none, or no room. */
static struct value *
editor_id(struct acp *a, const struct jsonrpc_id *id)
{
	const struct value *v = NULL;

	if (id != NULL && id->len != 0)
		v = json_read(a->pool, span_of(id->text, id->len), NULL);
	return v == NULL ? NULL : value_copy(a->pool, v);
}

static int
ops_to_editor(struct acp *a, enum proto_acp kind, uint64_t n,
    const struct jsonrpc_id *id, struct value *tree)
{
	struct msg_ACP_OUT m = {.kind = (uint8_t)kind, .n = n};
	struct value *o = value_new(a->pool, VALUE_OBJECT);
	struct value *v = editor_id(a, id);
	struct buf b;
	int rv = -1;

	buf_init(&b, PROTO_MAX_TREE);
	if (o != NULL && value_set(o, SPAN("body"), tree) == 0 &&
	    (v == NULL || value_set(o, SPAN("id"), v) == 0) &&
	    value_encode(o, &b) == 0) {
		m.tree = buf_span(&b);
		editor_send(MSG_ACP_OUT, &m);
		rv = 0;
	}
	buf_free(&b);
	return rv;
}

static void
ops_note(struct acp *a, const char *text)
{
	editor_log("icctl: ", span_str(text), true);
}

static int
ops_show(struct acp *a, struct span image)
{
	struct msg_ACP_IMAGE m = {.bytes = image};

	if (acpd_env.chan == NULL || acpd_env.gone)
		return -1;
	return chan_send(acpd_env.chan, MSG_ACP_IMAGE, &m, -1);
}

static void
ops_refused(struct acp *a, struct span method)
{
	struct msg_ALARM m = {.kind = SPAN("acp")};
	char text[256], shown[128];

	if (acpd_env.alarms >= ACPD_MAX_ALARMS)
		return;
	acpd_env.alarms++;
	snprintf(text, sizeof(text),
	    "the agent asked the editor for %s, which was refused%s",
	    log_vis(method, shown, sizeof(shown)),
	    acpd_env.alarms == ACPD_MAX_ALARMS ? "; more are not recorded"
					       : "");
	m.text = span_str(text);
	worker_send(&acpd_env.w, ROLE_AUDIT, 0, MSG_ALARM, &m, -1);
}

static void
ops_prompted(struct acp *a)
{
	static const struct msg_PERSON_SAID m = {.prompt = 1};

	(void)a;
	worker_send(&acpd_env.w, ROLE_SUP, 0, MSG_PERSON_SAID, &m, -1);
}

const struct acp_ops acpd_ops = {
    .to_agent = ops_to_agent,
    .to_editor = ops_to_editor,
    .note = ops_note,
    .prompted = ops_prompted,
    .show = ops_show,
    .refused = ops_refused,
};
