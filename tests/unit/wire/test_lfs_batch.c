/* SPDX-License-Identifier: ISC */
/*
 * Answers to batch requests of git-lfs: what servers send, with credentials at
 * every place that has room for one, and what they must not send. The client's
 * answer has names, sizes, https addresses and times, and nothing else.
 */
#include "mitmd/wire/lfs_batch.h"
#include "tap.h"

#include <stdio.h>

#define ID "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
#define OBJECT "\"oid\":\"" ID "\",\"size\":5"
#define HEAD "{\"transfer\":\"basic\",\"objects\":["
#define BEGIN HEAD "{" OBJECT ",\"authenticated\":true"
#define GET(href) "\"download\":{\"href\":\"" href "\"}"
#define URL "https://store.example.com/a?X-Amz-Signature=0f%2F&b"

static struct buf out;
static const char *why;

static int
run(const char *text)
{
	why = NULL;
	buf_reset(&out, 0);
	return lfs_batch(span_str(text), &out, &why);
}

static const char *
composed(void)
{
	static char text[8192];

	if (span_copy(buf_span(&out), text, sizeof(text)) == -1)
		text[0] = '\0';
	return text;
}

static void
becomes(const char *what, const char *from, const char *want)
{
	int rv = run(from);

	ok(rv == 0, "%s: taken (%s)", what, rv == 0 ? "" : why);
	is_str(composed(), want, "and becomes");
}

static void
bad(const char *what, const char *from)
{
	ok(run(from) == -1 && why != NULL, "refused: %s", what);
}

static void
test_good(void)
{
	becomes("nothing", "{\"objects\":[]}", HEAD "]}\n");
	becomes("a download with a credential everywhere",
	    "{\"transfer\":\"basic\",\"hash_algo\":\"sha256\",\"token\":\"T\","
	    "\"objects\":[{" OBJECT ",\"token\":\"T\",\"actions\":{"
	    "\"download\":{\"href\":\"" URL "\",\"header\":{"
	    "\"Authorization\":\"Basic T\"},\"expires_in\":60,"
	    "\"expires_at\":\"2026-11-29T10:00:00Z\",\"note\":\"T\"},"
	    "\"verify\":{\"href\":\"https://x/T\"}}}]}",
	    BEGIN ",\"actions\":{\"download\":{\"href\":\"" URL "\","
		  "\"expires_in\":60,\"expires_at\":\"2026-11-29T10:00:00Z\"}}"
		  "}]}\n");
	becomes("two of them",
	    "{\"objects\":[{" OBJECT "},{" OBJECT ",\"actions\":{}}]}",
	    BEGIN "},{" OBJECT ",\"authenticated\":true}]}\n");
	becomes("an error",
	    "{\"objects\":[{" OBJECT ",\"error\":{\"code\":404,"
	    "\"message\":\"not \\\"here\\\"\",\"x\":1}}]}",
	    BEGIN ",\"error\":{\"code\":404,\"message\":"
		  "\"not \\\"here\\\"\"}}]}\n");
	becomes("an error without a code",
	    "{\"objects\":[{" OBJECT ",\"error\":{\"code\":\"x\"}}]}",
	    BEGIN ",\"error\":{\"code\":422,\"message\":"
		  "\"the server does not give this object\"}}]}\n");
	becomes("times of other forms",
	    "{\"objects\":[{" OBJECT
	    ",\"actions\":{\"download\":{\"href\":\"https://x/\","
	    "\"expires_in\":-1,\"expires_at\":\"a \\\"T\"}}}]}",
	    BEGIN ",\"actions\":{\"download\":{\"href\":\"https://x/\"}}}]}\n");
}

static void
test_upload(void)
{
	ok(run("{\"objects\":[{" OBJECT ",\"actions\":{\"upload\":{"
	       "\"href\":\"https://x/\",\"header\":{\"Authorization\":\"T\"}}}"
	       "}]}") == 0,
	    "a place to send an object to");
	ok(strstr(composed(), "\"error\":{\"code\":403,") != NULL &&
		strstr(composed(), "https://x/") == NULL,
	    "is a refusal, not silence: the client would take the object for "
	    "sent");
}

static void
test_href(void)
{
	static const char *const hrefs[] = {"http://x/", "https://", "ftp://x/",
	    "", "/relative", "https://me:pw@x/", "https://x y/",
	    "https://x/\\u0000", "https://x/\\n", "https://x/\\u00e9",
	    "https://x/\\\\", "https://x/`", "HTTPS://x/"};
	char text[512];

	for (size_t i = 0; i < nitems(hrefs); i++) {
		snprintf(text, sizeof(text),
		    "{\"objects\":[{" OBJECT ",\"actions\":{\"download\":{"
		    "\"href\":\"%s\"}}}]}",
		    hrefs[i]);
		ok(run(text) == 0 &&
			strstr(composed(), "\"error\":{\"code\":422") != NULL &&
			strstr(composed(), "href") == NULL,
		    "no address: '%s'", hrefs[i]);
	}
}

static void
test_bad(void)
{
	bad("nothing", "");
	bad("no JSON", "<html>");
	bad("a list", "[]");
	bad("no objects", "{}");
	bad("objects that are none", "{\"objects\":{}}");
	bad("a member twice", "{\"objects\":[],\"objects\":[]}");
	bad("another transfer", "{\"transfer\":\"tus\",\"objects\":[]}");
	bad("another hash", "{\"hash_algo\":\"sha1\",\"objects\":[]}");
	bad("no name", "{\"objects\":[{\"size\":1}]}");
	bad("a name of other letters",
	    "{\"objects\":[{\"oid\":\"4D7A\",\"size\":1}]}");
	bad("no size", "{\"objects\":[{\"oid\":\"" ID "\"}]}");
	bad("a size below zero",
	    "{\"objects\":[{\"oid\":\"" ID "\",\"size\":-1}]}");
	bad("no object", "{\"objects\":[1]}");
}

static void
test_limits(void)
{
	struct buf text, small;

	buf_init(&text, 1U << 20);
	for (unsigned n = LFS_MAX_OBJECTS; n <= LFS_MAX_OBJECTS + 1; n++) {
		buf_reset(&text, 0);
		buf_adds(&text, "{\"objects\":[");
		for (unsigned i = 0; i < n; i++)
			buf_printf(&text, "%s{" OBJECT "}", i == 0 ? "" : ",");
		buf_adds(&text, "]}");
		buf_reset(&out, 0);
		is_int(lfs_batch(buf_span(&text), &out, &why),
		    n > LFS_MAX_OBJECTS ? -1 : 0, "%u objects", n);
	}
	buf_init(&small, 100);
	is_int(lfs_batch(SPAN("{\"objects\":[{" OBJECT "}]}"), &small, &why),
	    -1, "an answer that does not fit");
	buf_free(&small);
	buf_free(&text);
}

int
main(void)
{
	buf_init(&out, 1U << 20);
	test_good();
	test_upload();
	test_href();
	test_bad();
	test_limits();
	buf_free(&out);
	return tap_done();
}
