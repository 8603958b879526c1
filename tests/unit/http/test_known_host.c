/* SPDX-License-Identifier: ISC */
/* Tests what a host becomes when a person opens it, by its name alone. */
#include "common/http/known_host.h"

#include <stdio.h>

#include "tap.h"

static const struct {
	const char *name;
	enum proto_open kind;
	const char *first, *second;
} rows[] = {
    {"files.example.org", PROTO_OPEN_WEB, NULL, NULL},
    {"www.example.org", PROTO_OPEN_WEB, NULL, NULL},
    /* words that only look like those of a registry */
    {"pnpm.example", PROTO_OPEN_WEB, NULL, NULL},
    {"mycrates.example", PROTO_OPEN_WEB, NULL, NULL},
    {"crate.example", PROTO_OPEN_WEB, NULL, NULL},
    {"a.registry.example", PROTO_OPEN_WEB, NULL, NULL},
    {"digit.example", PROTO_OPEN_WEB, NULL, NULL},
    {"www.debian.example", PROTO_OPEN_WEB, NULL, NULL},
    {"deb.example.org", PROTO_OPEN_WEB, NULL, NULL},
    {"github.com.example.org", PROTO_OPEN_WEB, NULL, NULL},
    {"notgithub.com", PROTO_OPEN_WEB, NULL, NULL},
    {"github.com", PROTO_OPEN_GIT, NULL, NULL},
    {"www.github.com", PROTO_OPEN_GIT, NULL, NULL},
    {"git.example.org", PROTO_OPEN_GIT, NULL, NULL},
    {"gitlab.example.org", PROTO_OPEN_GIT, NULL, NULL},
    {"registry.example.org", PROTO_OPEN_NPM, NULL, NULL},
    {"registry.npm-mirror.example", PROTO_OPEN_NPM, NULL, NULL},
    {"npm.example.org", PROTO_OPEN_NPM, NULL, NULL},
    {"a.yarnpkg.example", PROTO_OPEN_NPM, NULL, NULL},
    {"pypi.example", PROTO_OPEN_PYPI, "pypi.example",
	"files.pythonhosted.example"},
    {"files.pythonhosted.example", PROTO_OPEN_PYPI, "pypi.example",
	"files.pythonhosted.example"},
    {"test.pypi.example", PROTO_OPEN_PYPI, NULL, NULL},
    {"index.crates.example", PROTO_OPEN_CRATES, "index.crates.example",
	"static.crates.example"},
    {"static.crates.example", PROTO_OPEN_CRATES, "index.crates.example",
	"static.crates.example"},
    {"crates.example", PROTO_OPEN_CRATES, NULL, NULL},
    {"deb.debian.example", PROTO_OPEN_DEBIAN, NULL, NULL},
    {"archive.ubuntu.example", PROTO_OPEN_DEBIAN, NULL, NULL},
    {"ftp.de.debian.example", PROTO_OPEN_DEBIAN, NULL, NULL},
};

static void
test_long(void)
{
	char name[HOSTNAME_MAX + 1];
	struct known_host k;

	/* Its companion would be longer than any name. */
	memset(name, 'a', sizeof(name));
	memcpy(name, "pypi.", 5);
	for (size_t i = 60; i < HOSTNAME_MAX; i += 60)
		name[i] = '.';
	name[HOSTNAME_MAX] = '\0';
	known_host(name, &k);
	ok(k.kind == PROTO_OPEN_PYPI && k.n == 1 &&
		strcmp(k.hosts[0], name) == 0,
	    "a name whose companion would be too long stands alone");
}

int
main(void)
{
	const char *first;
	struct known_host k;

	for (size_t i = 0; i < nitems(rows); i++) {
		first = rows[i].first != NULL ? rows[i].first : rows[i].name;
		known_host(rows[i].name, &k);
		ok(k.kind == rows[i].kind && strcmp(k.hosts[0], first) == 0 &&
			k.n == (rows[i].second != NULL ? 2U : 1U) &&
			(k.n == 1 || strcmp(k.hosts[1], rows[i].second) == 0) &&
			known_host_has(&k, rows[i].name) &&
			!known_host_has(&k, "x.example.net"),
		    "%s", rows[i].name);
	}
	ok(known_host_foreign("xn--pple-43d.example") &&
		known_host_foreign("a.xn--p1ai") &&
		!known_host_foreign("axn--b.example"),
	    "punycode in any label");
	test_long();
	return tap_done();
}
