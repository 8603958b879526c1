/* SPDX-License-Identifier: ISC */
/*
 * Shows an offer of the agent on the person's terminal, a screen at a time, and
 * asks. A text is put into the clipboard by the terminal itself (OSC 52), which
 * also works over ssh; an address is opened by the desktop's own program.
 */
#include "icctl/screen/offer.h"

#include <sys/ioctl.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/json_get.h"
#include "common/http/base64.h"
#include "common/net/link.h"
#include "common/plural.h"
#include "common/visible.h"
#include "icctl/browse.h"
#include "icctl/icctl.h"
#include "icctl/wrap.h"

static struct span
offered_text(uint8_t *kind, const char **dir)
{
	static uint8_t bytes[PROTO_MAX_OFFER + 2 + 4096];
	const uint8_t *nul;
	size_t len = 0;
	ssize_t n;

	while ((n = read(OFFER_FD, bytes + len, sizeof(bytes) - len)) > 0)
		len += (size_t)n;
	close(OFFER_FD);
	*kind = bytes[0];
	nul = len < 2 ? NULL : memchr(bytes + 1, '\0', len - 1);
	*dir = (const char *)bytes + 1;
	return nul == NULL
		   ? span_of(NULL, 0)
		   : span_of(nul + 1, (size_t)(bytes + len - (nul + 1)));
}

/* Keys that were typed before a text was there are not meant for it. */
static bool
offered_ask(const char *question)
{
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	return icctl_confirm(question);
}

static bool
offered_more(void)
{
	char line[64];

	printf(">>> Enter: more ");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL;
}

/* Show the whole text. Returns false if it cannot be shown. */
static bool
offered_page(struct span text)
{
	unsigned cols = wrap_columns(STDOUT_FILENO), used = 0;
	struct winsize ws = {.ws_row = 24};
	char *shown, *line, *rest;
	struct buf b;
	size_t n;
	bool good;

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws);
	buf_init(&b, 1U << 20);
	for (size_t at = 0; at < text.len;) {
		line = memchr(text.p + at, '\n', text.len - at);
		n = line == NULL
			? text.len - at
			: (size_t)((const uint8_t *)line - (text.p + at));
		(void)visible_add(&b, span_of(text.p + at, n), VISIBLE_PROSE);
		buf_addc(&b, '\n');
		at += n + 1;
	}
	good = buf_check(&b) == 0;
	shown = good ? wrap_text((const char *)buf_span(&b).p, buf_span(&b).len,
			   cols == 0 ? 80 : cols, &n)
		     : NULL;
	buf_free(&b);
	rest = shown;
	while (shown != NULL && n != 0) {
		line = memchr(rest, '\n', n);
		line = line == NULL ? rest + n : line + 1;
		(void)fwrite(rest, 1, (size_t)(line - rest), stdout);
		n -= (size_t)(line - rest);
		rest = line;
		if (++used + 3 >= ws.ws_row && n != 0) {
			good = good && offered_more();
			used = 0;
		}
	}
	good = good && shown != NULL;
	free(shown);
	return good;
}

static void
offered_copy(struct span text)
{
	uint8_t *code = malloc(BASE64_LEN(text.len));

	if (code == NULL)
		err(ICCTL_FAILED, "copy");
	base64_put(code, text);
	printf("\033]52;c;%.*s\007", (int)BASE64_LEN(text.len), code);
	free(code);
	puts("It was given to your terminal. Terminals that do not know OSC 52 "
	     "ignore it; tmux needs: set -g set-clipboard on");
}

static int
offered_text_run(struct span text)
{
	char question[120];
	size_t lines = 1;

	while (text.len > 1 && text.p[text.len - 1] == '\n')
		text.len--;
	for (size_t i = 0; i < text.len; i++)
		lines += text.p[i] == '\n';
	puts(">>> The agent offers this text for your clipboard:\n");
	if (!offered_page(text))
		return ICCTL_FAILED;
	snprintf(question, sizeof(question),
	    "\n>>> Copy these %zu byte%s in %zu line%s?", text.len,
	    plural(text.len), lines, plural(lines));
	if (!offered_ask(question))
		return ICCTL_FAILED;
	offered_copy(text);
	return ICCTL_OK;
}

/*
 * An address of the sandbox's loopback leads to programs of this machine,
 * unless its port is published. Write the address that it is published as.
 * Returns 0, or -1 after the reason.
 */
static int
offered_published(const char *dir, struct span link, char *url, size_t cap)
{
	const struct span host = link_host(link);
	const uint8_t *colon = memchr(host.p, ':', host.len);
	const uint8_t *rest = host.p + host.len;
	json_object *reply, *list = NULL, *o;
	struct span at;
	uint64_t port = 80;
	int rv = -1;

	/* No program listens on port 0. */
	if (colon != NULL &&
	    span_u64(span_of(colon + 1, (size_t)(rest - (colon + 1))),
		UINT16_MAX, &port) == -1)
		port = 0;
	/* A viewer without a directory knows no port of the session. */
	reply = dir[0] == '\0' ? NULL : icctl_ask_dir(dir, "status");
	list = get_typed(reply, "published", json_type_array);
	for (size_t i = 0;
	     list != NULL && i < json_object_array_length(list) && rv == -1;
	     i++) {
		o = json_object_array_get_idx(list, i);
		at = link_host(get_span(o, "url"));
		if (icctl_number(o, "port") == (int64_t)port && at.len != 0 &&
		    (size_t)snprintf(url, cap, "http://%.*s%.*s", (int)at.len,
			(const char *)at.p, (int)(link.p + link.len - rest),
			(const char *)rest) < cap)
			rv = 0;
	}
	json_object_put(reply);
	if (rv == -1)
		printf("The agent asks to open port %llu of the sandbox, which "
		       "is not published: on this machine the address leads "
		       "to another program. To publish it: icctl start "
		       "--publish %llu\n",
		    (unsigned long long)port, (unsigned long long)port);
	return rv;
}

static int
offered_link_run(const char *dir, struct span link)
{
	char url[LINK_MAX + 64];
	struct span host;

	if (!span_starts(link, SPAN("https://"))) {
		if (offered_published(dir, link, url, sizeof(url)) == -1)
			return ICCTL_FAILED;
		link = span_str(url);
	} else if (span_copy(link, url, sizeof(url)) == -1) {
		return ICCTL_FAILED;
	}
	host = link_host(link);
	printf(">>> The agent asks to open a page of %.*s%s:\n\n",
	    (int)host.len, (const char *)host.p,
	    memmem(host.p, host.len, "xn--", 4) != NULL
		? " (a name in another script, as punycode)"
		: "");
	if (!offered_page(link))
		return ICCTL_FAILED;
	puts("\nThe address goes to that host whole, with whatever the agent "
	     "has written into it.");
	if (!browse_may()) {
		if (!offered_ask("\n>>> There is no desktop here to open it. "
				 "Copy the address?"))
			return ICCTL_FAILED;
		offered_copy(link);
		return ICCTL_OK;
	}
	if (!offered_ask("\n>>> Open it?"))
		return ICCTL_FAILED;
	if (browse(url) == -1) {
		warn(BROWSE_PROGRAM);
		return ICCTL_FAILED;
	}
	return ICCTL_OK;
}

int
offered_run(void)
{
	const char *dir;
	uint8_t kind;
	const struct span text = offered_text(&kind, &dir);

	if (kind == PROTO_OFFER_LINK && link_ok(text))
		return offered_link_run(dir, text);
	return kind == PROTO_OFFER_COPY && text.len != 0
		   ? offered_text_run(text)
		   : ICCTL_USAGE;
}
