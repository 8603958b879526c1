/* SPDX-License-Identifier: ISC */
/* `icctl policy cache`: the replies of the model that are kept. */
#include "icctl/policy/compile/command.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/plural.h"
#include "icctl/policy/compile/compile.h"

/*
 * Returns true for the name of a reply: a hash and .json, or one with a further
 * ending, which an interrupted run has left.
 */
static bool
is_reply(const char *name)
{
	return strspn(name, "0123456789abcdef") == SHA256_HEX - 1 &&
	       strncmp(name + SHA256_HEX - 1, ".json", 5) == 0;
}

int
cache_main(struct icctl *ctl, const struct compile_opts *o)
{
	char path[PATH_MAX], shown[ICCTL_PATH];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%.3800s/policy-cache", ctl->home);
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (!is_reply(e->d_name))
			continue;
		if (o->all && unlinkat(dirfd(d), e->d_name, 0) == -1) {
			warn("%s/%s", path, e->d_name);
			closedir(d);
			return ICCTL_FAILED;
		}
		n++;
	}
	if (d != NULL)
		closedir(d);
	printf("%u repl%s of the model %s %s\n", n, n == 1 ? "y" : "ies",
	    o->all ? "removed from" : "kept in", icctl_path(path, shown));
	return ICCTL_OK;
}
