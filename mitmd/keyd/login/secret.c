/* SPDX-License-Identifier: ISC */
/*
 * Reads the credential from the descriptor that icsupervisor handed over
 * straight into secret memory, checks it, and makes it a keyset. A key file
 * holds the key and nothing else; keyd/login/renew_login.c parses login files.
 * Also locks the credential when it appeared in an answer. Only a credential's
 * length and age are ever reported.
 */
#include "keyd/keyd.h"

#include <openssl/evp.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/forge/forge.h"
#include "common/log.h"
#include "keyd/login/aws.h"
#include "keyd/login/oauth.h"

_Static_assert(KEYD_MAX_LOGIN == OAUTH_MAX_FILE, "one limit");

/*
 * Arena sizes: forms and tables of the longest credential take about thirty
 * times its length, and two credentials exist while one replaces the other. The
 * smaller sizes are for systems that allow little locked memory.
 */
static const struct {
	size_t bytes, cap, file;
} secret_sizes[] = {
    {SECRET_WHOLE, SCRUB_MAX, KEYD_MAX_LOGIN},
    {58U << 10, 512, 512},
};

void
keyd_secret_prepare(void)
{
	struct keyd_env *e = &keyd_env;
	size_t i = 0;

	while (secret_prepare(secret_sizes[i].bytes) == -1) {
		if (++i == nitems(secret_sizes))
			fatal("secret memory: raise the limit on locked "
			      "memory (ulimit -l) to 64 or more");
	}
	e->cap = secret_sizes[i].cap;
	if ((e->file = secret_new(secret_sizes[i].file)) == NULL ||
	    (e->head = secret_new(KEYD_MAX_HEAD)) == NULL)
		fatal("secret memory");
	e->key_fd = -1;
	e->key_io.fd = -1;
	e->renew.out = -1;
}

/* Visible ASCII: anything else could end a header, or is the wrong file. */
static bool
secret_legal(struct span key)
{
	uint8_t odd = 0;

	for (size_t i = 0; i < key.len; i++)
		odd |= key.p[i] < 0x21 || key.p[i] > 0x7e;
	return odd == 0;
}

static void
secret_end(void)
{
	loop_del(&keyd_env.w.loop, &keyd_env.key_io);
	close(keyd_env.key_fd);
	keyd_env.key_fd = -1;
}

/* Report a bad credential; a good one stays in use. */
static void
secret_bad(enum proto_key state, const char *text)
{
	struct keyd_env *e = &keyd_env;

	keyd_file_wipe();
	if (renew_unread(text))
		return;
	keyd_show(state, text);
	if (e->now != NULL && !e->locked)
		keyd_show_loaded();
	renew_replaced();
}

static void
secret_use(struct keyset *k)
{
	keyset_use(k);
	keyd_file_wipe();
	keyd_show_loaded();
	renew_replaced();
}

/*
 * Read a credential of two parts, which signs requests. Returns false if it is
 * one line, a key.
 */
static bool
secret_aws(void)
{
	struct keyd_env *e = &keyd_env;
	struct span adds[PROVIDER_MAX_ADDS] = {{NULL, 0}};
	struct aws_key key;
	const char *why = "";
	struct keyset *k;

	switch (aws_parse(secret_span(e->file), &key, &why)) {
	case AWS_API_KEY:
		return false;
	case AWS_BAD:
		secret_bad(PROTO_KEY_BAD, why);
		return true;
	case AWS_KEYS:
		break;
	}
	adds[0] = key.id;
	if (key.token.len > e->cap || (k = keyset_new(key.secret, key.token,
					   span_of(NULL, 0), adds)) == NULL) {
		secret_bad(PROTO_KEY_BAD, "too long");
		return true;
	}
	k->signs = true;
	k->expires = key.expires;
	k->margin = oauth_margin(0);
	secret_use(k);
	return true;
}

/*
 * Returns user name, colon and key in base64 (RFC 7617 section 2), in the
 * memory in which heads are composed; p == NULL if it is too long.
 */
static struct span
secret_basic(struct span user, struct span key)
{
	size_t cap, n = user.len + 1 + key.len;
	uint8_t *p = secret_bytes(keyd_env.head, &cap);

	if (n > cap / 4 || (n + 2) / 3 * 4 > keyd_env.cap)
		return span_of(NULL, 0);
	memcpy(p, user.p, user.len);
	p[user.len] = ':';
	memcpy(p + user.len + 1, key.p, key.len);
	return span_of(p + n, (size_t)EVP_EncodeBlock(p + n, p, (int)n));
}

/*
 * Make a keyset of the key, or of its form for Basic; both are scrubbed from
 * answers.
 */
static struct keyset *
secret_keyset(struct span key)
{
	struct span user = keyd_env.provider->basic, basic;
	struct span none = span_of(NULL, 0);
	struct keyset *k;
	uint8_t *p;
	size_t cap;

	if (user.len == 0)
		return keyset_new(key, none, none, NULL);
	basic = secret_basic(user, key);
	k = basic.p == NULL ? NULL : keyset_new(basic, key, none, NULL);
	p = secret_bytes(keyd_env.head, &cap);
	explicit_bzero(p, cap);
	return k;
}

static void
secret_key(void)
{
	struct keyd_env *e = &keyd_env;
	struct span key = secret_span(e->file);
	struct keyset *k;

	if (e->provider->sigv4.service.len != 0 && secret_aws())
		return;
	if (!secret_legal(key)) {
		secret_bad(PROTO_KEY_BAD,
		    "holds a space, a line break or another character "
		    "that cannot be in a credential");
		return;
	}
	if (e->provider->forge != NULL && !e->provider->forge->classic &&
	    forge_token_is_classic(e->provider->forge->kind, key)) {
		secret_bad(PROTO_KEY_BAD,
		    "is a classic token, good for every repository of its "
		    "owner: make a fine-grained one (icctl setup --forge), or "
		    "say \"classic\": true in this destination");
		return;
	}
	if (key.len > e->cap || (k = secret_keyset(key)) == NULL) {
		secret_bad(PROTO_KEY_BAD, "too long");
		return;
	}
	secret_use(k);
}

static void
secret_loaded(void)
{
	const char *why = "";

	if (keyd_login() == NULL) {
		secret_key();
	} else if (renew_read(&why) == -1) {
		if (keyd_env.cap < SCRUB_MAX)
			why = "a login needs 512 KiB of locked memory: raise "
			      "ulimit -l";
		secret_bad(PROTO_KEY_BAD, why);
	}
}

static void
secret_input(struct loop_io *io, uint32_t events)
{
	switch (secret_read_fd(keyd_env.file, keyd_env.key_fd)) {
	case 1:
		return;
	case 0:
		secret_end();
		secret_loaded();
		return;
	default:
		break;
	}
	secret_end();
	if (errno == ENODATA)
		secret_bad(PROTO_KEY_EMPTY, "empty");
	else if (errno == ENOBUFS)
		secret_bad(PROTO_KEY_BAD, "too long");
	else
		secret_bad(PROTO_KEY_BAD, "cannot be read");
}

int
keyd_secret(struct chan *c, const struct msg_SECRET *m, int fd)
{
	struct keyd_env *e = &keyd_env;
	unsigned kind = m->kind;

	if (e->key_fd != -1 || e->provider == NULL ||
	    kind > e->provider->nlogins ||
	    (e->now != NULL && kind != e->login) ||
	    (e->now != NULL && !e->w.started)) {
		close(fd);
		return chan_violation(c, "SECRET out of place");
	}
	e->login = kind;
	e->again = kind == 0 && m->again != 0;
	e->key_fd = fd;
	/* epoll refuses regular files, which can be read at once. */
	if (loop_add(&e->w.loop, &e->key_io, fd, EPOLLIN, secret_input, NULL) ==
	    -1)
		secret_input(NULL, 0);
	return 0;
}
