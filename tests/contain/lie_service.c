/* SPDX-License-Identifier: ISC */
/*
 * A compromised egressd of services: the real one, but it asks for the port
 * behind the one of the service that the agent connects to.
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
	struct msg_CONNECT lie;

	if (type == MSG_CONNECT) {
		lie = *(const struct msg_CONNECT *)msg;
		lie.port++;
		msg = &lie;
	}
	__real_worker_send(w, to, index, type, msg, fd);
}
