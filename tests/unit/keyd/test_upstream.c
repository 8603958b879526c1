/* SPDX-License-Identifier: ISC */
/*
 * The running keyd, its provider and its credential: which peers it trusts,
 * plain upstreams, idle connections, valid credentials, and where copies of one
 * are in memory. argv[1]: keyd.
 */
#include <fcntl.h>
#include <stdio.h>

#include "mitmd/keyd/stall.h"
#include "unit/keyd/play.h"

static struct server plain, other, expired, older;

static void
test_tls(const struct server *s, const char *want, const char *name)
{
	int fd;

	start(s, true, true, RIG_KEY);
	fd = rig_stream(&rig, 1);
	post(fd, 1, 1, "/t/ok", "{}");
	ok(strncmp(answer.fail, "502 no trusted TLS", 18) == 0, "%s: refused",
	    name);
	ok(strstr(rig.end.error, want) != NULL, "the log says why: %s",
	    rig.end.error);
	look(s, false);
	is_int(seen.len, 0, "the provider got no request");
	close(fd);
	rig_stop(&rig);
}

/* A name with two addresses, the first without trusted TLS. */
static void
test_addresses(void)
{
	int fd;

	start(&server, true, true, RIG_KEY);
	rig.first_port = other.port;
	fd = rig_stream(&rig, 1);
	post(fd, 1, 1, "/t/ok", "{}");
	ok(answer.ended && body_is("ok"),
	    "a failed handshake: the next address is tried");
	is_str(rig.avoided, "127.0.0.1:1\n", "without the first");
	look(&other, false);
	is_int(seen.len, 0, "which got no byte of the request");
	rig.first_port = 0;
	close(fd);
	rig_stop(&rig);
}

/*
 * With a fake clock: the timer is armed when the request begins, and the last
 * byte arrives ten seconds later. Returns the time at which the provider is cut
 * off.
 */
static uint64_t
cut_at(uint64_t limit, uint64_t last)
{
	uint64_t now = limit, left;

	while ((left = stall_left(now - last, limit)) != 0)
		now += left;
	return now;
}

static void
test_stall(void)
{
	is_int(cut_at(600000, 0), 600000, "never a byte: cut after 600 s");
	is_int(cut_at(600000, 10000), 610000,
	    "silent from second 10 on: cut at 610, not at 1200");
	is_int(cut_at(600000, 599999), 1199999,
	    "a byte just before the timer: 600 s from that byte on");
}

static void
test_older(void)
{
	int fd;

	start(&older, true, true, RIG_KEY);
	fd = rig_stream(&rig, 1);
	post(fd, 1, 1, "/t/ok", "{}");
	ok(answer.ended && body_is("ok"), "RSA and TLS 1.2");
	look(&older, true);
	rig_request(&rig, 1, 2, 1, "/t/big", "", 0);
	rig_answer(&rig, fd, 2, &answer);
	is_int(answer.len, 8388608, "at length");
	look(&older, true);
	close(fd);
	rig_stop(&rig);
}

static void
test_plain(void)
{
	struct rig_upstream u = {.host = "127.0.0.1", .prefix = "/base",
	    .roots = "", .port = plain.port, .tls = false, .reuse = true};
	char want[64];
	int fd;

	rig.provider = file;
	rig_start(&rig, program, &u, RIG_KEY);
	fd = rig_stream(&rig, 1);
	post(fd, 1, 1, "/t/ok", "{}");
	ok(answer.ended && body_is("ok"), "plain HTTP, where configured");
	look(&plain, true);
	snprintf(want, sizeof(want), "POST /base/t/ok HTTP/1.1\r\nhost: "
	    "127.0.0.1:%u\r\n", plain.port);
	ok(strncmp(seen.head, want, strlen(want)) == 0, "with its prefix");
	post(fd, 1, 2, "/t/late", "{}");
	look(&plain, true);
	ok(rig_until(&rig, &rig.nalarms, 1), "a byte while idle is an alarm");
	is_str(rig.alarm, "idle-data", "of this kind");
	rig.dial_error = "no route";
	post(fd, 1, 3, "/t/ok", "{}");
	look(&plain, true);
	rig_request(&rig, 1, 4, 0, "/t/short", "", 2);
	rig_body(&rig, fd, 4, "{}", 2);
	rig_answer(&rig, fd, 4, &answer);
	close(fd);
	fd = rig_stream(&rig, 2);
	post(fd, 2, 1, "/t/ok", "{}");
	ok(strncmp(answer.fail, "502 the provider cannot be reached", 34) == 0,
	    "dialerd cannot: said so");
	is_str(rig.end.error, "no route", "the log says why");
	close(fd);
	rig_stop(&rig);
}

/* Three requests at once, each on a stream that closes after its answer. */
static void
three(uint32_t first)
{
	int fds[3];

	for (uint32_t i = 0; i < 3; i++) {
		fds[i] = rig_stream(&rig, first + i);
		rig_request(&rig, first + i, 1, 0, "/t/ok", "", 2);
	}
	for (uint32_t i = 0; i < 3; i++) {
		rig_body(&rig, fds[i], 1, "{}", 2);
		rig_answer(&rig, fds[i], 1, &answer);
		ok(answer.ended && body_is("ok"), "request %u", first + i);
		look(&server, true);
		close(fds[i]);
	}
}

/* An agent with a connection for each request has no stream in between. */
static void
test_again(void)
{
	unsigned dials;

	start(&server, true, true, RIG_KEY);
	three(1);
	dials = rig.ndials;
	ok(dials >= 3 && dials <= 4, "three connections and a spare");
	three(11);
	three(21);
	is_int(rig.ndials, dials, "which the next requests use");
	rig_stop(&rig);
}

static void
test_secrets(void)
{
	static char longest[5000];
	static const struct {
		const char *name, *key;
		unsigned state;
	} keys[] = {
	    {"nothing", "", PROTO_KEY_EMPTY},
	    {"a line break", "\n", PROTO_KEY_EMPTY},
	    {"a space", "sk-0123456789 0123456789", PROTO_KEY_BAD},
	    {"two lines", "sk-0123456789\nsk-0123456789", PROTO_KEY_BAD},
	    {"a letter beyond ASCII", "sk-0123456789\xc3\xa9", PROTO_KEY_BAD},
	    {"too long", longest, PROTO_KEY_BAD},
	    {"a short one", "sk-short", PROTO_KEY_LOADED},
	    {"CR LF at the end", RIG_KEY "\r\n", PROTO_KEY_LOADED},
	};
	int fd;

	memset(longest, 'k', sizeof(longest) - 1);
	for (size_t i = 0; i < nitems(keys); i++) {
		start(&server, true, true, keys[i].key);
		is_int(rig.state, keys[i].state, "%s: %s", keys[i].name,
		    rig.state_text);
		if (i == 0) {
			fd = rig_stream(&rig, 1);
			post(fd, 1, 1, "/t/ok", "{}");
			ok(strncmp(answer.fail, "403 no cred", 11) == 0,
			    "requests are refused without one");
			close(fd);
		}
		if (i == 6)
			ok(strstr(rig.state_text, "too short") != NULL,
			    "it is said that it is not searched for");
		rig_stop(&rig);
	}
}

/* Count the copies of the key in the memory of keyd that root can read. */
static unsigned
residue(unsigned *readable)
{
	static uint8_t block[1 << 20];
	char path[64], line[512];
	unsigned long from, to;
	unsigned found = 0;
	ssize_t n;
	FILE *maps;
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/maps", rig.worker.pid);
	if ((maps = fopen(path, "re")) == NULL)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", rig.worker.pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	while (mem != -1 && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx", &from, &to) != 2 ||
		    to - from > 1UL << 30)	/* a sanitizer's shadow */
			continue;
		for (; from < to; from += sizeof(block) - 64) {
			n = pread(mem, block, to - from < sizeof(block)
				? to - from : sizeof(block), (off_t)from);
			if (n <= 0)
				break;
			(*readable)++;
			for (uint8_t *p = block; (p = memmem(p,
			    (size_t)(block + n - p), &RIG_KEY[8], 32)) != NULL;
			     p++)
				found++;
			if ((size_t)n < sizeof(block))
				break;
		}
	}
	fclose(maps);
	if (mem != -1)
		close(mem);
	return found;
}

static void
test_residue(void)
{
	unsigned readable = 0, found;
	int fd;

	start(&server, true, true, RIG_KEY);
	fd = rig_stream(&rig, 1);
	for (uint32_t i = 1; i <= 20; i++) {
		post(fd, 1, i, "/t/ok", "{\"some\":\"body\"}");
		look(&server, true);
	}
	found = residue(&readable);
	if (readable == 0)
		ok(true, "# SKIP only root reads the memory of keyd");
	else if (strstr(rig.state_text, "memfd_secret") != NULL)
		is_int(found, 0, "no copy of the key in ordinary memory");
	else
		/* Root can read locked memory: the key and its raw form. */
		is_int(found, 2, "two copies of the key, both its own");
	close(fd);
	rig_stop(&rig);
}

static void
run(const struct server_ca *ca)
{
	serve(&other, ca, "other.test", -60, 3600, false);
	serve(&expired, ca, "provider.test", -7200, -3600, false);
	serve(&older, ca, "provider.test", -60, 3600, true);
	server_start(&plain, NULL);
	test_tls(&other, "hostname mismatch", "a certificate of another name");
	test_tls(&expired, "expired", "an expired certificate");
	test_older();
	test_addresses();
	test_stall();
	test_plain();
	test_again();
	test_secrets();
	test_residue();
	server_stop(&other);
	server_stop(&expired);
	server_stop(&older);
	server_stop(&plain);
}

int
main(int argc, char **argv)
{
	return play(argc, argv, run);
}
