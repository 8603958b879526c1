/* SPDX-License-Identifier: ISC */
#include "core/rotate.h"

#include <sys/stat.h>

#include <errno.h>
#include <string.h>

#include "core/sup.h"

uint64_t
rotate_room(uint64_t size)
{
	const uint64_t most = sup.config.log_size;

	if (most == 0)
		return UINT64_MAX;
	return size < most ? most - size : 0;
}

bool
rotate_due(void)
{
	struct stat st;

	return sup.config.log_size != 0 && sup.session.left == -1 &&
	       fstat(sup.session.closing, &st) == 0 &&
	       (uint64_t)st.st_size >= sup.config.log_size;
}

void
rotate_full(void)
{
	struct msg_LOG_NEXT m = {.room = rotate_room(0)};
	int fd;

	/* The log goes on in the file that it has. */
	if (auditfile_rotate(&sup.session, sup.config.sync, &fd) == -1) {
		sup_note("audit.rotate: no new file can be made for the log "
			 "(%s); it continues in %s/audit.jsonl",
		    strerror(errno), sup.session.dir);
		return;
	}
	child_send(ROLE_AUDIT, 0, MSG_LOG_NEXT, &m, fd);
}

void
rotate_taken(void)
{
	auditfile_left(&sup.session);
}
