/* SPDX-License-Identifier: ISC */
/*
 * ic-reader: reads files that people write for icsupervisor and icctl, and
 * hands back what they use of them (supervisor/files/reader.h). It gets their
 * texts on its standard input, a socket, on which it answers, and can do
 * nothing else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/report.h"
#include "common/confine/confine.h"
#include "common/log.h"
#include "files/adapter/adapter_put.h"
#include "files/config_pack.h"
#include "files/prices.h"
#include "files/providers/facts.h"
#include "files/reader.h"
#include "files/servers_pack.h"
#include "provider/provider.h"

/* clang-format off */
static const enum pledge_promise reader_promises[] = {
	PLEDGE_STDIO,		/* reads texts, writes reports */
};

static const struct confine reader_confine = {
	.limits = {
		.nofile = 3,
		.fsize = 0,
		.data = 1U << 30,	/* a file of 8 MiB as a tree */
		.memlock = 0,
	},
	.pledge = {
		.promises = reader_promises,
		.npromises = nitems(reader_promises),
	},
};
/* clang-format on */

/* Read that much. Returns false if icsupervisor or icctl has ended. */
static bool
reader_get(void *to, size_t len)
{
	uint8_t *p = to;
	ssize_t n;

	while (len != 0) {
		if ((n = read(STDIN_FILENO, p, len)) <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static void
facts_span(struct buf *b, enum facts_report kind, struct span s)
{
	char *text = span_dup(s);

	/* The parser refuses such a text. */
	if (text == NULL)
		fatal("a text of the file");
	report_add(b, (int)kind, text);
	free(text);
}

static void
facts_number(struct buf *b, enum facts_report kind, unsigned n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	report_add(b, (int)kind, text);
}

static void
facts_login(struct buf *b, const struct provider_place *l)
{
	facts_span(b, FACTS_LOGIN, l->name);
	facts_span(b, FACTS_FILE, l->file);
	facts_span(b, FACTS_LOGIN_SENTINEL, l->sentinel);
	facts_span(b, FACTS_URL, l->url);
	for (unsigned i = 0; i < l->ndirs; i++) {
		facts_span(b, FACTS_DIR, l->dirs[i][0]);
		facts_span(b, FACTS_BELOW, l->dirs[i][1]);
	}
	for (unsigned i = 0; i < l->nlocks[0]; i++)
		facts_span(b, FACTS_LOCK_DIR, l->locks[0][i]);
	for (unsigned i = 0; i < l->nlocks[1]; i++)
		facts_span(b, FACTS_LOCK_FILE, l->locks[1][i]);
}

/* Add the routes whose requests are steps; their numbers are in the log. */
static void
facts_routes(struct buf *b, const struct provider *p)
{
	bool messages = false;

	facts_number(b, FACTS_ROUTES, p->nroutes);
	for (unsigned i = 0; i < p->nroutes; i++)
		if (p->routes[i].turn) {
			facts_number(b, FACTS_STEP, i);
			messages = messages || p->routes[i].websocket;
		}
	if (messages)
		report_add(b, FACTS_MESSAGES, "");
}

static void
reader_provider(struct buf *b, const struct span *parts)
{
	const struct span text = parts[0], model = parts[1];
	struct provider_facts f;
	char err[1024];

	if (provider_facts_read(&f, text, err, sizeof(err)) == -1) {
		report_add(b, FACTS_BAD, err);
		return;
	}
	facts_span(b, FACTS_NAME, f.name);
	for (unsigned i = 0; i < f.nhosts; i++)
		facts_span(b, FACTS_HOST, f.hosts[i]);
	facts_span(b, FACTS_ENV, f.env);
	facts_span(b, FACTS_SENTINEL, f.sentinel);
	for (unsigned i = 0; f.parts != NULL && i < PROVIDER_PARTS; i++)
		facts_span(b, FACTS_PART, f.parts[i]);
	for (unsigned i = 0; i < f.nlogins; i++)
		facts_login(b, f.logins[i]);
	facts_routes(b, f.owner);
	if (model.len != 0 && provider_answers(text, model))
		report_add(b, FACTS_ANSWERS, "");
	provider_facts_free(&f);
	report_add(b, REPORT_END, "");
}

static void
reader_config(struct buf *b, const struct span *parts)
{
	static struct config c;
	char *text[3];
	struct fault fault = {""};
	int rv;

	for (unsigned i = 0; i < nitems(text); i++)
		if ((text[i] = span_dup(parts[i])) == NULL)
			fatal("a name");
	rv = config_parse(&c, text[0], text[1],
	    text[2][0] == '\0' ? NULL : text[2], parts[3], &fault);
	if (rv == 0) {
		buf_addc(b, READER_GOOD);
		(void)config_put(b, &c);
		config_free(&c);
	} else {
		buf_addc(b, READER_FAULT);
		buf_adds(b, fault.text);
	}
	for (unsigned i = 0; i < nitems(text); i++)
		free(text[i]);
}

#define READER_MAX_WORDS 4096U

/* Take a list of texts that each end in NUL; the pointers are into it. */
static size_t
reader_words(struct span s, const char *texts[READER_MAX_WORDS + 1])
{
	const uint8_t *end;
	size_t n = 0;

	while ((end = s.len == 0 ? NULL : memchr(s.p, '\0', s.len)) != NULL) {
		if (n == READER_MAX_WORDS)
			fatalx("too many words");
		texts[n++] = (const char *)s.p;
		s = span_of(end + 1, s.len - (size_t)(end + 1 - s.p));
	}
	texts[n] = NULL;
	return n;
}

static void
reader_servers(struct buf *b, const struct span *parts)
{
	static const char *allowed[READER_MAX_WORDS + 1],
	    *variables[READER_MAX_WORDS + 1];
	static struct servers s;
	struct servers_how how = {.unsandboxed = allowed};
	const struct span secrets = parts[READER_SERVERS_SECRETS];
	char *file = span_dup(parts[READER_SERVERS_FILE]),
	     *home = span_dup(parts[READER_SERVERS_HOME]);
	struct fault fault = {""};
	int rv = 0;

	if (file == NULL || home == NULL)
		fatal("a name");
	how.file = file;
	how.user_home = home;
	how.nunsandboxed = reader_words(parts[READER_SERVERS_ALLOWED], allowed);
	(void)reader_words(parts[READER_SERVERS_VARIABLES], variables);
	how.variables = variables;
	if (secrets.len != 0) {
		how.env = jsonfile_parse(file, secrets, &fault);
		rv = how.env == NULL ? -1 : 0;
	}
	if (rv == 0)
		rv = servers_text(&s, &how, parts[READER_SERVERS_TEXT], &fault);
	if (rv == 0) {
		buf_addc(b, READER_GOOD);
		(void)servers_put(b, &s);
		servers_free(&s);
	} else {
		buf_addc(b, READER_FAULT);
		buf_adds(b, fault.text);
	}
	json_object_put(how.env);
	free(file);
	free(home);
}

static void
reader_prices(struct buf *b, const struct span *parts)
{
	static struct prices ps;
	struct fault fault = {""};
	char *path;
	int rv = 0;

	prices_clear(&ps);
	for (unsigned i = 0; rv == 0 && i < 2; i++) {
		if ((path = span_dup(parts[2 * i])) == NULL)
			fatal("a name");
		if (path[0] != '\0')
			rv = prices_parse(
			    &ps, path, parts[2 * i + 1], i == 1, &fault);
		free(path);
	}
	buf_addc(b, rv == 0 ? READER_GOOD : READER_FAULT);
	if (rv == 0)
		(void)pack_put(b, prices_rows, PRICES_ROWS, &ps);
	else
		buf_adds(b, fault.text);
}

static void
reader_adapter(struct buf *b, const struct span *parts)
{
	char *path = span_dup(parts[0]), *name = span_dup(parts[1]);
	struct fault fault = {""};

	if (path == NULL || name == NULL)
		fatal("a name");
	buf_addc(b, READER_GOOD);
	if (adapter_put(b, path, name, parts[2], &fault) == -1) {
		buf_drain(b, b->len);
		buf_addc(b, READER_FAULT);
		buf_adds(b, fault.text);
	}
	free(path);
	free(name);
}

static void (*const readers[READER_KINDS])(
    struct buf *, const struct span *parts) = {
    [READER_PROVIDER] = reader_provider,
    [READER_CONFIG] = reader_config,
    [READER_SERVERS] = reader_servers,
    [READER_PRICES] = reader_prices,
    [READER_ADAPTER] = reader_adapter,
};

/* Answer one request. Returns false at the end. */
static bool
reader_next(void)
{
	static uint8_t texts[READER_PARTS][READER_MAX_PART];
	struct span parts[READER_PARTS];
	struct reader_request q;
	struct buf b;
	uint32_t len;

	if (!reader_get(&q, sizeof(q)))
		return false;
	if (q.kind >= READER_KINDS)
		fatalx("not a kind of file");
	for (unsigned i = 0; i < READER_PARTS; i++) {
		if (q.len[i] > sizeof(texts[i]) ||
		    !reader_get(texts[i], q.len[i]))
			fatalx("not a text");
		parts[i] = span_of(texts[i], q.len[i]);
	}
	buf_init(&b, READER_MAX_ANSWER);
	readers[q.kind](&b, parts);
	if (buf_check(&b) == -1)
		fatal("the answer");
	len = (uint32_t)buf_span(&b).len;
	if (span_write(STDOUT_FILENO, span_of(&len, sizeof(len))) == -1 ||
	    span_write(STDOUT_FILENO, buf_span(&b)) == -1)
		return false;
	buf_free(&b);
	return true;
}

int
main(void)
{
	struct confine_state state;

	confine_early();
	log_init(READER_PROGRAM, false);
	if (confine_apply(&reader_confine, &state) == -1)
		return 1;
	while (reader_next())
		;
	return 0;
}
