/* SPDX-License-Identifier: ISC */
/*
 * What a path on a package registry names: a package's metadata (which
 * versions there are), one file of one version, or an index of no package.
 * Every path has one meaning or none; what has none is not sent.  A package
 * has one spelling here, however it was asked for.
 *
 *	npm	/NAME /@SCOPE/NAME /@SCOPE%2fNAME; /NAME/-/NAME-VERSION.tgz
 *	pypi	/simple/NAME/; /packages/DIRS/FILE[.metadata]
 *	crates	/config.json; /1/N /2/NN /3/N/NNN /NN/NN/NAME;
 *		/crates/NAME/NAME-VERSION.crate
 *[/api/v1]/crates/NAME/VERSION/download debian	[/DIRS]/dists/...;
 *[/DIRS]/pool/DIRS/NAME_VERSION_ARCH.deb
 *
 * Escapes are %2f after an npm scope, %2b in names of files, and %2b, %3a,
 * %7e on Debian mirrors, where programs write + : ~ so.
 */
#ifndef REGISTRY_PATH_H
#define REGISTRY_PATH_H

#include "common/span.h"

enum registry {
	REGISTRY_NPM,
	REGISTRY_PYPI,
	REGISTRY_CRATES,
	REGISTRY_DEBIAN,
	REGISTRY_COUNT,
};

enum registry_what {
	REGISTRY_METADATA,
	REGISTRY_ARTEFACT,
	REGISTRY_INDEX,
};

#define REGISTRY_MAX_NAME 214U
#define REGISTRY_MAX_VERSION 128U
#define REGISTRY_MAX_ID 640U

struct registry_path {
	enum registry_what what;
	/* "" of an index */
	char package[REGISTRY_MAX_NAME + 1];
	/* of an artefact */
	char version[REGISTRY_MAX_VERSION + 1];
	/* What metadata must list for it: the version; pypi: DIRS/FILE. */
	char id[REGISTRY_MAX_ID + 1];
};

/* "npm", ...; -1: there is no such registry. */
const char *registry_name(enum registry);
int registry_find(struct span name);

/* 0, or -1: it names nothing that may be asked for. */
int registry_path_parse(
    enum registry, struct span path, struct registry_path *);
/* Where its metadata is; -1: nowhere (debian). cap >= 256. */
int registry_metadata_path(
    enum registry, const char *package, char *dst, size_t cap);

/* A version as it may stand in a path: letters, digits and -._+, ... */
bool registry_version_ok(struct span);

/* registry/pypi_name.c */
/* PEP 503: lower case, runs of -_. are one -. -1: no name. */
int registry_pypi_name(struct span, char *dst, size_t cap);
/* A wheel or source archive: whose it is, and which version within `file`. */
int registry_pypi_file(
    struct span file, char *package, size_t cap, struct span *version);

#endif
