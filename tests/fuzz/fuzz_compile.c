/* SPDX-License-Identifier: ISC */
/*
 * Hostile replies of a model to the question for rules. One that is accepted
 * must load as a policy, and each of its rules must only allow or ask, about one
 * server, with a condition, and below a directory that is named in full.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/json/json.h"
#include "icctl/policy/compile/compile.h"
#include "icctl/schema/schema.h"
#include "policyd/engine/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char tools[] =
    "[{\"toolName\":\"read\",\"args\":{\"path\":[\"read-path\"]}},"
    "{\"toolName\":\"write\",\"args\":{\"path\":[\"read-path\","
    "\"write-path\"]}},{\"toolName\":\"fetch\",\"args\":{\"url\":["
    "\"fetch-url\"]}},{\"toolName\":\"mail\",\"args\":{\"to\":["
    "\"email-address\"]}}]";

static const struct value *
read_schema(struct value_pool *pool)
{
	static char text[65536];
	const struct value *v;
	struct schema_fail bad;
	ssize_t n = 0;
	int fd = open(PROMPTS "/rules.json", O_RDONLY | O_CLOEXEC);

	if (fd == -1 || (n = read(fd, text, sizeof(text))) <= 0 ||
	    (v = json_read(pool, span_of(text, (size_t)n), NULL)) == NULL ||
	    schema_check(v, &bad) == -1)
		abort();
	close(fd);
	return v;
}

static void
check(const struct rule *r)
{
	if (r->then != PROTO_ALLOW && r->then != PROTO_ESCALATE)
		abort();
	if (r->servers == NULL || r->servers->count != 1 ||
	    !span_is(r->servers->child->text, "s"))
		abort();
	if (r->then == PROTO_ALLOW && r->tools == NULL && !r->has_roles &&
	    !r->has_paths && !r->has_domains && r->nlists == 0)
		abort();
	if (r->has_paths && !span_starts(r->within, SPAN("/")) &&
	    !span_starts(r->within, SPAN("~/")))
		abort();
	if (r->has_paths && memmem(r->within.p, r->within.len, "..", 2) &&
	    memmem(r->within.p, r->within.len, "/../", 4))
		abort();
}

/* An accepted reply is a policy that loads. */
static void
load(const struct value *reply)
{
	struct rules rules = {0};
	struct load l;
	struct buf b;

	buf_init(&b, 4 << 20);
	buf_adds(&b, "{\"rules\":");
	if (json_write(&b, value_get(reply, "rules")) == -1)
		abort();
	buf_addc(&b, '}');
	load_init(&l, "reply");
	if (rules_load(&rules, buf_span(&b), &l) == -1)
		abort();
	for (size_t i = 0; i < rules.n; i++)
		check(&rules.rules[i]);
	rules_free(&rules);
	load_free(&l);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static struct value_pool *kept, *pool;
	static const struct value *schema;
	static struct compile c;
	struct compile_server *s = &c.servers[0];
	struct schema_fail bad;
	struct fault fault;
	const struct value *v;

	if (len > 1 << 16)
		return 0;
	if (kept == NULL) {
		if ((kept = value_pool_new(8 << 20)) == NULL ||
		    (pool = value_pool_new(64 << 20)) == NULL)
			abort();
		schema = read_schema(kept);
		s->name = SPAN("s");
		s->tools = json_read(kept, SPAN(tools), NULL);
	}
	value_pool_reset(pool);
	v = json_read(pool, span_of(p, len), NULL);
	if (v == NULL || schema_match(schema, v, &bad) == -1)
		return 0;
	fault.text[0] = '\0';
	if (rules_check(&c, s, value_get(v, "rules"),
		value_get(v, "listDefinitions"), &fault) == -1) {
		if (fault.text[0] == '\0')
			abort();
		return 0;
	}
	load(v);
	return 0;
}
