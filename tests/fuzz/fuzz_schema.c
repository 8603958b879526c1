/* SPDX-License-Identifier: ISC */
/*
 * A JSON Schema and a value, with a NUL between them. Checking and comparing end
 * soon, whatever they are; a failure has a reason and a path that is printable;
 * the result of a comparison is always the same.
 */
#include <string.h>

#include "check.h"
#include "common/json/json.h"
#include "icctl/schema/schema.h"

static void
check_fail(const struct schema_fail *f)
{
	CHECK(f->text[0] != '\0');
	CHECK(memchr(f->path, '\0', sizeof(f->path)) != NULL);
	CHECK(f->path[0] == '\0' || f->path[0] == '/');
	for (const char *p = f->path; *p != '\0'; p++)
		CHECK(*p >= 0x20 && *p < 0x7f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	const uint8_t *nul = len == 0 ? NULL : memchr(p, '\0', len);
	struct value_pool *pool;
	const struct value *schema, *v;
	struct schema_fail fail, again;
	int rv;

	if (nul == NULL || len > 65536)
		return 0;
	pool = value_pool_new(8U << 20);
	CHECK(pool != NULL);
	schema = json_read(pool, span_of(p, (size_t)(nul - p)), NULL);
	v = json_read(
	    pool, span_of(nul + 1, len - (size_t)(nul - p) - 1), NULL);
	if (schema != NULL && schema_check(schema, &fail) == -1) {
		check_fail(&fail);
	} else if (schema != NULL && v != NULL) {
		rv = schema_match(schema, v, &fail);
		if (rv == -1) {
			check_fail(&fail);
			CHECK(fail.at != NULL);
		}
		CHECK(schema_match(schema, v, &again) == rv);
		CHECK(memcmp(fail.text, again.text, sizeof(fail.text)) == 0);
	}
	value_pool_free(pool);
	return 0;
}
