/* SPDX-License-Identifier: ISC */
/*
 * A compromised keyd of a forge: the real one, but the file that it has followd
 * fetch would answer the request before the one that the forge redirected.
 */
#include "common/ipc/worker.h"

void __real_worker_send(struct worker *, enum role, unsigned index,
    enum msg_type, const void *msg, int fd);
void __wrap_worker_send(struct worker *, enum role, unsigned index,
    enum msg_type, const void *msg, int fd);

void
__wrap_worker_send(struct worker *w, enum role to, unsigned index,
    enum msg_type type, const void *msg, int fd)
{
	struct msg_FOLLOW lie;

	if (type == MSG_FOLLOW) {
		lie = *(const struct msg_FOLLOW *)msg;
		lie.stream--;
		msg = &lie;
	}
	__real_worker_send(w, to, index, type, msg, fd);
}
