/* SPDX-License-Identifier: ISC */
/* The targets of requests that mean the sandbox itself. */
#include "mitmd/loopback.h"

#include <string.h>

#include "tap.h"

static const struct {
	const char *target;
	bool is;
} rows[] = {
    {"http://[::1]:8123/", true},
    {"http://[::1]/", true},
    {"[::1]:443", true},
    {"[0:0:0:0:0:0:0:1]:443", true},
    {"[::ffff:127.0.0.1]:443", true},
    {"[::]:8000", true},
    {"http://127.0.0.1:8123/x", true},
    {"127.255.3.4:443", true},
    {"http://127.1/", true},
    {"http://0x7f000001/", true},
    {"http://2130706433/", true},
    {"0.0.0.0:443", true},
    {"http://localhost:3000", true},
    {"http://LocalHost./", true},
    {"app.localhost:443", true},
    {"http://ironcurtain:9/?q", true},
    {"ip6-localhost:443", true},
    {"http://localhost?x", true},
    {"", false},
    {"/", false},
    {":443", false},
    {"[", false},
    {"[]:443", false},
    {"[::2]:443", false},
    {"[::ffff:10.0.0.1]:443", false},
    {"[fe80::1]:443", false},
    {"128.0.0.1:443", false},
    {"10.127.0.1:443", false},
    {"http://localhost.example.org/", false},
    {"http://example.org/localhost", false},
    {"mylocalhost:443", false},
    {".localhost:443", false},
    {"127.0.0.1.example.org:443", false},
    {"http://example.org/?://localhost/", false},
};

int
main(void)
{
	char text[400];

	for (size_t i = 0; i < nitems(rows); i++)
		ok(loopback_target(span_str(rows[i].target)) == rows[i].is,
		    "%s", rows[i].target[0] != '\0' ? rows[i].target : "empty");
	memset(text, '1', sizeof(text));
	ok(!loopback_target(span_of(text, sizeof(text))), "a long name");
	ok(!loopback_target(span_of("local\0host:443", 14)), "a NUL");
	return tap_done();
}
