/* SPDX-License-Identifier: ISC */
/*
 * Hosts that are added to mitmd's list during a session, and those that must
 * not be. Uses the real program, confined; it ends at a violation, so each
 * violation has its own.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "unit/mitmd/rig.h"

#define WEB(name, host)                                                        \
	"{\"name\":\"" name "\",\"kind\":\"web\",\"hosts\":[" host "]}"
#define ONE WEB("added-1", "\"docs.example.net\"")

static const char *program;

static void
provider(unsigned index, const char *json)
{
	struct msg_PROVIDER m = {.index = (uint16_t)index,
	    .name = SPAN("added"),
	    .json = span_str(json)};

	chan_send(rig.sup, MSG_PROVIDER, &m, -1);
	/* Let the message leave before the agent's next bytes. */
	loop_turns(&rig.loop);
}

static void
drop(unsigned index)
{
	struct msg_PROVIDER_DROP m = {.index = (uint16_t)index};

	chan_send(rig.sup, MSG_PROVIDER_DROP, &m, -1);
	loop_turns(&rig.loop);
}

static void
begin(bool open)
{
	memset(&rig, 0, sizeof(rig));
	rig_open = open;
	rig_start(program);
}

/*
 * Returns the answer to a CONNECT to the host: the head and the text after it.
 */
static const char *
connect_to(const char *host, int *fd)
{
	char text[400];

	*fd = rig_dial();
	snprintf(text, sizeof(text), "CONNECT %s:443 HTTP/1.1\r\n\r\n", host);
	rig_send(*fd, text);
	return rig_read_until(*fd, "\r\n\r\n");
}

static bool
is_open(const char *host)
{
	bool yes;
	int fd;

	yes = strstr(connect_to(host, &fd), "HTTP/1.1 200 ") != NULL;
	close(fd);
	return yes;
}

static void
test_open(void)
{
	const char *text;
	int fd;

	begin(true);
	fd = rig_dial();
	rig_send(fd, "CONNECT docs.example.net:443 HTTP/1.1\r\n\r\n");
	text = rig_read_until(fd, "(none)");
	ok(strstr(text, " 403 ") != NULL &&
		strstr(text, "proxy__add_proxy_domain") != NULL,
	    "not on the list yet; the refusal says how to ask");
	close(fd);
	provider(PROTO_FIRST_ADDED, ONE);
	ok(is_open("docs.example.net") && is_open("DOCS.example.net") &&
		!is_open("www.docs.example.net"),
	    "added: that host alone");
	(void)connect_to("docs.example.net", &fd);
	drop(PROTO_FIRST_ADDED);
	(void)rig_read_until(fd, "(none)");
	ok(rig_closed, "dropped: its tunnel is closed");
	close(fd);
	ok(!is_open("docs.example.net") && is_open(RIG_HOST),
	    "and no other is opened; others stay");
	provider(PROTO_FIRST_ADDED + 1, ONE);
	ok(is_open("docs.example.net"), "added again, in another place");
	ok(rig_alive(), "mitmd is content");
	rig_stop();
}

static const struct {
	const char *name;
	bool open;
	unsigned index;
	const char *json;
	unsigned drop; /* 0: none */
} bad[] = {
    {"one more on a closed list", false, PROTO_FIRST_ADDED, ONE, 0},
    {"one more among those of the start", true, 1, ONE, 0},
    {"two hosts", true, PROTO_FIRST_ADDED,
	WEB("a", "\"a.example.net\",\"b.example.net\""), 0},
    {"a host that is there", true, PROTO_FIRST_ADDED,
	WEB("a", "\"" RIG_HOST "\""), 0},
    {"no destination at all", true, PROTO_FIRST_ADDED,
	"{\"name\":\"x\",\"host\":\"x.example.net\"}", 0},
    {"a drop of none", true, 0, NULL, PROTO_FIRST_ADDED},
    {"a drop of the start's", true, 0, NULL, 1},
    {"a place twice", true, PROTO_FIRST_ADDED, ONE, PROTO_FIRST_ADDED},
};

static void
test_bad(void)
{
	for (size_t i = 0; i < nitems(bad); i++) {
		begin(bad[i].open);
		if (bad[i].json != NULL)
			provider(bad[i].index, bad[i].json);
		if (bad[i].drop != 0)
			drop(bad[i].drop);
		/* Dropped or not, the slot must not be reused. */
		if (bad[i].json != NULL && bad[i].drop != 0)
			provider(bad[i].index, bad[i].json);
		ok(rig_until(&rig.ended), "%s: the end", bad[i].name);
		rig_stop();
	}
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	program = argv[1];
	test_open();
	test_bad();
	return tap_done();
}
