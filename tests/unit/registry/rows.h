/* SPDX-License-Identifier: ISC */
/*
 * Paths of package registries and their meaning. A `package` of NULL means that
 * the path is refused.
 */
#ifndef REGISTRY_ROWS_H
#define REGISTRY_ROWS_H

#include "mitmd/registry/path.h"

#define M REGISTRY_METADATA
#define A REGISTRY_ARTEFACT
#define I REGISTRY_INDEX
#define NPM REGISTRY_NPM
#define PYPI REGISTRY_PYPI
#define CRATES REGISTRY_CRATES
#define DEB REGISTRY_DEBIAN

struct path_row {
	enum registry registry;
	const char *path;
	enum registry_what what;
	const char *package, *version;
};

/* clang-format off */
static const struct path_row path_rows[] = {
	{NPM, "/left-pad", M, "left-pad", ""},
	{NPM, "/JSONStream", M, "JSONStream", ""},
	{NPM, "/lodash.merge", M, "lodash.merge", ""},
	{NPM, "/@types/node", M, "@types/node", ""},
	{NPM, "/@types%2fnode", M, "@types/node", ""},
	{NPM, "/@types%2Fnode", M, "@types/node", ""},
	{NPM, "/left-pad/-/left-pad-1.3.0.tgz", A, "left-pad", "1.3.0"},
	{NPM, "/a/-/a-1.0.0-beta.1.tgz", A, "a", "1.0.0-beta.1"},
	{NPM, "/a/-/a-1.0.0%2bb.tgz", A, "a", "1.0.0+b"},
	{NPM, "/@types/node/-/node-20.1.0.tgz", A, "@types/node", "20.1.0"},
	{NPM, "/@types%2fnode/-/node-20.1.0.tgz", A, "@types/node", "20.1.0"},
	{NPM, "/", M, NULL, NULL},
	{NPM, "left-pad", M, NULL, NULL},
	{NPM, "/left-pad/", M, NULL, NULL},
	{NPM, "//left-pad", M, NULL, NULL},
	{NPM, "/left-pad//", M, NULL, NULL},
	{NPM, "/left-pad/1.3.0", M, NULL, NULL},
	{NPM, "/left-pad/latest", M, NULL, NULL},
	{NPM, "/-/v1/search", M, NULL, NULL},
	{NPM, "/-/npm/v1/security/audits/quick", M, NULL, NULL},
	{NPM, "/-/npm/v1/security/advisories/bulk", M, NULL, NULL},
	{NPM, "/-/user/org.couchdb.user:x", M, NULL, NULL},
	{NPM, "/-/v1/login", M, NULL, NULL},
	{NPM, "/-/package/left-pad/dist-tags", M, NULL, NULL},
	{NPM, "/-/whoami", M, NULL, NULL},
	{NPM, "/-", M, NULL, NULL},
	{NPM, "/-all", M, NULL, NULL},
	{NPM, "/.hidden", M, NULL, NULL},
	{NPM, "/_session", M, NULL, NULL},
	{NPM, "/../left-pad", M, NULL, NULL},
	{NPM, "/%2e%2e/left-pad", M, NULL, NULL},
	{NPM, "/left%2fpad", M, NULL, NULL},
	{NPM, "/left%2dpad", M, NULL, NULL},
	{NPM, "/@types", M, NULL, NULL},
	{NPM, "/@/node", M, NULL, NULL},
	{NPM, "/@types/node/latest", M, NULL, NULL},
	{NPM, "/@types%2f%2fnode", M, NULL, NULL},
	{NPM, "/@types%2fnode%2fx", M, NULL, NULL},
	{NPM, "/@types%252fnode", M, NULL, NULL},
	{NPM, "/@types/@types/node", M, NULL, NULL},
	{NPM, "/left-pad/-/right-pad-1.3.0.tgz", M, NULL, NULL},
	{NPM, "/left-pad/-/left-pad-1.3.0.tgz/", M, NULL, NULL},
	{NPM, "/left-pad/-/left-pad-1.3.0.tar.gz", M, NULL, NULL},
	{NPM, "/left-pad/-/left-pad-.tgz", M, NULL, NULL},
	{NPM, "/left-pad/-/left-pad-latest.tgz", M, NULL, NULL},
	{NPM, "/left-pad/-/x/left-pad-1.3.0.tgz", M, NULL, NULL},
	{NPM, "/left-pad/-/..%2fx-1.0.0.tgz", M, NULL, NULL},
	{NPM, "/left-pad/-rev/1-abc", M, NULL, NULL},
	{NPM, "/left\\pad", M, NULL, NULL},
	{NPM, "/left pad", M, NULL, NULL},
	{NPM, "/left-pad;x", M, NULL, NULL},
	{NPM, "/l\xc3\xa9" "ft", M, NULL, NULL},

	{PYPI, "/simple/requests/", M, "requests", ""},
	{PYPI, "/simple/Zope.Interface/", M, "zope-interface", ""},
	{PYPI, "/simple/a_-.b/", M, "a-b", ""},
	{PYPI, "/packages/aa/bb/cc/requests-2.31.0-py3-none-any.whl", A,
	    "requests", "2.31.0"},
	{PYPI, "/packages/aa/bb/cc/requests-2.31.0-1abc-py3-none-any.whl", A,
	    "requests", "2.31.0"},
	{PYPI, "/packages/aa/bb/cc/requests-2.31.0-py3-none-any.whl.metadata",
	    A, "requests", "2.31.0"},
	{PYPI, "/packages/aa/bb/cc/python-dateutil-2.8.2.tar.gz", A,
	    "python-dateutil", "2.8.2"},
	{PYPI, "/packages/source/p/pytz/pytz-2004d.zip", A, "pytz", "2004d"},
	{PYPI, "/packages/aa/bb/cc/x-1.0.tar.bz2", A, "x", "1.0"},
	{PYPI, "/packages/aa/bb/cc/x-1.0%2Bcu118-cp311-cp311-linux.whl", A,
	    "x", "1.0+cu118"},
	{PYPI, "/simple/", M, NULL, NULL},
	{PYPI, "/simple/requests", M, NULL, NULL},
	{PYPI, "/simple/requests/x/", M, NULL, NULL},
	{PYPI, "/simple/-requests/", M, NULL, NULL},
	{PYPI, "/simple/requests-/", M, NULL, NULL},
	{PYPI, "/simple/req%75ests/", M, NULL, NULL},
	{PYPI, "/simple/../requests/", M, NULL, NULL},
	{PYPI, "/simple/./", M, NULL, NULL},
	{PYPI, "/simple/re+quests/", M, NULL, NULL},
	{PYPI, "/pypi/requests/json", M, NULL, NULL},
	{PYPI, "/legacy/", M, NULL, NULL},
	{PYPI, "/search", M, NULL, NULL},
	{PYPI, "/packages/requests-2.31.0.tar.gz", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/d/e/x-1.0.tar.gz", M, NULL, NULL},
	{PYPI, "/packages/a/../c/x-1.0.tar.gz", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/x.tar.gz", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/x-latest.tar.gz", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/x-1.0.exe", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/x-1.0-py3-none.whl", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/x-1.0-x1-py3-none-any.whl", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/x-1.0-1-1-py3-none-any.whl", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/.whl", M, NULL, NULL},
	{PYPI, "/packages/a/b/c/.metadata", M, NULL, NULL},

	{CRATES, "/config.json", I, "", ""},
	{CRATES, "/1/a", M, "a", ""},
	{CRATES, "/2/ab", M, "ab", ""},
	{CRATES, "/3/a/abc", M, "abc", ""},
	{CRATES, "/se/rd/serde", M, "serde", ""},
	{CRATES, "/se/rd/serde_json", M, "serde_json", ""},
	{CRATES, "/crates/serde/serde-1.0.1.crate", A, "serde", "1.0.1"},
	{CRATES, "/crates/Inflector/Inflector-0.11.4.crate", A, "inflector",
	    "0.11.4"},
	{CRATES, "/crates/a-b/a-b-1.0.0-rc.1+x.crate", A, "a-b",
	    "1.0.0-rc.1+x"},
	{CRATES, "/crates/serde/1.0.1/download", A, "serde", "1.0.1"},
	{CRATES, "/api/v1/crates/serde/1.0.1/download", A, "serde", "1.0.1"},
	{CRATES, "/", M, NULL, NULL},
	{CRATES, "/1/ab", M, NULL, NULL},
	{CRATES, "/2/a", M, NULL, NULL},
	{CRATES, "/3/b/abc", M, NULL, NULL},
	{CRATES, "/se/rx/serde", M, NULL, NULL},
	{CRATES, "/s/erde/serde", M, NULL, NULL},
	{CRATES, "/se/rd/Serde", M, NULL, NULL},
	{CRATES, "/SE/RD/serde", M, NULL, NULL},
	{CRATES, "/se/rd/serde/", M, NULL, NULL},
	{CRATES, "/se%2frd/serde", M, NULL, NULL},
	{CRATES, "/api/v1/crates", M, NULL, NULL},
	{CRATES, "/api/v1/crates/new", M, NULL, NULL},
	{CRATES, "/api/v1/crates/serde", M, NULL, NULL},
	{CRATES, "/api/v1/crates/serde/1.0.1/yank", M, NULL, NULL},
	{CRATES, "/api/v1/crates/serde/owners", M, NULL, NULL},
	{CRATES, "/api/v1/crates/serde/serde-1.0.1.crate", M, NULL, NULL},
	{CRATES, "/api/v2/crates/serde/1.0.1/download", M, NULL, NULL},
	{CRATES, "/crates/serde/other-1.0.1.crate", M, NULL, NULL},
	{CRATES, "/crates/serde/serde-x.crate", M, NULL, NULL},
	{CRATES, "/crates/0serde/0serde-1.0.1.crate", M, NULL, NULL},
	{CRATES, "/crates/serde/../serde-1.0.1.crate", M, NULL, NULL},

	{DEB, "/debian/dists/bookworm/InRelease", I, "", ""},
	{DEB, "/dists/stable/main/binary-amd64/Packages.xz", I, "", ""},
	{DEB, "/debian/dists/bookworm/main/binary-amd64/by-hash/SHA256/0a", I,
	    "", ""},
	{DEB, "/debian/pool/main/h/hello/hello_2.10-3_amd64.deb", A, "hello",
	    "2.10-3"},
	{DEB, "/debian/pool/main/g/gcc-12/g++-12_12.2.0-14%2bdeb12u1_i386.deb",
	    A, "g++-12", "12.2.0-14+deb12u1"},
	{DEB, "/debian/pool/main/g/gcc-12/g%2b%2b-12_12.2.0-14_i386.deb", A,
	    "g++-12", "12.2.0-14"},
	{DEB, "/debian/pool/main/v/vim/vim_2%3a9.0.1378-2_amd64.deb", A, "vim",
	    "2:9.0.1378-2"},
	{DEB, "/debian/pool/main/x/x/x_1.0%7erc1-1_all.udeb", A, "x",
	    "1.0~rc1-1"},
	{DEB, "/debian/pool/main/h/hello/hello_2.10.orig.tar.gz", A, "hello",
	    "2.10.orig.tar.gz"},
	{DEB, "/debian/pool/main/h/hello/hello_2.10-3.dsc", A, "hello",
	    "2.10-3.dsc"},
	{DEB, "/debian/", M, NULL, NULL},
	{DEB, "/debian/README", M, NULL, NULL},
	{DEB, "/debian/dists/bookworm/", M, NULL, NULL},
	{DEB, "/debian/dists/bookworm/evil_1.0_all.deb", M, NULL, NULL},
	{DEB, "/debian/dists/../pool/x_1_all.deb", M, NULL, NULL},
	{DEB, "/debian/dists/%2e%2e/x/y", M, NULL, NULL},
	{DEB, "/debian/pool/main/h/hello/hello.deb", M, NULL, NULL},
	{DEB, "/debian/pool/main/h/hello/hello_2.10-3.deb", M, NULL, NULL},
	{DEB, "/debian/pool/main/h/hello/_2.10-3_all.deb", M, NULL, NULL},
	{DEB, "/debian/pool/main/h/hello/hello_2.10-3_a/b.deb", M, NULL, NULL},
	{DEB, "/debian/pool/main/h/hello/hello_2.10%2f3_all.deb", M, NULL,
	    NULL},
	{DEB, "/debian/pool/main/h/hello/hello_2.10_1_all.deb", M, NULL, NULL},
	{DEB, "/a/b/c/d/e/pool/h/hello_2.10-3_all.deb", M, NULL, NULL},
	{DEB, "/debian/project/trace/master", M, NULL, NULL},
};
/* clang-format on */

#undef M
#undef A
#undef I
#undef NPM
#undef PYPI
#undef CRATES
#undef DEB

#endif
