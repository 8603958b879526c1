/* SPDX-License-Identifier: ISC */
/*
 * Hostile arguments as JSON text, for every kind of role: no crash, a decision
 * with a rule and a reason, and well-formed arguments to send.
 */
#include <stdlib.h>

#include "common/json/json.h"
#include "policyd/engine/eval.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char annotations[] =
    "{\"servers\":{\"git\":{\"tools\":[{\"toolName\":\"t\",\"args\":{"
    "\"p\":[\"read-path\",\"write-path\"],\"u\":[\"fetch-url\"],"
    "\"g\":[\"git-remote-url\"],\"o\":[\"github-owner\"],"
    "\"m\":[\"fetch-url\",\"read-path\"],\"n\":[\"none\"],"
    "\"c\":{\"default\":[\"write-path\"],\"when\":[{\"condition\":"
    "{\"arg\":\"n\",\"is\":\"truthy\"},\"roles\":[\"none\"]}]}}}]}}}";
static const char rules[] =
    "{\"rules\":[{\"name\":\"a\",\"if\":{\"paths\":{\"roles\":"
    "[\"read-path\"],\"within\":\"/usr\"}},\"then\":\"allow\",\"reason\":"
    "\"r\"},{\"name\":\"b\",\"if\":{\"domains\":{\"roles\":[\"fetch-url\","
    "\"git-remote-url\"],\"allowed\":[\"*\",\"github.com/o/r\"]}},"
    "\"then\":\"allow\",\"reason\":\"r\"},{\"name\":\"c\",\"if\":{\"lists\":"
    "[{\"roles\":[\"github-owner\"],\"allowed\":[\"o\"],\"matchType\":"
    "\"identifiers\"}]},\"then\":\"escalate\",\"reason\":\"r\"}]}";

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
setup(struct engine *e)
{
	if (engine_init(e) == -1 ||
	    engine_settings(e, 1000, true, true, SPAN("/home/u")) == -1 ||
	    engine_protect(e, SPAN("/usr/share")) == -1)
		abort();
	must_load(e, PROTO_RULES_ANNOTATIONS, annotations);
	must_load(e, PROTO_RULES_POLICY, rules);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static struct value_pool *pool;
	static struct engine e;
	const struct value *v;
	struct decision d;
	struct buf b;

	if (len > 1 << 16)
		return 0;
	if (pool == NULL) {
		if ((pool = value_pool_new(64 << 20)) == NULL)
			abort();
		setup(&e);
	}
	value_pool_reset(pool);
	if ((v = json_read(pool, span_of(p, len), NULL)) == NULL ||
	    v->type != VALUE_OBJECT)
		return 0;
	eval_call(&e, SPAN("git"), SPAN("t"), (struct value *)(uintptr_t)v,
	    pool, &d);
	if (d.rule.len == 0 || d.reason.len == 0 || !utf8_valid(d.reason) ||
	    d.reason.len > LOAD_MAX_REASON)
		abort();
	buf_init(&b, 16 << 20);
	if (json_write(&b, v) == -1)
		abort();
	if (json_read(pool, buf_span(&b), NULL) == NULL)
		abort();
	buf_free(&b);
	return 0;
}
