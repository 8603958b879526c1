/* SPDX-License-Identifier: ISC */
/*
 * The programs that listen on TCP ports of this machine, as the kernel reports
 * them (sock_diag(7)): sockets of this network namespace only.
 */
#ifndef HOST_LISTENERS_H
#define HOST_LISTENERS_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#define LISTENERS_MAX 16U
/* Bytes of an address of IPv6; an IPv4 address is mapped into it. */
#define LISTENERS_ADDRESS 16U

struct listener {
	uid_t uid;
	uint32_t inode;
};

/*
 * Find the sockets that may get a connection to this address and port: those
 * bound to it, and those bound to every address. Returns their number, at most
 * LISTENERS_MAX, or -1 with errno set.
 */
int listeners_find(
    const char *address, uint16_t port, struct listener found[LISTENERS_MAX]);
/* Returns true if the address is one of this machine. */
bool listeners_local(const char *address);
/*
 * Write the name of the program that has the socket open, and its first words
 * as "NAME\nWORD\n...". Returns its process, or 0 if no process that we may
 * look into has it.
 */
pid_t listeners_owner(
    uint32_t inode, char *program, size_t cap, char *words, size_t words_cap);
/*
 * Returns the number of processes of this user into which we may not look, and
 * whose name is in the list, which ends in NULL.
 */
unsigned listeners_hidden(uid_t uid, const char *const *names);

#endif
