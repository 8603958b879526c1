/* SPDX-License-Identifier: ISC */
/*
 * Requests over libcurl.  The session's proxy and its certificate come from the
 * environment, as for every program in the sandbox.  Redirections are not
 * followed, and only https is spoken, except to 127.0.0.1 for tests.
 */
#include "docker/model/http.h"

#include <curl/curl.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Ends of a transfer that are not curl's. */
#define HTTP_CANCELLED (-1)
#define HTTP_SILENT (-2)
#define HTTP_ERROR_MAX 65536U /* bytes of an answer that is no stream */
#define HTTP_LOOPBACK "http://127.0.0.1:"

struct http {
	CURL *easy;
	CURLM *multi;
	struct curl_slist *headers;
	char *base;
	int cancel_fd;
	unsigned idle_ms;
	/* The request under way. */
	struct stream *stream;
	struct buf error;
	uint64_t last; /* when a byte arrived, as http_now() counts */
	char said[CURL_ERROR_SIZE];
};

static uint64_t
http_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static size_t
http_write(char *p, size_t size, size_t n, void *arg)
{
	struct http *h = arg;
	struct span in = span_of(p, size * n);
	char *type = NULL;
	long status = 0;

	h->last = http_now();
	curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(h->easy, CURLINFO_CONTENT_TYPE, &type);
	if (status == 200 && type != NULL &&
	    strncmp(type, "text/event-stream", 17) == 0)
		return stream_feed(h->stream, in) == 0 ? in.len : 0;
	if (in.len > HTTP_ERROR_MAX - h->error.len)
		in.len = HTTP_ERROR_MAX - h->error.len;
	buf_addspan(&h->error, in);
	/* Nobody reads more of an error than this. */
	return in.len == size * n ? in.len : 0;
}

static bool
http_header(struct http *h, const char *name, const char *value)
{
	struct curl_slist *more;
	char line[8192];
	int n;

	n = snprintf(line, sizeof(line), "%s%s", name, value);
	if (n < 0 || (size_t)n >= sizeof(line) || strpbrk(line, "\r\n") != NULL)
		return false;
	if ((more = curl_slist_append(h->headers, line)) == NULL)
		return false;
	h->headers = more;
	explicit_bzero(line, sizeof(line));
	return true;
}

static bool
http_headers(struct http *h, enum model_dialect d, const char *key)
{
	bool r = http_header(h, "Content-Type: ", "application/json") &&
		 http_header(h, "Accept: ", "text/event-stream") &&
		 http_header(h, "Expect:", "");

	switch (d) {
	case MODEL_ANTHROPIC:
		/* Tokens of a login are not keys. */
		return r &&
		       http_header(h, "anthropic-version: ", "2023-06-01") &&
		       http_header(h,
			   strncmp(key, "sk-ant-oat", 10) == 0
			       ? "Authorization: Bearer "
			       : "x-api-key: ",
			   key);
	case MODEL_GEMINI:
		return r && http_header(h, "x-goog-api-key: ", key);
	case MODEL_RESPONSES:
	case MODEL_CHAT:
		break;
	}
	return r && http_header(h, "Authorization: Bearer ", key);
}

static bool
http_setup(struct http *h, const struct model_options *o)
{
	bool loopback =
	    strncmp(h->base, HTTP_LOOPBACK, sizeof(HTTP_LOOPBACK) - 1) == 0;
	const char *ca = getenv("SSL_CERT_FILE");
	CURL *e = h->easy;
	CURLcode r = CURLE_OK;

	r |= curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	r |= curl_easy_setopt(
	    e, CURLOPT_PROTOCOLS_STR, loopback ? "http" : "https");
	if (loopback)
		r |= curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
	if (ca != NULL && *ca != '\0')
		r |= curl_easy_setopt(e, CURLOPT_CAINFO, ca);
	r |= curl_easy_setopt(
	    e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	r |= curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	r |= curl_easy_setopt(e, CURLOPT_HTTPHEADER, h->headers);
	r |= curl_easy_setopt(e, CURLOPT_USERAGENT, "ironcurtain/" IC_VERSION);
	r |= curl_easy_setopt(e, CURLOPT_POST, 1L);
	r |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, http_write);
	r |= curl_easy_setopt(e, CURLOPT_WRITEDATA, h);
	r |= curl_easy_setopt(e, CURLOPT_ERRORBUFFER, h->said);
	r |=
	    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_ms);
	r |= curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)o->total_ms);
	return r == CURLE_OK;
}

struct http *
http_new(const struct dialect *d, const struct model_options *o,
    char why[MODEL_WHY_MAX])
{
	const char *base = o->base != NULL ? o->base : d->base;
	struct http *h = NULL;

	if (strncmp(base, "https://", 8) != 0 &&
	    strncmp(base, HTTP_LOOPBACK, sizeof(HTTP_LOOPBACK) - 1) != 0) {
		snprintf(why, MODEL_WHY_MAX,
		    "The provider's address must begin with https://.");
		return NULL;
	}
	snprintf(why, MODEL_WHY_MAX, "libcurl cannot be used for %s.", base);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    (h = calloc(1, sizeof(*h))) == NULL)
		return NULL;
	h->cancel_fd = o->cancel_fd > 0 ? o->cancel_fd : -1;
	h->idle_ms = o->idle_ms;
	buf_init(&h->error, HTTP_ERROR_MAX);
	h->base = strdup(base);
	h->easy = curl_easy_init();
	h->multi = curl_multi_init();
	if (h->base == NULL || h->easy == NULL || h->multi == NULL ||
	    !http_headers(h, d->id, o->key) || !http_setup(h, o)) {
		http_free(h);
		return NULL;
	}
	*why = '\0';
	return h;
}

void
http_free(struct http *h)
{
	if (h == NULL)
		return;
	curl_easy_cleanup(h->easy);
	curl_multi_cleanup(h->multi);
	curl_slist_free_all(h->headers);
	buf_free(&h->error);
	free(h->base);
	free(h);
}

bool
http_is_base(const struct http *h, const char *base)
{
	return strcmp(h->base, base) == 0;
}

bool
http_wait(const struct http *h, unsigned ms)
{
	struct pollfd p = {.fd = h->cancel_fd, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, (int)ms);
	while (n == -1 && errno == EINTR && h->cancel_fd == -1);
	return n == 0;
}

/* Returns curl's result of the transfer, or one of ours. */
static int
http_run(struct http *h)
{
	struct curl_waitfd cancel = {
	    .fd = h->cancel_fd, .events = CURL_WAIT_POLLIN};
	unsigned extra = h->cancel_fd != -1;
	CURLMsg *m;
	int running = 1, left;

	for (;;) {
		if (curl_multi_perform(h->multi, &running) != CURLM_OK)
			return CURLE_FAILED_INIT;
		if (running == 0)
			break;
		/* An interrupted poll is a reason to look, no more. */
		curl_multi_poll(h->multi, &cancel, extra, 500, NULL);
		if (extra != 0 && !http_wait(h, 0))
			return HTTP_CANCELLED;
		if (http_now() - h->last > h->idle_ms)
			return HTTP_SILENT;
	}
	while ((m = curl_multi_info_read(h->multi, &left)) != NULL) {
		if (m->msg == CURLMSG_DONE)
			return (int)m->data.result;
	}
	return CURLE_FAILED_INIT;
}

static const char *
reply_header(struct http *h, const char *name)
{
	struct curl_header *v;

	if (curl_easy_header(h->easy, name, 0, CURLH_HEADER, -1, &v) !=
	    CURLHE_OK)
		return NULL;
	return v->value;
}

/* A date, which Retry-After may be as well, is not worth a clock. */
static unsigned
reply_number(struct http *h, const char *name, unsigned scale)
{
	const char *text = reply_header(h, name);
	uint64_t n;
	size_t digits;

	if (text == NULL)
		return 0;
	digits = strspn(text, "0123456789");
	if (digits == 0 ||
	    span_u64(span_of(text, digits), 1000U * 86400, &n) == -1)
		return 0;
	return (unsigned)n * scale;
}

static void
reply_read(struct http *h, struct http_reply *r)
{
	const char *retry = reply_header(h, "x-should-retry");

	*r = (struct http_reply){0};
	r->no_retry = retry != NULL && strcmp(retry, "false") == 0;
	r->retry_ms = reply_number(h, "retry-after-ms", 1);
	if (r->retry_ms == 0)
		r->retry_ms = reply_number(h, "retry-after", 1000);
}

/* The request failed before there was an answer, or while it came. */
static int
http_failed(struct http *h, int code, struct stream *s)
{
	long refused = 0;

	curl_easy_getinfo(h->easy, CURLINFO_HTTP_CONNECTCODE, &refused);
	if (refused >= 400 && refused < 500)
		return stream_fail(s, MODEL_HARD,
		    "The session does not let the sandbox connect to %s "
		    "(status %ld).",
		    h->base, refused);
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_OUT_OF_MEMORY:
	case CURLE_FAILED_INIT:
		return stream_fail(s, MODEL_HARD, "%s cannot be reached: %s.",
		    h->base,
		    *h->said != '\0' ? h->said
				     : curl_easy_strerror((CURLcode)code));
	default:
		return stream_fail(s, MODEL_TRANSIENT,
		    "The connection to %s failed: %s.", h->base,
		    *h->said != '\0' ? h->said
				     : curl_easy_strerror((CURLcode)code));
	}
}

static int
http_judge(struct http *h, int code, struct stream *s)
{
	long status = 0;

	curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == HTTP_CANCELLED)
		stream_fail(s, MODEL_CANCELLED, "The turn was interrupted.");
	else if (code == HTTP_SILENT && !s->stopped)
		stream_fail(s, MODEL_TRANSIENT,
		    "The provider has sent nothing for %u seconds.",
		    h->idle_ms / 1000);
	else if (status != 0 && status != 200 &&
		 (code == CURLE_OK || h->error.len != 0))
		error_classify(s->out, (unsigned)status, buf_span(&h->error));
	else if (status == 200 && h->error.len != 0)
		stream_fail(s, MODEL_HARD,
		    "The provider's answer is not a stream of events.");
	else if (code != CURLE_OK && !s->stopped)
		http_failed(h, code, s);
	s->out->status = (unsigned)status;
	return stream_end(s);
}

int
http_post(struct http *h, const char *path, struct span body, struct stream *s,
    struct http_reply *reply)
{
	struct buf url;
	int code = CURLE_FAILED_INIT;

	buf_init(&url, 8192);
	buf_printf(&url, "%s%s", h->base, path);
	buf_addc(&url, '\0');
	*reply = (struct http_reply){0};
	h->stream = s;
	h->last = http_now();
	h->said[0] = '\0';
	buf_reset(&h->error, HTTP_ERROR_MAX);
	if (buf_check(&url) == 0 &&
	    curl_easy_setopt(h->easy, CURLOPT_URL, buf_span(&url).p) ==
		CURLE_OK &&
	    curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE,
		(curl_off_t)body.len) == CURLE_OK &&
	    curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, body.p) == CURLE_OK &&
	    curl_multi_add_handle(h->multi, h->easy) == CURLM_OK) {
		code = http_run(h);
		reply_read(h, reply);
		curl_multi_remove_handle(h->multi, h->easy);
	}
	buf_free(&url);
	return http_judge(h, code, s);
}
