/* SPDX-License-Identifier: ISC */
/*
 * Tests how ic-reader hands the MCP servers over: nothing of them is lost, a
 * member without a row is found, and bytes that are cut or changed are refused
 * or harmless.
 */
#include <stdlib.h>
#include <string.h>

#include "supervisor/files/servers_pack.h"
#include "tap.h"
#include "unit/config/cover.h"

static const char text[] =
    "{\"files\": {\"command\": \"/bin/a\", \"args\": [\"-x\", \"${A}\"],"
    " \"env\": {\"A\": \"1\"}, \"sandbox\": {\"filesystem\":"
    " {\"allowRead\": [\"/r\"], \"allowWrite\": [\"/w\"], \"denyRead\":"
    " [\"/r/no\"], \"denyWrite\": [\"/w/no\"]}, \"network\":"
    " {\"allowedDomains\": [\"a.example\", {\"host\": \"b.example:25\","
    " \"opaque\": true}], \"deniedDomains\": [\"c.example\"],"
    " \"allowPrivate\": true}}, \"copy\": {\"from\": \"/f\", \"to\": \"/t\","
    " \"sha256\": \"0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
    "abcdef\"}},"
    " \"bare\": {\"command\": \"sh\", \"args\": [\"-c\", \"x\"],"
    " \"sandbox\": false, \"shell\": true, \"workspace\": false},"
    " \"code\": {\"command\": \"code\", \"git\": true,"
    " \"elicitation\": \"decline\", \"tools\": {\"list\": [\"a\", \"b_*\"]}},"
    " \"far\": {\"url\": \"https://mcp.example:8443/x?y=z\", \"headers\":"
    " {\"x-team\": \"blue\"}}, \"filesystem\": false}";
static const char secrets[] =
    "{\"files\": {\"TOKEN\": \"t\"}, \"far\": {\"bearer\": {\"env\":"
    " \"FAR\"}}}";

static struct buf packed;

static void
test_rows(void)
{
	static bool seen[sizeof(struct servers)];
	bool egress[sizeof(struct egress_list)] = {false},
				  remote[sizeof(struct server_remote)] = {
				      false};

	cover(seen, servers_rows, SERVERS_ROWS, 0);
	for (size_t i = 0; i < nitems(((struct servers *)NULL)->defs); i++) {
		memset(seen + offsetof(struct servers, defs[i].egress), true,
		    sizeof(struct egress_list *));
		memset(seen + offsetof(struct servers, defs[i].remote), true,
		    sizeof(struct server_remote *));
	}
	covered(seen, sizeof(seen), "every member of a server has a row");
	cover(egress, servers_egress_rows, SERVERS_EGRESS_ROWS, 0);
	covered(egress, sizeof(egress), "every member of its destinations");
	cover(remote, servers_remote_rows, SERVERS_REMOTE_ROWS, 0);
	covered(remote, sizeof(remote), "every member of a remote one");
}

static void
test_same(void)
{
	static const char *const allowed[] = {"bare"};
	static struct servers s;
	struct servers_how how = {.file = "/h/mcp-servers.json",
	    .user_home = "/home/u",
	    .unsandboxed = allowed,
	    .nunsandboxed = 1};
	struct fault fault = {""};
	struct buf again;

	how.env = json_tokener_parse(secrets);
	if (!is_int(servers_text(&s, &how, span_str(text), &fault), 0,
		"it is read: %s", fault.text))
		exit(tap_done());
	is_int(servers_put(&packed, &s), 0, "it is packed");
	servers_free(&s);
	is_int(servers_take(&s, buf_span(&packed)), 0, "it is taken");
	buf_init(&again, 8U << 20);
	is_int(servers_put(&again, &s), 0, "and packed again");
	ok(span_eq(buf_span(&packed), buf_span(&again)),
	    "nothing is lost or changed");
	buf_free(&again);
	servers_free(&s);
	json_object_put(how.env);
}

/* Whatever has become of the bytes: they are refused, or are servers. */
static void
test_broken(void)
{
	static struct servers s;
	struct span all = buf_span(&packed);
	uint8_t *copy = malloc(all.len);
	size_t refused = 0;

	if (copy == NULL)
		abort();
	for (size_t n = 0; n < all.len; n++)
		if (servers_take(&s, span_of(all.p, n)) == -1)
			refused++;
		else
			servers_free(&s);
	is_int((int64_t)refused, (int64_t)all.len, "each cut is refused");
	refused = 0;
	for (size_t i = 0; i < all.len; i++) {
		memcpy(copy, all.p, all.len);
		copy[i] ^= 0xff;
		if (servers_take(&s, span_of(copy, all.len)) == -1)
			refused++;
		else
			servers_free(&s);
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
	test_same();
	test_broken();
	buf_free(&packed);
	return tap_done();
}
