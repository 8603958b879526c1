/* SPDX-License-Identifier: ISC */
/*
 * Paths and metadata of package registries, of any bytes. An accepted path has
 * no dot segment and leads to metadata of the same package; filtered metadata
 * is strict JSON, and filtering it again changes and refuses nothing.
 */
#include <stdlib.h>

#include "common/http/date.h"
#include "common/json/json.h"
#include "mitmd/registry/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct registry_filter f, again;
static const struct registry_rules rules[] = {
    {.registry = REGISTRY_NPM, .days = 2},
    {.registry = REGISTRY_PYPI, .days = 2},
    {.registry = REGISTRY_CRATES, .days = 2},
    {.registry = REGISTRY_DEBIAN, .days = 2},
};

static void
path(enum registry reg, struct span s)
{
	struct registry_path r, m;
	char meta[256];

	if (registry_path_parse(reg, s, &r) == -1)
		return;
	if (memmem(s.p, s.len, "/../", 4) != NULL ||
	    memmem(s.p, s.len, "//", 2) != NULL ||
	    memchr(s.p, '\\', s.len) != NULL || memchr(s.p, 0, s.len) != NULL)
		abort();
	if (reg == REGISTRY_DEBIAN || r.what == REGISTRY_INDEX)
		return;
	if (registry_metadata_path(reg, r.package, meta, sizeof(meta)) == -1 ||
	    registry_path_parse(reg, span_str(meta), &m) == -1 ||
	    m.what != REGISTRY_METADATA || strcmp(m.package, r.package) != 0)
		abort();
}

static int
run(struct registry_filter *g, enum registry_form form, struct span s)
{
	static const enum registry of[] = {REGISTRY_NPM, REGISTRY_NPM,
	    REGISTRY_PYPI, REGISTRY_PYPI, REGISTRY_PYPI, REGISTRY_CRATES,
	    REGISTRY_CRATES};

	g->rules = &rules[of[form]];
	g->package = "x";
	g->form = form;
	g->now = 1795320000;
	return registry_filter(g, s);
}

static void
strict(struct span s)
{
	struct value_pool *pool = value_pool_new(16U << 20);
	struct json_fail fail = {0};

	if (pool == NULL)
		abort();
	if (json_read_large(pool, s, 1U << 20, 16U << 20, &fail) == NULL &&
	    fail.error != JSON_DEPTH && fail.error != JSON_NUMBER &&
	    fail.error != JSON_LIMIT)
		abort();
	value_pool_free(pool);
}

static void
metadata(enum registry_form form, struct span s)
{
	if (run(&f, form, s) == -1)
		return;
	if (form != REGISTRY_FORM_CRATES && form != REGISTRY_FORM_PYPI_HTML &&
	    form != REGISTRY_FORM_PYPI_HTML_V1)
		strict(buf_span(&f.out));
	if (form == REGISTRY_FORM_NPM || form == REGISTRY_FORM_PYPI_JSON ||
	    form == REGISTRY_FORM_CRATES) {
		if (run(&again, form, buf_span(&f.out)) == -1 ||
		    again.gone != 0 || again.kept != f.kept ||
		    !span_eq(buf_span(&again.out), buf_span(&f.out)))
			abort();
		registry_filter_free(&again);
	}
	registry_filter_free(&f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t when;

	if (size < 1)
		return 0;
	if (data[0] < '7' && data[0] >= '0')
		metadata((enum registry_form)(data[0] - '0'),
		    span_of(data + 1, size - 1));
	else
		path((enum registry)(data[0] % REGISTRY_COUNT),
		    span_of(data + 1, size - 1));
	(void)date_rfc3339(span_of(data, size), &when);
	(void)date_http(span_of(data, size), &when);
	return 0;
}
