/* SPDX-License-Identifier: ISC */
/* Uses of the state of earlier runs, however it was read. */
#include "resume/carry.h"

#include <stdio.h>
#include <string.h>

#include "common/sha256.h"
#include "resume/carry_priv.h"

static void
carry_grant_free(struct carry_grant *g)
{
	json_object_put(g->text);
	json_object_put(g->bound);
	memset(g, 0, sizeof(*g));
}

void
carry_grants_free(struct carry *c)
{
	while (c->ngrants != 0)
		carry_grant_free(&c->grants[--c->ngrants]);
}

const char *
carry_grant_json(struct json_object *o)
{
	return json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

void
carry_grant_hash(const struct carry_grant *g, char hex[SHA256_HEX])
{
	const struct span all[] = {span_str(carry_grant_json(g->text)),
	    SPAN("\n"), span_str(carry_grant_json(g->bound))};
	uint8_t sum[SHA256_SIZE];

	sha256_spans(all, nitems(all), sum);
	sha256_hex(sum, hex);
}

void
carry_grant_drop(struct carry *c, unsigned i)
{
	struct carry_grant *g = &c->grants[i];

	carry_grant_free(g);
	memmove(g, g + 1, (c->ngrants - i - 1) * sizeof(*g));
	c->ngrants--;
}

uint64_t
carry_ms(const struct carry *c)
{
	if (c->paused || c->mono_last <= c->mono_state)
		return c->ms;
	return c->ms + (c->mono_last - c->mono_state) / 1000;
}

void
carry_free(struct carry *c)
{
	carry_grants_free(c);
	json_object_put(c->routes);
	memset(c, 0, sizeof(*c));
}

const char *
carry_evidence(const struct carry *c, const char *boot, char *dst, size_t cap)
{
	const bool same = strcmp(c->boot, boot) == 0;

	if (!c->any)
		return NULL;
	if (c->how[0] != '\0') {
		snprintf(dst, cap, "%s", c->how);
		return dst;
	}
	if (c->orphan) {
		snprintf(
		    dst, cap, "icsupervisor was killed while the session ran");
		return dst;
	}
	/* A machine that lost its power is no evidence. */
	if (same && (!c->closed || c->status == 137)) {
		snprintf(dst, cap,
		    "every process of the session was killed while it ran");
		return dst;
	}
	return NULL;
}
