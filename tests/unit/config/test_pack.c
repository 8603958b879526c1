/* SPDX-License-Identifier: ISC */
/*
 * Tests how ic-reader hands the configuration over: nothing of it is lost, a
 * member without a row is found, and bytes that are cut or changed are refused
 * or harmless.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/files/config_pack.h"
#include "tap.h"
#include "unit/config/cover.h"

static const char text[] =
    "{\"mcpServers\": {\"a\": {\"command\": \"/bin/a\", \"args\": [\"1\"]}},"
    " \"credentials\": {\"anthropic\": {\"env\": \"KEY\"}},"
    " \"providers\": {\"anthropic\": {\"upstream\":"
    " \"https://up.example:8443/x\"}},"
    " \"destinations\": {\"code\": {\"kind\": \"git\", \"hosts\":"
    " [\"git.example\"], \"repositories\": [\"a/*\"]}, \"pages\": {\"kind\": "
    "\"web\", \"hosts\":"
    " [\"a.example\", \"b.example\"]}},"
    " \"agent\": {\"claude\": {\"path\": \"/opt/mine\"}},"
    " \"resourceBudget\": {\"maxEstimatedCostUsd\": 1.5},"
    " \"approvers\": {\"file\": \"/etc/signers\", \"needed\": 2},"
    " \"notify\": [\"/bin/notify\", \"x\"], \"notifyOn\": [\"limit\"],"
    " \"notifyQuiet\": \"22:00-07:00\","
    " \"env\": {\"A\": \"b\"}, \"undo\": {\"leaveOut\": [\"tmp\"]},"
    " \"agentView\": {\"allowRead\": [\"/srv/x\"]},"
    " \"services\": {\"db\": {\"port\": 5432, \"to\": \"127.0.0.1:5433\","
    " \"login\": {\"kind\": \"postgres\", \"user\": \"app\", \"database\":"
    " \"shop\", \"superuser\": true, \"tls\": true, \"ca\": \"/c\","
    " \"credential\": {\"env\": \"A\"}}},"
    " \"own\": {\"port\": 6379, \"command\": [\"redis-server\"]}},"
    " \"policy\": {\"trustedServers\": [\"a\"]}}";

static struct buf packed;

/* Parse the text, or as much of it as the parser takes, and pack it. */
static bool
pack(const char *json)
{
	static struct config c;
	struct fault fault = {""};

	buf_reset(&packed, 0);
	if (config_parse(&c, "/home/u/config.json", "/home/u", NULL,
		span_str(json), &fault) == -1) {
		ok(false, "%s", fault.text);
		return false;
	}
	is_int(config_put(&packed, &c), 0, "it is packed");
	config_free(&c);
	return true;
}

static void
test_same(const char *json, const char *what)
{
	static struct config c;
	struct buf again;

	if (!pack(json))
		return;
	is_int(config_take(&c, buf_span(&packed)), 0, "%s: it is taken", what);
	buf_init(&again, 8U << 20);
	is_int(config_put(&again, &c), 0, "and packed again");
	ok(span_eq(buf_span(&packed), buf_span(&again)),
	    "%s: nothing is lost or changed", what);
	buf_free(&again);
	config_free(&c);
}

/* Members that no row has: those that are known, and padding. */
static void
test_rows(void)
{
	static bool seen[sizeof(struct config)];

	cover(seen, config_rows, config_nrows, 0);
	memset(seen + offsetof(struct config, limits.group), true,
	    sizeof(((struct config *)NULL)->limits.group));
	for (size_t i = 0; i < CONFIG_MAX_DESTINATIONS; i++)
		memset(seen + offsetof(struct config, destinations[i].kind),
		    true,
		    sizeof(((struct config *)NULL)->destinations[i].kind));
	covered(seen, sizeof(seen), "every member has a row");
}

/* Whatever has become of the bytes: they are refused, or are a configuration.
 */
static void
test_broken(void)
{
	static struct config c;
	struct span all = buf_span(&packed);
	uint8_t *copy = malloc(all.len);
	size_t refused = 0;

	if (copy == NULL)
		abort();
	for (size_t n = 0; n < all.len; n++)
		if (config_take(&c, span_of(all.p, n)) == -1)
			refused++;
		else
			config_free(&c);
	is_int((int64_t)refused, (int64_t)all.len, "each cut is refused");
	refused = 0;
	for (size_t i = 0; i < all.len; i++) {
		memcpy(copy, all.p, all.len);
		copy[i] ^= 0xff;
		if (config_take(&c, span_of(copy, all.len)) == -1)
			refused++;
		else
			config_free(&c);
	}
	ok(refused > all.len / 4, "%zu of %zu changed bytes are refused",
	    refused, all.len);
	free(copy);
}

int
main(void)
{
	buf_init(&packed, 8U << 20);
	test_rows();
	test_same("{}", "the defaults");
	test_same(text, "much of it");
	test_broken();
	buf_free(&packed);
	return tap_done();
}
