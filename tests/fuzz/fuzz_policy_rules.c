/* SPDX-License-Identifier: ISC */
/*
 * Hostile policy files: the first byte selects one of the three, the rest is
 * its text. A file that loads must decide calls; one that does not must leave a
 * message and the previous rules in force.
 */
#include <stdlib.h>

#include "common/json/json.h"
#include "policyd/engine/eval.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char annotations[] =
    "{\"servers\":{\"filesystem\":{\"tools\":[{\"toolName\":\"read\","
    "\"args\":{\"path\":[\"read-path\"]}}]},\"fetch\":{\"tools\":["
    "{\"toolName\":\"get\",\"args\":{\"url\":[\"fetch-url\"]}}]}}}";
static const char lists[] = "{\"lists\":{\"a\":{\"values\":[\"x.org\"]}}}";

static void
must_load(struct engine *e, enum proto_rules kind, const char *text)
{
	struct load l;

	load_init(&l, "given");
	if (engine_rules(e, kind, span_str(text), &l) == -1)
		abort();
	load_free(&l);
}

static void
ask(struct engine *e, struct value_pool *pool, const char *server,
    const char *tool, const char *args)
{
	struct decision d;
	const struct value *v;

	value_pool_reset(pool);
	if ((v = json_read(pool, span_str(args), NULL)) == NULL)
		abort();
	eval_call(e, span_str(server), span_str(tool),
	    (struct value *)(uintptr_t)v, pool, &d);
	if (d.rule.len == 0 || d.reason.len == 0)
		abort();
	if (d.status == PROTO_ALLOW && d.by == NULL)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static struct value_pool *pool;
	struct engine e;
	struct load l;

	if (len == 0 || len > 1 << 16)
		return 0;
	if (pool == NULL && (pool = value_pool_new(64 << 20)) == NULL)
		abort();
	if (engine_init(&e) == -1 ||
	    engine_settings(&e, 1000, true, true, SPAN("/home/u")) == -1)
		abort();
	must_load(&e, PROTO_RULES_ANNOTATIONS, annotations);
	must_load(&e, PROTO_RULES_LISTS, lists);
	load_init(&l, "fuzzed");
	if (engine_rules(&e, (enum proto_rules)(p[0] % 3),
		span_of(p + 1, len - 1), &l) == -1 && l.error[0] == '\0')
		abort();
	load_free(&l);
	ask(&e, pool, "filesystem", "read", "{\"path\":\"/none/such\"}");
	ask(&e, pool, "fetch", "get", "{\"url\":\"https://x.org/a\"}");
	ask(&e, pool, "fetch", "get", "{}");
	ask(&e, pool, "filesystem", "other", "{\"path\":[1,{\"a\":\"b\"}]}");
	engine_free(&e);
	return 0;
}
