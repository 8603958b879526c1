/* SPDX-License-Identifier: ISC */
/*
 * A name service module that knows one name, localhost. It is built and marked
 * for branch target identification, like the modules of later distributions:
 * the loader maps such a module with PROT_BTI.
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include <errno.h>
#include <netdb.h>
#include <nss.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct room {
	char *aliases[1];
	char *list[2];
	struct in_addr addr;
	char name[sizeof("localhost")];
};

enum nss_status _nss_icbti_gethostbyname2_r(
    const char *, int, struct hostent *, char *, size_t, int *, int *);

enum nss_status
_nss_icbti_gethostbyname2_r(const char *name, int family, struct hostent *host,
    char *buf, size_t len, int *error, int *herror)
{
	size_t skip = -(uintptr_t)buf % _Alignof(struct room);
	struct room *room;

	if (family != AF_INET || strcmp(name, "localhost") != 0) {
		*error = ENOENT;
		*herror = HOST_NOT_FOUND;
		return NSS_STATUS_NOTFOUND;
	}
	if (len < skip || len - skip < sizeof(*room)) {
		*error = ERANGE;
		*herror = NETDB_INTERNAL;
		return NSS_STATUS_TRYAGAIN;
	}
	room = (struct room *)(void *)(buf + skip);
	*room = (struct room){
	    .addr.s_addr = htonl(INADDR_LOOPBACK), .name = "localhost"};
	room->list[0] = (char *)&room->addr;
	*host = (struct hostent){.h_name = room->name,
	    .h_aliases = room->aliases,
	    .h_addrtype = AF_INET,
	    .h_length = sizeof(room->addr),
	    .h_addr_list = room->list};
	return NSS_STATUS_SUCCESS;
}
