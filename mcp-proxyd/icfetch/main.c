/* SPDX-License-Identifier: ISC */
/*
 * icfetch: see icfetch.h.  Holds root certificates and nothing else.  Before it
 * reads the first line it gives up all files, and all system calls except those
 * that the client of one proxy needs.  Trusts neither requests nor answers.
 */
#include <sys/prctl.h>

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seccomp.h>

#include "common/confine/pledge.h"
#include "common/confine/unveil.h"
#include "common/log.h"
#include "common/loop.h"
#include "icfetch/icfetch.h"

#define POOL_MAX ((size_t)24 << 20)

enum format {
	FORMAT_MARKDOWN,
	FORMAT_TEXT,
	FORMAT_RAW
};

struct ask {
	struct url url;
	struct fetch fetch;
	enum format format;
	size_t max;
};

/* clang-format off */
static const enum pledge_promise promises[] = {
	PLEDGE_STDIO,		/* requests and answers */
	PLEDGE_DIAL,		/* a connection to the proxy */
};

static const struct pledge_rule rules[] = {
	{.nr = SCMP_SYS(poll),		.reason = "waits for the proxy"},
	{.nr = SCMP_SYS(ppoll),		.reason = "the same"},
	{.nr = SCMP_SYS(getpid),	.reason = "OpenSSL's random numbers"},
};

static const struct pledge pledge = {
	.promises = promises,
	.npromises = nitems(promises),
	.rules = rules,
	.nrules = nitems(rules),
};
/* clang-format on */

/*
 * Apply each layer that the kernel has; the sandbox confines the server in any
 * case.
 */
static void
lock(void)
{
	const struct unveil_path out = {-1, UNVEIL_CONNECT};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		err(1, "no_new_privs");
	if (unveil_abi() > 0 && unveil_apply(&out, 1) == -1)
		err(1, "Landlock");
	if (pledge_apply(&pledge) == -1)
		err(1, "seccomp");
}

static int
ask_number(const struct value *args, const char *name, double min, double max,
    double *out, const char **why)
{
	static char text[128];
	const struct value *v = value_get(args, name);
	char number[VALUE_MAX_NUMBER + 1];

	if (v == NULL)
		return 0;
	if (v->type == VALUE_NUMBER &&
	    span_copy(v->text, number, sizeof(number)) == 0) {
		*out = strtod(number, NULL);
		if (*out >= min && *out <= max)
			return 0;
	}
	snprintf(text, sizeof(text),
	    "Invalid arguments: %s must be a number from %.0f to %.0f", name,
	    min, max);
	*why = text;
	return -1;
}

/*
 * Returns true for headers that only this server may set, or that concern one
 * hop.
 */
static bool
header_ours(struct span name)
{
	static const char *const ours[] = {"host", "connection",
	    "content-length", "transfer-encoding", "accept-encoding", "te",
	    "trailer", "upgrade", "expect", "keep-alive", "range", "via"};

	for (size_t i = 0; i < nitems(ours); i++)
		if (span_ieq(name, span_str(ours[i])))
			return true;
	return name.len >= 6 && span_ieq(span_of(name.p, 6), SPAN("proxy-"));
}

static bool
header_ok(struct span name, struct span value)
{
	if (name.len == 0 || name.len > 128 || value.len > 4096)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!((name.p[i] | 32) >= 'a' && (name.p[i] | 32) <= 'z') &&
		    !(name.p[i] >= '0' && name.p[i] <= '9') && name.p[i] != '-')
			return false;
	for (size_t i = 0; i < value.len; i++)
		if ((value.p[i] < ' ' && value.p[i] != '\t') ||
		    value.p[i] > '~')
			return false;
	return true;
}

static int
ask_headers(struct ask *a, const struct value *args, const char **why)
{
	const struct value *v = value_get(args, "headers"), *h;
	struct buf *b = &a->fetch.request;
	bool agent = false, accept = false;
	unsigned n = 0;

	if (v != NULL && v->type != VALUE_OBJECT)
		goto bad;
	for (h = v != NULL ? v->child : NULL; h != NULL; h = h->next) {
		if (h->type != VALUE_STRING || ++n > ICFETCH_MAX_HEADERS ||
		    !header_ok(h->key, h->text))
			goto bad;
		if (header_ours(h->key)) {
			*why = "Invalid arguments: headers may not hold Host, "
			       "Connection and others that only this server "
			       "can say";
			return -1;
		}
		agent |= span_ieq(h->key, SPAN("user-agent"));
		accept |= span_ieq(h->key, SPAN("accept"));
		buf_addspan(b, h->key);
		buf_adds(b, ": ");
		buf_addspan(b, h->text);
		buf_adds(b, "\r\n");
	}
	if (!agent)
		buf_adds(b, "User-Agent: icfetch/" IC_VERSION "\r\n");
	if (!accept)
		buf_adds(b, "Accept: text/html, text/*;q=0.9, */*;q=0.5\r\n");
	return 0;
bad:
	*why = "Invalid arguments: headers must be an object of at most 32 "
	       "strings, names of letters, digits and -, values in ASCII";
	return -1;
}

static int
ask_read(struct ask *a, const struct value *args, const char **why)
{
	double max = ICFETCH_DFLT_TEXT, seconds = ICFETCH_DFLT_MS / 1000;
	const struct value *v = value_get(args, "url");

	if (v == NULL || v->type != VALUE_STRING) {
		*why = "Invalid arguments: url must be a string";
		return -1;
	}
	if (fetch_url_parse(v->text, &a->url, why) == -1 ||
	    ask_number(args, "max_length", 1, ICFETCH_MAX_TEXT, &max, why) ==
		-1 ||
	    ask_number(args, "timeout", 1, 60, &seconds, why) == -1 ||
	    ask_headers(a, args, why) == -1)
		return -1;
	v = value_get(args, "format");
	if (v != NULL && v->type == VALUE_STRING && span_is(v->text, "text"))
		a->format = FORMAT_TEXT;
	else if (v != NULL && v->type == VALUE_STRING &&
		 (span_is(v->text, "html") || span_is(v->text, "raw")))
		a->format = FORMAT_RAW;
	else if (v != NULL &&
		 !(v->type == VALUE_STRING && span_is(v->text, "markdown"))) {
		*why = "Invalid arguments: format must be markdown, text, "
		       "html or raw";
		return -1;
	}
	a->max = (size_t)max;
	a->fetch.deadline = clock_mono_us() + (uint64_t)(seconds * 1000000);
	return 0;
}

static void
put_url(struct buf *b, const struct url *u)
{
	char where[300];

	url_authority(u, false, where, sizeof(where));
	buf_printf(b, "%s://%s%s", u->tls ? "https" : "http", where, u->path);
}

/*
 * Fetch, and follow redirects within the origin.  Returns 0, 1 if a redirect to
 * another origin was reported in `text`, or -1 with an error there.
 */
static int
ask_fetch(struct ask *a, struct buf *text)
{
	struct fetch *f = &a->fetch;
	struct url next;
	const char *why;

	for (unsigned n = 0;; n++) {
		if (fetch_get(f, &a->url) == -1) {
			buf_printf(text, "Error: %s", f->why);
			return -1;
		}
		if (f->status < 300 || f->status == 304 || f->status > 399 ||
		    f->location[0] == '\0')
			return 0;
		if (n == ICFETCH_MAX_REDIRECTS) {
			buf_adds(text, "Error: more than 5 redirects");
			return -1;
		}
		if (url_join(&a->url, span_str(f->location), &next, &why) ==
		    -1) {
			buf_printf(
			    text, "Error: a redirect leads nowhere: %s", why);
			return -1;
		}
		if (!url_same_origin(&a->url, &next)) {
			buf_printf(text, "Redirect (%u) to ", f->status);
			put_url(text, &next);
			buf_adds(text, "\nIt is another origin and was not "
				       "followed. To go there, call http_fetch "
				       "with that URL.");
			return 1;
		}
		a->url = next;
	}
}

static bool
is_html(const struct fetch *f)
{
	return strncasecmp(f->type, "text/html", 9) == 0 ||
	       strncasecmp(f->type, "application/xhtml", 17) == 0;
}

static bool
is_text(const struct fetch *f)
{
	struct span s = buf_span(&f->body);

	return strncasecmp(f->type, "text/", 5) == 0 || is_html(f) ||
	       strstr(f->type, "json") != NULL ||
	       strstr(f->type, "xml") != NULL ||
	       strstr(f->type, "javascript") != NULL ||
	       (s.len == 0 || memchr(s.p, '\0', s.len) == NULL);
}

/*
 * Append at most `max` characters of `s`, and a note about what was left out.
 */
static void
put_cut(struct buf *out, struct span s, size_t max)
{
	size_t i, n = 0, total = 0;

	for (i = 0; i < s.len; i++)
		total += (s.p[i] & 0xc0) != 0x80;
	for (i = 0; i < s.len; i++) {
		if ((s.p[i] & 0xc0) == 0x80)
			continue;
		if (n == max)
			break;
		n++;
	}
	buf_addspan(out, span_of(s.p, i));
	if (i < s.len)
		buf_printf(out,
		    "\n\n[cut after %zu of %zu characters; max_length asks for "
		    "more]",
		    n, total);
}

static void
ask_text(struct ask *a, struct buf *text)
{
	struct fetch *f = &a->fetch;
	struct buf utf8, plain;

	buf_init(&utf8, 2 * ICFETCH_MAX_BODY + 16);
	buf_init(&plain, 4 * ICFETCH_MAX_BODY);
	buf_printf(text, "HTTP %u%s%s\n", f->status,
	    f->type[0] != '\0' ? ", " : "", f->type);
	if (f->cut)
		buf_adds(text, "[the first 10 MiB]\n");
	buf_addc(text, '\n');
	if (!is_text(f)) {
		buf_printf(text, "[%zu bytes that are no text]", f->body.len);
	} else if (text_utf8(&utf8, buf_span(&f->body)) == -1) {
		buf_adds(text, "[too much text]");
	} else if (a->format != FORMAT_RAW && is_html(f)) {
		text_html(
		    &plain, buf_span(&utf8), a->format == FORMAT_MARKDOWN);
		put_cut(text, buf_span(&plain), a->max);
	} else {
		put_cut(text, buf_span(&utf8), a->max);
	}
	buf_free(&utf8);
	buf_free(&plain);
}

static void
put_list(struct mcp *m)
{
	buf_adds(m->out,
	    "{\"name\":\"http_fetch\",\"description\":\"Gets a URL over HTTP "
	    "or HTTPS (GET only) and gives back its text. Redirects to another "
	    "origin are reported, not followed.\",\"inputSchema\":{\"type\":"
	    "\"object\",\"properties\":{\"url\":{\"type\":\"string\","
	    "\"description\":\"The URL\"},\"headers\":{\"type\":\"object\","
	    "\"additionalProperties\":{\"type\":\"string\"},\"description\":"
	    "\"More request headers\"},\"max_length\":{\"type\":\"number\","
	    "\"default\":5000,\"description\":\"Characters to give back at "
	    "most\"},\"format\":{\"type\":\"string\",\"enum\":[\"markdown\","
	    "\"text\",\"html\",\"raw\"],\"default\":\"markdown\"},\"timeout\":"
	    "{\"type\":\"number\",\"minimum\":1,\"maximum\":60,\"default\":30,"
	    "\"description\":\"Seconds\"}},\"required\":[\"url\"]},"
	    "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":true}}");
}

static bool
take_call(struct mcp *m, const struct jsonrpc *j, struct span tool,
    const struct value *args)
{
	static struct ask a;
	struct buf text;
	const char *why = "";
	bool failed = true;

	if (!span_is(tool, "http_fetch"))
		return false;
	memset(&a, 0, sizeof(a));
	buf_init(&text, MCP_MAX_LINE / 4);
	buf_init(&a.fetch.request, ICFETCH_MAX_HEADERS * 4400);
	buf_init(&a.fetch.body, ICFETCH_MAX_BODY);
	if (ask_read(&a, args, &why) == -1) {
		buf_adds(&text, why);
	} else {
		switch (ask_fetch(&a, &text)) {
		case 0:
			ask_text(&a, &text);
			failed = a.fetch.status >= 400;
			break;
		case 1:
			failed = false;
			break;
		default:
			break;
		}
	}
	(void)jsonrpc_add_text(m->out, &j->id,
	    text.failed ? SPAN("Error: too much text; ask for a smaller "
			       "max_length")
			: buf_span(&text),
	    failed || text.failed);
	buf_free(&text);
	buf_free(&a.fetch.request);
	buf_free(&a.fetch.body);
	return true;
}

int
main(int argc, char **argv)
{
	static struct buf out;
	struct mcp m = {.name = "icfetch",
	    .out = &out,
	    .list = put_list,
	    .call = take_call};
	const char *why;

	if (argc == 2 && (strcmp(argv[1], "--help") == 0 ||
			     strcmp(argv[1], "-h") == 0)) {
		puts("usage: HTTPS_PROXY=... icfetch\n\nAn MCP server on stdin "
		     "and stdout that gets web pages. See icfetch(1).");
		return 0;
	}
	if (argc != 1)
		errx(2, "takes no arguments: it is an MCP server");
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		err(1, "signal");
	log_init("icfetch", false);
	if ((why = fetch_prepare(getenv("HTTPS_PROXY"))) != NULL)
		errx(1, "%s", why);
	buf_init(&out, 2 * MCP_MAX_LINE);
	if ((m.pool = value_pool_new(POOL_MAX)) == NULL)
		err(1, "memory");
	pool_serve(&m, lock);
}
