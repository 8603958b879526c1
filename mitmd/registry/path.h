/* SPDX-License-Identifier: ISC */
/*
 * Decodes a path on a package registry into the metadata of a package (which
 * versions exist), one file of one version, or an index without a package.
 * Every path has exactly one meaning or is refused. A package has only one
 * spelling in the result.
 *
 * npm     /NAME /@SCOPE/NAME /@SCOPE%2fNAME; /NAME/-/NAME-VERSION.tgz
 * pypi    /simple/NAME/; /packages/DIRS/FILE[.metadata]
 * crates  /config.json; /1/N /2/NN /3/N/NNN /NN/NN/NAME;
 * crates  /crates/NAME/NAME-VERSION.crate
 * crates  [/api/v1]/crates/NAME/VERSION/download
 * debian  [/DIRS]/dists/...; [/DIRS]/pool/DIRS/NAME_VERSION_ARCH.deb
 *
 * Accepted escapes are %2f after an npm scope, %2b in names of files, and %2b,
 * %3a, %7e on Debian mirrors, where programs write + : ~ that way.
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
	/* "" for an index */
	char package[REGISTRY_MAX_NAME + 1];
	/* only for an artefact */
	char version[REGISTRY_MAX_VERSION + 1];
	/*
	 * The entry that metadata must list: the version; for pypi, DIRS/FILE.
	 */
	char id[REGISTRY_MAX_ID + 1];
};

/* Map between registries and their names: "npm", ... Returns -1 if unknown. */
const char *registry_name(enum registry);
int registry_find(struct span name);

/* Returns 0, or -1 if the path names nothing that may be requested. */
int registry_path_parse(
    enum registry, struct span path, struct registry_path *);
/*
 * Write the path of a package's metadata. Returns -1 if there is none (debian).
 * `cap` is at least 256.
 */
int registry_metadata_path(
    enum registry, const char *package, char *dst, size_t cap);

/*
 * Returns true for a version that may appear in a path: letters, digits and
 * -._+, ...
 */
bool registry_version_ok(struct span);

/*
 * registry/pypi_name.c: Normalise a name as PEP 503 does: lower case, each run
 * of -_. as one dash. Returns -1 if it is not a name.
 */
int registry_pypi_name(struct span, char *dst, size_t cap);
/*
 * Parse the name of a wheel or source archive into its package and the version,
 * which points into `file`. Returns 0 or -1.
 */
int registry_pypi_file(
    struct span file, char *package, size_t cap, struct span *version);

#endif
