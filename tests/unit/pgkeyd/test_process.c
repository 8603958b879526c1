/* SPDX-License-Identifier: ISC */
/*
 * The running pgkeyd, with a database that the test plays: a whole login, cut
 * at every byte; what is behind it stays in the connection; the key for
 * cancelling; and peers and servers that break the protocol. argv[1]: pgkeyd.
 */
#include <sys/socket.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/http/base64.h"
#include "tap.h"
#include "unit/ipc/worker_rig.h"
#include "wire/pg.h"

#define PASSWORD "secret of app"
#define SALT "sixteen bytes of"

static const char *program;

static struct {
	struct worker_rig worker;
	struct chan *audit, *dial, *egress;
	unsigned nkey, ndial, nin, nfail;
	struct msg_KEY_STATE key;
	uint32_t dialed, id;
	int fd;
	char text[512], key_text[300], parameters[256];
	size_t nparameters;
} rig;

static int
on_key(struct chan *c, const struct msg_KEY_STATE *m)
{
	(void)c;
	rig.nkey++;
	rig.key = *m;
	return span_copy(m->text, rig.key_text, sizeof(rig.key_text));
}

static int
on_dial(struct chan *c, const struct msg_DIAL *m)
{
	(void)c;
	rig.ndial++;
	rig.dialed = m->id;
	return 0;
}

static int
on_in(struct chan *c, const struct msg_LOGGED_IN *m, int fd)
{
	(void)c;
	rig.nin++;
	rig.id = m->id;
	rig.fd = fd;
	rig.nparameters = m->parameters.len;
	memcpy(rig.parameters, m->parameters.p, m->parameters.len);
	return 0;
}

static int
on_fail(struct chan *c, const struct msg_LOGIN_FAIL *m)
{
	(void)c;
	rig.nfail++;
	rig.id = m->id;
	return span_copy(m->text, rig.text, sizeof(rig.text));
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(KEY_STATE,	on_key),
	HANDLER(DIAL,		on_dial),
	HANDLER(LOGGED_IN,	on_in),
	HANDLER(LOGIN_FAIL,	on_fail),
};
/* clang-format on */
static const struct chan_ops ops = {
    handlers, nitems(handlers), worker_rig_closed};

static void
begin(const char *password)
{
	const struct msg_DOOR door = {.server = PROTO_SERVICES,
	    .host = SPAN("127.0.0.1"),
	    .port = 5432,
	    .key = 1,
	    .user = SPAN("app"),
	    .database = SPAN("shop"),
	    .name = SPAN("db")};
	const struct msg_START start = {.proto_pad_ = 0};

	memset(&rig, 0, sizeof(rig));
	rig.fd = -1;
	worker_rig_start(&rig.worker, program, ROLE_KEY, &ops);
	rig.audit = worker_rig_peer(&rig.worker, ROLE_AUDIT, 0);
	rig.dial = worker_rig_peer(&rig.worker, ROLE_DIAL, 0);
	rig.egress = worker_rig_peer(&rig.worker, ROLE_EGRESS, PROTO_SERVICES);
	chan_send(rig.worker.sup, MSG_DOOR, &door, -1);
	worker_rig_secret(&rig.worker, password, 0);
	worker_rig_until(&rig.worker, &rig.nkey, 1);
	chan_send(rig.worker.sup, MSG_START, &start, -1);
	chan_phase(rig.worker.sup, PHASE_RUN);
	chan_phase(rig.audit, PHASE_RUN);
	chan_phase(rig.dial, PHASE_RUN);
	chan_phase(rig.egress, PHASE_RUN);
}

static void
end(void)
{
	chan_free(rig.audit);
	chan_free(rig.dial);
	chan_free(rig.egress);
	worker_rig_stop(&rig.worker);
}

/* Order a login. Returns the database's end of its connection. */
static int
order(uint32_t id, uint32_t cancel)
{
	const struct msg_LOGIN_GO m = {.id = id,
	    .host = SPAN("127.0.0.1"),
	    .port = 5432,
	    .cancel = cancel,
	    .timezone = SPAN("Europe/Berlin")};
	struct msg_DIALED d = {.address = SPAN("127.0.0.1:5432")};
	const unsigned want = rig.ndial + 1;
	int pair[2];

	chan_send(rig.audit, MSG_LOGIN_GO, &m, -1);
	worker_rig_until(&rig.worker, &rig.ndial, want);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		pair) == -1)
		err(1, "socketpair");
	d.id = rig.dialed;
	chan_send(rig.dial, MSG_DIALED, &d, pair[0]);
	return pair[1];
}

/* Read `n` bytes of pgkeyd. Returns false if it closes, or is gone. */
static bool
take(int fd, void *p, size_t n)
{
	uint8_t *to = p;
	ssize_t got;

	while (n != 0) {
		got = recv(fd, to, n, 0);
		if (got == 0 || (got == -1 && errno != EAGAIN) ||
		    rig.worker.lost)
			return false;
		if (got == -1)
			worker_rig_turn(&rig.worker);
		else {
			to += got;
			n -= (size_t)got;
		}
	}
	return true;
}

/* Read one message. Returns its body. */
static struct span
message(int fd, bool type)
{
	static uint8_t in[4096];
	size_t head = type ? 5 : 4, len;

	if (!take(fd, in, head))
		return span_of(in, 0);
	len = pg_u32(in + head - 4) - 4;
	if (len > sizeof(in) || !take(fd, in, len))
		return span_of(in, 0);
	return span_of(in, len);
}

/* Send in pieces of `step` bytes. */
static void
say(int fd, const void *p, size_t len, size_t step)
{
	const uint8_t *from = p;

	for (size_t i = 0; i < len; i += step) {
		if (send(fd, from + i, len - i < step ? len - i : step,
			MSG_NOSIGNAL) == -1)
			return;
		if (step < len)
			worker_rig_turn(&rig.worker);
	}
}

static void
say_message(int fd, uint8_t type, struct span body, size_t step)
{
	struct buf b;
	size_t at;

	buf_init(&b, 4096);
	at = pg_begin(&b, type);
	buf_addspan(&b, body);
	pg_end(&b, at);
	say(fd, b.p + b.off, b.len, step);
	buf_free(&b);
}

static void
hmac(const uint8_t *key, size_t nkey, const char *data, uint8_t out[32])
{
	unsigned n = 32;

	HMAC(EVP_sha256(), key, (int)nkey, (const uint8_t *)data, strlen(data),
	    out, &n);
}

/* Play SCRAM, with libcrypto's own functions. Returns true if the proof is
 * good. */
static bool
scram(int fd, size_t step)
{
	char first[256], challenge[256], said[1024], final[512], text[128];
	uint8_t salted[32], client[32], stored[32], sign[32], got[64];
	struct span m = message(fd, true);
	const char *proof;
	uint8_t salt[BASE64_LEN(16) + 1] = {0}, *v = (uint8_t *)text;

	if (m.len < 22 || !span_starts(m, SPAN("SCRAM-SHA-256")))
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)(m.len - 21),
	    (const char *)m.p + 21);
	base64_put(salt, SPAN(SALT));
	snprintf(challenge, sizeof(challenge), "r=%sXYZ,s=%s,i=4096",
	    strstr(first, "r=") + 2, (char *)salt);
	snprintf(said, sizeof(said), "%c%c%c%c%s", 0, 0, 0, 11, challenge);
	memcpy(said, "\0\0\0\13", 4);
	memcpy(said + 4, challenge, strlen(challenge));
	say_message(fd, 'R', span_of(said, 4 + strlen(challenge)), step);
	m = message(fd, true);
	snprintf(final, sizeof(final), "%.*s", (int)m.len, (const char *)m.p);
	if ((proof = strstr(final, ",p=")) == NULL)
		return false;
	snprintf(said, sizeof(said), "%s,%s,%.*s", first, challenge,
	    (int)(proof - final), final);
	PKCS5_PBKDF2_HMAC(PASSWORD, strlen(PASSWORD), (const uint8_t *)SALT, 16,
	    4096, EVP_sha256(), 32, salted);
	hmac(salted, 32, "Client Key", client);
	EVP_Digest(client, 32, stored, NULL, EVP_sha256(), NULL);
	hmac(stored, 32, said, sign);
	if (base64_take(got, span_str(proof + 3)) != 32)
		return false;
	for (size_t i = 0; i < 32; i++)
		if ((client[i] ^ sign[i]) != got[i])
			return false;
	hmac(salted, 32, "Server Key", stored);
	hmac(stored, 32, said, sign);
	memcpy(v, "\0\0\0\14v=", 6);
	base64_put(v + 6, span_of(sign, 32));
	say_message(fd, 'R', span_of(v, 6 + 44), step);
	return true;
}

/* Play a whole login, and say `behind` after it. Returns false on a failure. */
static bool
play(int fd, size_t step, struct span behind)
{
	struct span m = message(fd, false);

	if (m.len < 4 || pg_u32(m.p) != PG_PROTOCOL ||
	    span_find(m, SPAN("user\0app\0database\0shop\0TimeZone\0"
			      "Europe/Berlin\0")) == NULL)
		return false;
	say_message(fd, 'R', SPAN("\0\0\0\12SCRAM-SHA-256\0"), step);
	if (!scram(fd, step))
		return false;
	say_message(fd, 'R', SPAN("\0\0\0\0"), step);
	say_message(fd, 'S', SPAN("TimeZone\0Europe/Berlin\0"), step);
	say_message(fd, 'N', SPAN("SNOTICE\0Mwelcome\0"), step);
	say_message(fd, 'K', SPAN("\0\0\0\7KEY!"), step);
	say_message(fd, 'Z', SPAN("I"), step);
	m = message(fd, true);
	if (span_find(m, SPAN("pg_has_role")) == NULL)
		return false;
	say_message(fd, 'T', SPAN("\0\1anything"), step);
	say_message(fd, 'C', SPAN("SELECT 0\0"), step);
	say_message(fd, 'Z', SPAN("I"), step);
	say(fd, behind.p, behind.len, behind.len);
	return true;
}

static void
test_login(size_t step)
{
	static uint32_t id;
	const unsigned want = rig.nin + 1;
	char rest[32] = "";
	int fd;

	id = want;
	fd = order(id, 0);
	ok(play(fd, step, SPAN("later")), "a login, in pieces of %zu", step);
	worker_rig_until(&rig.worker, &rig.nin, want);
	ok(rig.nin == want && rig.id == id, "is handed on");
	ok(span_eq(span_of(rig.parameters, rig.nparameters),
	       SPAN("TimeZone\0Europe/Berlin\0")),
	    "with the database's parameters");
	ok(recv(rig.fd, rest, sizeof(rest), 0) == 5 &&
		strcmp(rest, "later") == 0,
	    "and with what came behind it");
	close(rig.fd);
	close(fd);
}

static void
test_cancel(void)
{
	uint8_t got[16];
	const unsigned want = rig.nfail + 1;
	int fd = order(90, 1);

	ok(take(fd, got, sizeof(got)) &&
		memcmp(got, "\0\0\0\20\4\322\26.\0\0\0\7KEY!", 16) == 0,
	    "a cancel has the database's key, and nothing else");
	close(fd);
	worker_rig_until(&rig.worker, &rig.nfail, want);
	ok(rig.id == 90 && rig.text[0] == '\0', "and ends without a reason");
	fd = order(91, 77);
	worker_rig_until(&rig.worker, &rig.nfail, want + 1);
	is_str(rig.text, "the connection is too old to be cancelled",
	    "no key of a connection that was never made");
	close(fd);
}

/* Returns the reason why a server with this first answer is refused. */
static const char *
refusal(uint32_t id, struct span answer)
{
	const unsigned want = rig.nfail + 1;
	int fd = order(id, 0);

	(void)message(fd, false);
	say(fd, answer.p, answer.len, answer.len);
	worker_rig_until(&rig.worker, &rig.nfail, want);
	close(fd);
	return rig.text;
}

static void
test_refusals(void)
{
	ok(strstr(refusal(101, SPAN("R\0\0\0\10\0\0\0\0")), "pg_hba.conf") !=
		NULL,
	    "a server that asks for no password");
	ok(strstr(refusal(102, SPAN("R\0\0\0\14\0\0\0\5salt")), "as md5") !=
		NULL,
	    "one that wants md5");
	ok(strstr(refusal(103, SPAN("R\177\377\377\377\0\0\0\5")),
	       "another protocol") != NULL,
	    "a message without end");
	ok(strstr(refusal(104, SPAN("R\0\0\0\10\0\0\0\13")), "out of turn") !=
		NULL,
	    "a challenge before it was asked for");
	ok(strstr(refusal(105, SPAN("E\0\0\0\14C28P01\0\0")),
	       "does not take the password of user app") != NULL,
	    "a password that is not taken");
}

/* A violation of the protocol by a peer ends pgkeyd. */
static void
test_violation(const char *what, const struct msg_LOGIN_GO *m, unsigned times)
{
	begin(PASSWORD);
	for (unsigned i = 0; i < times; i++)
		chan_send(rig.audit, MSG_LOGIN_GO, m, -1);
	worker_rig_until_true(&rig.worker, &rig.worker.lost);
	ok(rig.worker.lost, "%s ends it", what);
	end();
}

int
main(int argc, char **argv)
{
	const struct msg_LOGIN_GO once = {.id = 1},
				  bad = {.id = 1, .timezone = SPAN("a'b")};

	program = argc > 1 ? argv[1] : "pgkeyd";
	begin(PASSWORD "\n");
	ok(rig.key.state == PROTO_KEY_LOADED &&
		rig.key.length == strlen(PASSWORD),
	    "the password is taken, and its length told");
	for (size_t step = 1; step < 6; step += 2)
		test_login(step);
	test_login(4096);
	test_cancel();
	test_refusals();
	ok(!rig.worker.lost, "and it still runs");
	end();
	test_violation("a number that comes twice", &once, 2);
	test_violation("a value outside of the alphabet", &bad, 1);
	return tap_done();
}
