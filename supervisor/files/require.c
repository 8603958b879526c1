/* SPDX-License-Identifier: ISC */
#include "files/require.h"

#include <stdlib.h>
#include <string.h>

/*
 * Many kernels lack memory that is hidden from root: require it only by name.
 */
#define REQUIRE_ALL ((CONFINE_SECRETMEM - 1) & ~CONFINE_SECRETMEM)

static int
require_one(struct require *r, const char *where, const char *name, size_t len,
    struct fault *fault)
{
	static const char landlock[] = "landlock:";
	const size_t n = sizeof(landlock) - 1;
	unsigned long abi;
	uint32_t flag;
	char *end;

	if (len == 3 && strncmp(name, "all", 3) == 0) {
		r->flags |= REQUIRE_ALL;
		return 0;
	}
	if (len > n && strncmp(name, landlock, n) == 0) {
		abi = strtoul(name + n, &end, 10);
		if (end == name + len && abi > 0 && abi < 100) {
			r->flags |= CONFINE_LANDLOCK;
			if (r->landlock < abi)
				r->landlock = (uint32_t)abi;
			return 0;
		}
	}
	if ((flag = confine_flag_of(name, len)) != 0) {
		r->flags |= flag;
		return 0;
	}
	return fault_set(fault,
	    "%s: there is no layer \"%.*s\". Write all, or some of dumpable=0, "
	    "nnp, seccomp, landlock, landlock:ABI, userns, netns, ipcns, "
	    "utsns, "
	    "root, caps0, secretmem",
	    where, (int)len, name);
}

int
require_parse(
    struct require *r, const char *where, const char *text, struct fault *fault)
{
	const char *end;

	for (;; text = end + 1) {
		end = strchrnul(text, ',');
		if (require_one(r, where, text, (size_t)(end - text), fault) ==
		    -1)
			return -1;
		if (*end == '\0')
			return 0;
	}
}

uint32_t
require_missing(
    const struct require *r, uint32_t layers, const struct confine_state *have)
{
	uint32_t missing = r->flags & layers & ~have->flags;

	if (have->landlock_abi < r->landlock)
		missing |= r->flags & CONFINE_LANDLOCK;
	return missing;
}
