/* SPDX-License-Identifier: ISC */
/*
 * The lists of what servers offer beside tools. All of a server's lists are
 * asked for at once, beside its tools, whose listing does not wait for them. A
 * list that fails, or is too long, costs its server that list or its end.
 */
#include "parts/parts.h"

#include <stdio.h>

#include "common/json/json.h"
#include "common/log.h"
#include "define/fit.h"
#include "policyd.h"

static const struct {
	const char *method;
	char id;
	uint8_t part;
} lists[PROTO_LISTS] = {
    [PROTO_LIST_RESOURCES] = {"resources/list", 's', PROTO_PART_RESOURCES},
    [PROTO_LIST_TEMPLATES] = {"resources/templates/list", 'm',
	PROTO_PART_RESOURCES},
    [PROTO_LIST_PROMPTS] = {"prompts/list", 'p', PROTO_PART_PROMPTS},
};

static void
list_ask(struct session *s, unsigned which, struct span cursor)
{
	struct parts_list *l = &s->parts_of.list[which];
	const struct compose_form f = session_form(s);

	l->seq++;
	l->pages++;
	if (compose_list(&s->env->line, &f, lists[which].id,
		lists[which].method, l->seq, cursor) == 0)
		session_send(s->env, s->index, lists[which].method);
	else
		buf_reset(&s->env->line, 0);
}

static void
list_begin(struct session *s, unsigned which)
{
	struct parts_list *l = &s->parts_of.list[which];

	buf_free(&l->next);
	buf_init(&l->next, PARTS_MAX_LIST);
	l->listing = true;
	l->again = false;
	l->pages = l->n = l->left = 0;
	l->ttl = PROTO_MAX_TTL;
	list_ask(s, which, span_of(NULL, 0));
}

void
parts_begin(struct session *s)
{
	for (unsigned i = 0; i < PROTO_LISTS; i++)
		if ((s->parts & lists[i].part) != 0)
			list_begin(s, i);
}

/* Returns the parts that the agent may use. */
static uint8_t
parts_there(struct policyd_env *env)
{
	const struct session *s;
	uint8_t there = 0;

	for (unsigned i = 0; i < PROTO_FIRST_INSTANCE; i++) {
		s = &env->sessions[i];
		if (!s->used || env->engine.servers[i].internal ||
		    s->state == PROTO_STATE_GONE)
			continue;
		there |= s->parts & (uint8_t)~PROTO_PART_COMPLETION;
		if ((s->parts & PROTO_PART_COMPLETION) != 0 &&
		    parts_completion(
			env, span_str(env->engine.servers[i].name)))
			there |= PROTO_PART_COMPLETION;
	}
	return there;
}

static void
list_publish(struct policyd_env *env, unsigned which, uint8_t there)
{
	struct msg_PARTS msg = {
	    .list = (uint8_t)which, .parts = there, .ttl = PROTO_MAX_TTL};
	struct span text;
	struct buf b;

	buf_init(&b, PROTO_MAX_PARTS);
	buf_addc(&b, '[');
	for (unsigned i = 0; i < PROTO_FIRST_INSTANCE; i++) {
		text = buf_span(&env->sessions[i].parts_of.list[which].text);
		if (text.len != 0 &&
		    env->sessions[i].parts_of.list[which].ttl < msg.ttl)
			msg.ttl = env->sessions[i].parts_of.list[which].ttl;
		if (text.len == 0 ||
		    text.len > PROTO_MAX_PARTS - 2 - buf_span(&b).len)
			continue;
		if (buf_span(&b).len > 1)
			buf_addc(&b, ',');
		buf_addspan(&b, text);
	}
	buf_addc(&b, ']');
	msg.text = buf_span(&b);
	if (!b.failed)
		env->send(env, ROLE_PROXY, MSG_PARTS, &msg);
	buf_free(&b);
}

void
parts_publish(struct policyd_env *env)
{
	uint8_t there = parts_there(env);

	if (there == 0 && !env->parts_told)
		return;
	env->parts_told = true;
	for (unsigned i = 0; i < PROTO_LISTS; i++)
		list_publish(env, i, there);
}

static void
list_done(struct session *s, unsigned which, bool good)
{
	struct parts_list *l = &s->parts_of.list[which];

	l->listing = false;
	if (good) {
		buf_free(&l->text);
		l->text = l->next;
		l->shown = l->n;
		buf_init(&l->next, PARTS_MAX_LIST);
	} else {
		buf_free(&l->next);
	}
	if (l->left != 0)
		log_warnx("server %s: %u of its %s left out; the first is %s",
		    s->env->engine.servers[s->index].name, l->left,
		    which == PROTO_LIST_PROMPTS ? "prompts" : "resources",
		    l->why);
	parts_publish(s->env);
}

/* Take the items of a page. A list that is full takes no more. */
static void
list_take(struct session *s, unsigned which, const struct value *array)
{
	struct span server = span_str(s->env->engine.servers[s->index].name);
	struct parts_list *l = &s->parts_of.list[which];
	struct fit fit;
	struct buf one;
	char name[64];

	buf_init(&one, PARTS_MAX_LIST);
	for (const struct value *v = array->child; v != NULL; v = v->next) {
		buf_reset(&one, 4096);
		fit = (struct fit){.pool = s->env->pool};
		if (parts_item(&one, (enum proto_list)which, server, v, &fit) ==
			0 &&
		    (l->n == PARTS_MAX_ITEMS ||
			buf_span(&one).len + 1 >
			    PARTS_MAX_LIST - buf_span(&l->next).len))
			(void)fit_bad(&fit,
			    "the list has more than %u items or %zu KiB",
			    PARTS_MAX_ITEMS, PARTS_MAX_LIST >> 10);
		if (fit.why[0] != '\0') {
			if (l->left++ == 0)
				snprintf(l->why, sizeof(l->why), "\"%s\": %s",
				    log_vis(value_str(v, "name"), name,
					sizeof(name)),
				    fit.why);
			continue;
		}
		if (l->n++ != 0)
			buf_addc(&l->next, ',');
		buf_addspan(&l->next, buf_span(&one));
	}
	buf_free(&one);
}

void
parts_page(struct session *s, const struct msg_PARTS_PAGE *m)
{
	struct parts_list *l = &s->parts_of.list[m->list];
	const struct value *array;
	bool good = m->good != 0;

	if (!s->used || !l->listing || m->seq != l->seq)
		return;
	value_pool_reset(s->env->pool);
	array = good ? value_decode(s->env->pool, m->tree) : NULL;
	good = array != NULL && array->type == VALUE_ARRAY;
	if (m->ttl < l->ttl)
		l->ttl = m->ttl;
	if (good)
		list_take(s, m->list, array);
	value_pool_reset(s->env->pool);
	if (good && m->cursor.len != 0 && l->pages < PARTS_MAX_PAGES &&
	    l->n < PARTS_MAX_ITEMS) {
		list_ask(s, m->list, m->cursor);
		return;
	}
	list_done(s, m->list, good);
}

static void
relist_due(struct loop_timer *t)
{
	struct session *s = t->arg;

	if (s->state == PROTO_STATE_GONE || s->state == PROTO_STATE_DIED)
		return;
	for (unsigned i = 0; i < PROTO_LISTS; i++)
		if (s->parts_of.list[i].again && !s->parts_of.list[i].listing)
			list_begin(s, i);
}

void
parts_changed(struct session *s, enum proto_changed what)
{
	uint8_t part = what == PROTO_CHANGED_PROMPTS ? PROTO_PART_PROMPTS
						     : PROTO_PART_RESOURCES;
	bool waits = false;

	if (!s->used || s->state == PROTO_STATE_GONE || (s->parts & part) == 0)
		return;
	for (unsigned i = 0; i < PROTO_LISTS; i++) {
		waits = waits || s->parts_of.list[i].again;
		if (lists[i].part == part)
			s->parts_of.list[i].again = true;
	}
	if (!waits)
		loop_timer_set(s->env->loop, &s->parts_of.relist,
		    PARTS_RELIST_MS, relist_due, s);
}

void
parts_free(struct session *s)
{
	for (unsigned i = 0; i < PROTO_LISTS; i++) {
		struct parts_list *l = &s->parts_of.list[i];

		buf_free(&l->text);
		buf_free(&l->next);
		l->listing = l->again = false;
		l->shown = 0;
	}
	s->parts = 0;
}
