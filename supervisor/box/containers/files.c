/* SPDX-License-Identifier: ISC */
/*
 * The files of DIR/engine: an empty configuration for the engine's client, both
 * forms of the system-call filter, and the files of /etc that name the agent's
 * user and nothing of the host's network.
 */
#include "box/containers/engine.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/filter.h"
#include "box/system/hosts.h"
#include "core/sup.h"

#define FILES_JSON (1U << 20)

char *
engine_path(const char *name)
{
	return paths_join(engine.dir, name);
}

static int
files_filters(void)
{
	struct buf b;
	int fd, rv;

	buf_init(&b, FILES_JSON);
	rv = filter_json(FILTER_AGENT, &b);
	if (rv == 0)
		rv = session_write(
		    engine.fd, "seccomp.json", 0600, buf_span(&b));
	buf_free(&b);
	if (rv == -1 || (fd = filter_memfd(FILTER_AGENT)) == -1)
		return -1;
	rv = session_copy(engine.fd, "filter", 0444, fd, span_of("", 0));
	close(fd);
	return rv;
}

static int
files_etc(void)
{
	char passwd[256], group[128];
	char *hosts;
	int rv;

	snprintf(passwd, sizeof(passwd),
	    "%sagent:x:%u:%u:agent:/home/agent:/bin/sh\n",
	    geteuid() == 0 ? "" : "root:x:0:0:root:/root:/bin/sh\n",
	    (unsigned)geteuid(), (unsigned)getegid());
	snprintf(group, sizeof(group), "%sagent:x:%u:\n",
	    getegid() == 0 ? "" : "root:x:0:\n", (unsigned)getegid());
	if (session_write(engine.fd, "passwd", 0444, span_str(passwd)) == -1 ||
	    session_write(engine.fd, "group", 0444, span_str(group)) == -1)
		return -1;
	hosts = hosts_text("127.0.0.1 localhost\n::1 localhost\n");
	if (hosts == NULL)
		return -1;
	rv = session_write(engine.fd, "hosts", 0444, span_str(hosts));
	free(hosts);
	return rv == -1 ? -1
			: session_write(engine.fd, "resolv.conf", 0444,
			      span_of("", 0));
}

int
engine_files(struct fault *fault)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

	engine.dir = paths_join(sup.session.dir, "engine");
	if (engine.dir == NULL ||
	    (mkdirat(sup.session.fd, "engine", 0700) == -1 &&
		errno != EEXIST) ||
	    (engine.fd = openat(sup.session.fd, "engine", flags)) == -1 ||
	    (mkdirat(engine.fd, "config", 0700) == -1 && errno != EEXIST) ||
	    (unlinkat(engine.fd, "id", 0) == -1 && errno != ENOENT) ||
	    session_seed(
		engine.fd, "config/auth.json", 0600, span_str("{}\n")) == -1 ||
	    files_filters() == -1 || files_etc() == -1)
		return fault_errno(fault, "%s/engine", sup.session.dir);
	return 0;
}
