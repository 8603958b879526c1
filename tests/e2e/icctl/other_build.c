/* SPDX-License-Identifier: ISC */
/* The number of another protocol, for a worker of another build. */
#include "common/ipc/proto.h"

uint64_t __real_proto_id(void);
uint64_t __wrap_proto_id(void);

uint64_t
__wrap_proto_id(void)
{
	return __real_proto_id() ^ 1;
}
