/* SPDX-License-Identifier: ISC */
/*
 * The session's control groups: one for the agent's sandbox and one for each
 * MCP server's, where the system has delegated a group to us, or the user's
 * systemd does when it is asked. Everywhere else the limits are those that a
 * process can set itself, and watched.
 */
#ifndef CGROUP_GROUP_H
#define CGROUP_GROUP_H

#include <stdint.h>

/*
 * Find or make the session's group, before anything else is started, and say in
 * sup.config.limits what is in force. Never fails: the reason for none is told
 * in the limits, too.
 */
void group_begin(void);
/* Leave it, when all sandboxes have ended. */
void group_end(void);

/*
 * Make the group of the agent's sandbox, or of a server's. Returns its entrance
 * (see cgroup_entrance()), or -1 if there is none; a failure is told once.
 */
int group_agent(void);
int group_server(const char *who);
/* Returns how many processes of the agent the kernel ended for memory. */
unsigned group_agent_killed(void);
/* Tell of servers for whose memory this happened since the last call. */
void group_look(void (*told)(const char *who, uint64_t mb));

#endif
