/* SPDX-License-Identifier: ISC */
/*
 * Options of the user's that programs in a sandbox get, and the form in which
 * Java reads certificates.
 */
#include <errno.h>
#include <string.h>

#include "box/clients/jks.h"
#include "box/clients/options.h"
#include "tap.h"

static const struct {
	enum options_kind kind;
	const char *text, *want;
	bool all;
} rows[] = {
    {OPTIONS_NODE, NULL, "", true},
    {OPTIONS_NODE, "", "", true},
    {OPTIONS_NODE, " \t ", "", true},
    {OPTIONS_NODE, "--max-old-space-size=8192", " --max-old-space-size=8192",
	true},
    {OPTIONS_NODE, " --no-warnings\t--enable-source-maps ",
	" --no-warnings --enable-source-maps", true},
    {OPTIONS_NODE, "--require /home/me/hook.js --no-warnings",
	" --no-warnings", false},
    {OPTIONS_NODE, "--require=hook --no-warnings", " --no-warnings", false},
    {OPTIONS_NODE, "-r dotenv/config", "", false},
    {OPTIONS_NODE, "--import tsx", "", false},
    {OPTIONS_NODE, "--inspect-brk=0.0.0.0:9229", "", false},
    {OPTIONS_NODE, "--env-file=.env --trace-warnings", " --trace-warnings",
	false},
    {OPTIONS_NODE, "--conditions development --trace-warnings",
	" --trace-warnings", false},
    {OPTIONS_NODE, "--max-old-space-size=1 \"--require x\"",
	"", false},
    {OPTIONS_NODE, "--x=$(id) --y=`id` --z=a;b", "", false},
    {OPTIONS_NODE, "--", "", false},
    {OPTIONS_JVM, "-Xmx2g -XX:+UseG1GC -ea", " -Xmx2g -XX:+UseG1GC -ea", true},
    {OPTIONS_JVM, "-Dfile.encoding=UTF-8 -Dnexus.password=abc",
	" -Dfile.encoding=UTF-8", false},
    {OPTIONS_JVM, "-javaagent:/home/me/a.jar -Xss1m", " -Xss1m", false},
    {OPTIONS_JVM, "-Djavax.net.ssl.trustStore=/home/me/store", "", false},
    {OPTIONS_JVM, "-Dhttps.proxyHost=proxy.example.org", "", false},
    {OPTIONS_JVM, "-XX:OnOutOfMemoryError=sh -Xmx1g", " -Xmx1g", false},
    {OPTIONS_JVM, "-XX:+HeapDumpOnOutOfMemoryError", "", false},
    {OPTIONS_JVM, "-agentlib:jdwp=transport=dt_socket", "", false},
    {OPTIONS_JVM, "@options", "", false},
};

static void
test_options(void)
{
	char text[4096];
	struct buf b;
	bool all;

	for (size_t i = 0; i < nitems(rows); i++) {
		buf_init(&b, 4096);
		all = clients_options(&b, rows[i].kind, rows[i].text);
		buf_addc(&b, '\0');
		is_str((const char *)buf_span(&b).p, rows[i].want, "%s",
		    rows[i].text != NULL ? rows[i].text : "no variable");
		is_int(all, rows[i].all, "and whether that is all");
		buf_free(&b);
	}
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "--", 2);
	text[sizeof(text) - 1] = '\0';
	buf_init(&b, 8192);
	ok(!clients_options(&b, OPTIONS_NODE, text) && b.len == 0,
	    "one that is too long is left out");
	buf_free(&b);
}

static const char two[] = "# a comment\n"
			  "-----BEGIN CERTIFICATE-----\nAAEC\nAwQ=\n"
			  "-----END CERTIFICATE-----\n"
			  "-----BEGIN CERTIFICATE-----\n"
			  "-----END CERTIFICATE-----\n"
			  "text\n-----BEGIN CERTIFICATE-----\r\n/w==\r\n"
			  "-----END CERTIFICATE-----";
/* Made by hand from the description of the form; keytool reads it. */
static const uint8_t want[] = {0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0, 0, 0, 2,
    0, 0, 0, 2, 0, 13, 'i', 'r', 'o', 'n', 'c', 'u', 'r', 't', 'a', 'i', 'n',
    '-', '0', 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 'X', '.', '5', '0', '9', 0, 0, 0,
    5, 0, 1, 2, 3, 4, 0, 0, 0, 2, 0, 13, 'i', 'r', 'o', 'n', 'c', 'u', 'r',
    't', 'a', 'i', 'n', '-', '1', 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 'X', '.', '5',
    '0', '9', 0, 0, 0, 1, 0xff};

static const char *const bad[] = {
    "-----BEGIN CERTIFICATE-----\nAAEC\n",
    "-----BEGIN CERTIFICATE-----\nAAE\n-----END CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE-----\nA===\n-----END CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE-----\nAA=A\n-----END CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE-----\nA*==\n-----END CERTIFICATE-----\n",
};

static void
test_jks(void)
{
	struct buf b;

	buf_init(&b, 4096);
	is_int(jks_put(&b, span_str(two)), 2, "two certificates");
	is_int(b.len, sizeof(want) + 20, "and a digest");
	is_mem(buf_span(&b).p, sizeof(want), want, sizeof(want),
	    "in Java's form");
	buf_free(&b);
	buf_init(&b, 4096);
	is_int(jks_put(&b, span_str("nothing")), 0, "no certificate");
	is_int(b.len, 12 + 20, "is an empty store");
	buf_free(&b);
	for (size_t i = 0; i < nitems(bad); i++) {
		buf_init(&b, 4096);
		ok(jks_put(&b, span_str(bad[i])) == -1 && errno == EINVAL,
		    "invalid PEM %zu", i);
		buf_free(&b);
	}
}

int
main(void)
{
	test_options();
	test_jks();
	return tap_done();
}
