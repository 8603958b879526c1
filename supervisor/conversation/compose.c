/* SPDX-License-Identifier: ISC */
/*
 * Composes a turn's command from the adapter's templates. Nothing that the
 * agent wrote is ever part of it.
 */
#include "conversation/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bridge_frames.h"
#include "common/json/value.h"
#include "conversation/conversation.h"
#include "core/sup.h"

/* The kernel's limit for one argument, with its NUL. */
#define COMPOSE_MAX_ARG (128U << 10)

void
compose_uuid(char dst[COMPOSE_UUID])
{
	uint8_t r[16];

	arc4random_buf(r, sizeof(r));
	r[6] = (uint8_t)(0x40 | (r[6] & 0x0f));
	r[8] = (uint8_t)(0x80 | (r[8] & 0x3f));
	snprintf(dst, COMPOSE_UUID,
	    "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
	    "%02x%02x%02x%02x%02x%02x",
	    r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10],
	    r[11], r[12], r[13], r[14], r[15]);
}

/* Returns true if there is nothing but white space. */
static bool
compose_blank(struct span s)
{
	while (s.len != 0 && memchr(" \t\r\n", s.p[s.len - 1], 4) != NULL)
		s.len--;
	return s.len == 0;
}

static int
compose_check(const struct compose *c, bool argument, struct fault *fault)
{
	/* A command that runs once reads nothing, if there is no task. */
	if (compose_blank(c->message) &&
	    !(sup.opt.one_turn && sup.opt.command != NULL))
		return fault_set(fault, "the message is empty");
	if (c->message.len > BRIDGE_MAX_MESSAGE)
		return fault_set(fault,
		    "the message has more than 1 MiB. Put it in a file of the "
		    "workspace, and tell the agent its name");
	if (memchr(c->message.p, '\0', c->message.len) != NULL)
		return fault_set(fault, "the message contains a NUL byte");
	if (!utf8_valid(c->message))
		return fault_set(fault, "the message is not valid UTF-8");
	if (argument && c->message.len >= COMPOSE_MAX_ARG)
		return fault_set(fault,
		    "this agent takes messages of less than 128 KiB. Put it in "
		    "a file of the workspace, and tell the agent its name");
	return 0;
}

/* Fill in one argument. {conversation} goes first: a message may contain it. */
static char *
compose_arg(const struct compose *c, const char *template, const char *message)
{
	static const char word[] = "{conversation}";
	const char *at = strstr(template, word);
	char *named, *out;

	if (at == NULL)
		return adapter_fill(&sup.providers, message, template);
	if (asprintf(&named, "%.*s%s%s", (int)(at - template), template,
		c->uuid, at + sizeof(word) - 1) == -1)
		return NULL;
	out = adapter_fill(&sup.providers, message, named);
	free(named);
	return out;
}

static int
compose_args(const struct compose *c, struct buf *args, uint32_t *argc)
{
	const struct adapter_talk *t = &sup.adapter.talk;
	char **list = sup.opt.command != NULL	       ? sup.opt.command + 1
		      : c->resume && t->resume != NULL ? t->resume
		      : t->turn != NULL		       ? t->turn
						       : sup.adapter.task_args;
	char *message = strndup((const char *)c->message.p, c->message.len);
	char *one;

	if (message == NULL)
		return -1;
	buf_add(args, c->inside, strlen(c->inside) + 1);
	*argc = 1;
	for (; list != NULL && *list != NULL; list++) {
		one = sup.opt.command != NULL ? strdup(*list)
					      : compose_arg(c, *list, message);
		if (one != NULL)
			buf_add(args, one, strlen(one) + 1);
		free(one);
		if (one == NULL)
			break;
		(*argc)++;
	}
	freezero(message, c->message.len + 1);
	return (list != NULL && *list != NULL) || args->failed ? -1 : 0;
}

/* Returns true if the message is an argument, not standard input. */
static bool
compose_argument(void)
{
	const struct adapter_talk *t = &sup.adapter.talk;

	if (sup.opt.command != NULL)
		return false;
	return t->turn != NULL ? t->argument : sup.adapter.task_args != NULL;
}

int
compose_turn(const struct compose *c, struct buf *frame, struct fault *fault)
{
	bool argument = compose_argument();
	uint32_t argc = 0, flags = 0;
	uint8_t head[BRIDGE_TURN_DATA];
	struct buf args;
	int rv = 0;

	if (compose_check(c, argument, fault) == -1)
		return -1;
	if (!argument)
		flags |= BRIDGE_TURN_INPUT;
	if (sup.adapter.talk.background)
		flags |= BRIDGE_TURN_KEEP;
	buf_init(&args, BRIDGE_MAX_ARGV);
	if (compose_args(c, &args, &argc) == -1) {
		rv = fault_set(fault, "the agent's arguments are too long");
	} else {
		bridge_put32(head, c->turn);
		bridge_put32(head + 4, flags);
		bridge_put32(head + 8, argc);
		bridge_put32(head + 12, (uint32_t)args.len);
		buf_add(frame, head, sizeof(head));
		buf_addspan(frame, buf_span(&args));
		if (!argument)
			buf_addspan(frame, c->message);
		if (frame->failed)
			rv = fault_set(fault, "the turn is too large");
	}
	buf_free(&args);
	return rv;
}

void
conversation_rules(void)
{
	const struct adapter_talk *t = &sup.adapter.talk;

	for (unsigned i = 0; i < t->nrules && sup.opt.command == NULL; i++) {
		const struct adapter_rule *r = &t->rules[i];
		struct msg_TURN_RULE m = {.kind = (uint8_t)r->kind,
		    .when = span_str(r->when),
		    .each = span_str(r->each),
		    .part = span_str(r->part),
		    .text = span_str(r->text),
		    .whole = r->whole};

		child_send(ROLE_TERM, 0, MSG_TURN_RULE, &m, -1);
	}
}

bool
compose_is_clean(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((s.p[i] < 0x20 && s.p[i] != '\n' && s.p[i] != '\t') ||
		    s.p[i] == 0x7f)
			return false;
	return utf8_valid(s);
}
