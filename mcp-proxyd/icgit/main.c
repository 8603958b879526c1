/* SPDX-License-Identifier: ISC */
/*
 * icgit: see icgit.h.  As git it becomes git.  As an MCP server it has only its
 * view, in which it cannot write, and receives tools/call lines that policyd
 * composed.  It trusts neither them nor the repositories.
 */
#include "icgit/icgit.h"

#include <err.h>
#include <signal.h>
#include <string.h>

#include "common/log.h"
#include "icgit/batch.h"

#define POOL_MAX ((size_t)24 << 20)

int
main(int argc, char **argv)
{
	const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
	static struct buf out;
	struct mcp m = {.name = "icgit",
	    .out = &out,
	    .list = icgit_list,
	    .call = icgit_call};

	if (argc == 0)
		return 2;
	name = name != NULL ? name + 1 : argv[0];
	if (strncmp(name, "icgit", 5) != 0)
		return icgit_wrap(argv, false);
	if (argc == 2 && strcmp(argv[1], ICGIT_BATCH) == 0)
		return icgit_batch();
	if (argc != 1)
		errx(2, "takes no arguments: it is an MCP server");
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		err(1, "signal");
	log_init("icgit", false);
	if (icgit_real() == NULL)
		errx(1, "git is not installed");
	if (icgit_env() == -1)
		err(1, "environment");
	if (icgit_lock() == -1)
		err(1, "Landlock");
	buf_init(&out, 2 * MCP_MAX_LINE);
	if ((m.pool = value_pool_new(POOL_MAX)) == NULL)
		err(1, "memory");
	mcp_serve(&m);
}
