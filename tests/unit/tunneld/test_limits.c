/* SPDX-License-Identifier: ISC */
/*
 * The running tunneld: the credentials that it accepts, and the violations that
 * end it. argv[1]: tunneld.
 */
#include <sys/socket.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "unit/tunneld/rig.h"

static const char *program;

static void
test_secrets(void)
{
	static const struct {
		const char *text;
		unsigned kind;
		enum proto_key state;
		const char *why;
	} rows[] = {
	    {"a:b", 0, PROTO_KEY_LOADED, NULL},
	    {"a:", 0, PROTO_KEY_LOADED, NULL},
	    {"a%3Ab:c%40%25", 1, PROTO_KEY_LOADED, NULL},
	    {"", 0, PROTO_KEY_EMPTY, "empty"},
	    {"\n", 0, PROTO_KEY_EMPTY, "empty"},
	    {"justone", 0, PROTO_KEY_BAD, "is no USER:PASSWORD"},
	    {"a%3Ab", 0, PROTO_KEY_BAD, "is no USER:PASSWORD"},
	    {":b", 0, PROTO_KEY_BAD, "has no user name before its colon"},
	    {"a:b\nc:d", 0, PROTO_KEY_BAD,
		"holds a line break or another control character"},
	    {"a:b%0d%0aX: y", 1, PROTO_KEY_BAD,
		"holds a line break or another control character"},
	    {"a:b%00", 1, PROTO_KEY_BAD,
		"holds a line break or another control character"},
	    {"a:b%4", 1, PROTO_KEY_BAD,
		"holds a % that is no escape: % itself is written %25"},
	    {"a:b%zz", 1, PROTO_KEY_BAD,
		"holds a % that is no escape: % itself is written %25"},
	};
	static char large[4000];

	for (size_t i = 0; i < nitems(rows); i++) {
		rig_start(program);
		rig_via("127.0.0.1");
		rig_secret(rows[i].text, rows[i].kind);
		ok(rig.key.state == rows[i].state &&
			(rows[i].why == NULL ||
			    strcmp(rig.key_text, rows[i].why) == 0),
		    "%.*s: %s", (int)strcspn(rows[i].text, "\n"), rows[i].text,
		    rig.key_text);
		rig_stop();
	}
	memset(large, 'x', sizeof(large) - 1);
	large[1] = ':';
	for (size_t n = 512; n <= 3999; n = n == 512 ? 513 : n + 3486) {
		large[n] = '\0';
		rig_start(program);
		rig_secret(large, 0);
		is_int(rig.key.state,
		    n == 512 ? PROTO_KEY_LOADED : PROTO_KEY_BAD, "%zu bytes",
		    n);
		rig_stop();
		large[n] = 'x';
	}
}

/* Each of these violations ends tunneld. */
static void
test_violations(void)
{
	static const struct {
		uint32_t id;
		const char *host;
		unsigned to;
		const char *why;
	} rows[] = {
	    {0, "example.org", 443, "id 0"},
	    {1, "example.org", 0, "port 0"},
	    {1, "", 443, "no host"},
	    {1, "Example.org", 443, "a host in another spelling"},
	    {1, "example.org.", 443, "a host with a dot behind"},
	    {1, "a\r\nX: y", 443, "a host with a line break"},
	    {1, "a b", 443, "a host with a space"},
	    {1, "a:1", 443, "a host with a port"},
	    {1, "0x7f000001", 443, "a number"},
	};
	struct msg_SECRET m = {.kind = 0};
	int far, fd;

	for (size_t i = 0; i < nitems(rows); i++) {
		rig_start(program);
		rig_via("127.0.0.1");
		rig_go();
		fd = rig_pair(&far);
		rig_tunnel(rows[i].id, rows[i].host, rows[i].to, true, fd);
		rig_until(&rig.nanswers, 1);
		ok(rig.worker.lost && recv(far, &fd, 1, 0) <= 0,
		    "%s: it ends unasked", rows[i].why);
		close(far);
		rig_stop();
	}
	rig_start(program);
	rig_via("127.0.0.1");
	rig_go();
	close(rig_one(OK200, 100, true));
	close(rig.fd);
	fd = rig_pair(&far);
	rig_tunnel(1, "example.org", 443, true, fd);
	rig_until(&rig.nanswers, 2);
	ok(rig.worker.lost, "an id twice");
	close(far);
	rig_stop();
	rig_start(program);
	rig_via("127.0.0.1");
	rig_secret("a:b", 0);
	chan_send(rig.worker.sup, MSG_SECRET, &m,
	    open("/dev/null", O_RDONLY | O_CLOEXEC));
	rig_until(&rig.nkey, 2);
	ok(rig.worker.lost, "a credential twice");
	rig_stop();
	rig_start(program);
	rig_via("127.0.0.1");
	rig_via("127.0.0.1");
	rig_until(&rig.nkey, 1);
	ok(rig.worker.lost, "a proxy twice");
	rig_stop();
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	program = argv[1];
	test_secrets();
	test_violations();
	return tap_done();
}
