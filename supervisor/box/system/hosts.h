/* SPDX-License-Identifier: ISC */
/*
 * The agent's services inside its sandbox: their names in /etc/hosts, and their
 * ports.
 */
#ifndef BOX_HOSTS_H
#define BOX_HOSTS_H

#include "common/ipc/proto.h"

#define HOSTS_PORTS_TEXT (6U * PROTO_MAX_SERVICES + 1)

/*
 * Returns its text, beginning with `first`; the caller frees it. NULL without
 * memory.
 */
char *hosts_text(const char *first);
/* Write the ports as ic-bridge reads them: "5432,6379". */
const char *hosts_ports(char text[HOSTS_PORTS_TEXT]);

#endif
