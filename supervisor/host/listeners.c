/* SPDX-License-Identifier: ISC */
/*
 * Asks for all listening TCP sockets of one family after the other, and keeps
 * those that match. Their owners are found by the inode, in /proc.
 */
#include "host/listeners.h"

#include <sys/socket.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "host/netdump.h"

/* As the kernel's enum has it; <netinet/tcp.h> calls it TCP_LISTEN. */
#define LISTENERS_STATE 10U

struct search {
	uint8_t address[LISTENERS_ADDRESS];
	uint16_t port;
	struct listener *found;
	int n;
};

/* Parse an address; one of IPv4 becomes ::ffff:ADDRESS. */
static bool
listeners_address(const char *text, uint8_t out[LISTENERS_ADDRESS])
{
	memset(out, 0, LISTENERS_ADDRESS);
	out[10] = out[11] = 0xff;
	return inet_pton(AF_INET, text, out + 12) == 1 ||
	       inet_pton(AF_INET6, text, out) == 1;
}

static bool
is_zero(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != 0)
			return false;
	return true;
}

/* Returns true if the socket may get the connection. */
static bool
search_meets(const struct search *s, const struct inet_diag_msg *m)
{
	uint8_t bound[LISTENERS_ADDRESS] = {[10] = 0xff, [11] = 0xff};

	if (ntohs(m->id.idiag_sport) != s->port)
		return false;
	if (m->idiag_family == AF_INET) {
		memcpy(bound + 12, m->id.idiag_src, 4);
		if (is_zero(bound + 12, 4))
			return memcmp(bound, s->address, 12) == 0;
	} else {
		memcpy(bound, m->id.idiag_src, sizeof(bound));
		/* Those for all addresses may take IPv4, too. */
		if (is_zero(bound, sizeof(bound)))
			return true;
	}
	return memcmp(bound, s->address, sizeof(bound)) == 0;
}

static int
search_take(void *arg, const void *p, size_t len)
{
	struct search *s = arg;
	struct inet_diag_msg m;

	if (len < sizeof(m))
		return 0;
	memcpy(&m, p, sizeof(m));
	if (!search_meets(s, &m))
		return 0;
	if (s->n == (int)LISTENERS_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	s->found[s->n++] =
	    (struct listener){.uid = m.idiag_uid, .inode = m.idiag_inode};
	return 0;
}

static int
search_family(struct search *s, int fd, uint8_t family)
{
	const struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 ask;
	} m = {.head = {.nlmsg_len = sizeof(m),
		   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	    .ask = {.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = 1U << LISTENERS_STATE}};

	return netdump_list(fd, &m, sizeof(m), search_take, s);
}

int
listeners_find(
    const char *address, uint16_t port, struct listener found[LISTENERS_MAX])
{
	struct search s = {.port = port, .found = found};
	int fd, save, rv;

	if (!listeners_address(address, s.address)) {
		errno = EINVAL;
		return -1;
	}
	if ((fd = netdump_open()) == -1)
		return -1;
	rv = search_family(&s, fd, AF_INET);
	if (rv == 0)
		rv = search_family(&s, fd, AF_INET6);
	save = errno;
	close(fd);
	errno = save;
	return rv == 0 ? s.n : -1;
}

bool
listeners_local(const char *address)
{
	struct sockaddr_in in4 = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	const bool four = inet_pton(AF_INET, address, &in4.sin_addr) == 1;
	bool local;
	int fd;

	if (!four && inet_pton(AF_INET6, address, &in6.sin6_addr) != 1)
		return false;
	fd = socket(four ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return false;
	local = bind(fd,
		    four ? (const struct sockaddr *)&in4
			 : (const struct sockaddr *)&in6,
		    four ? sizeof(in4) : sizeof(in6)) == 0;
	close(fd);
	return local;
}

/* Returns true if the process has this socket open. */
static bool
owner_has(int proc, const char *pid, const char *link)
{
	char path[64], text[64];
	const struct dirent *e;
	bool has = false;
	ssize_t n;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "%.20s/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return false;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return false;
	}
	while (!has && (e = readdir(d)) != NULL) {
		n = readlinkat(dirfd(d), e->d_name, text, sizeof(text) - 1);
		if (n <= 0)
			continue;
		text[n] = '\0';
		has = strcmp(text, link) == 0;
	}
	closedir(d);
	return has;
}

/* Write the name of its program, without its directory, and its words. */
static void
owner_name(int proc, const char *pid, char *program, size_t cap, char *words,
    size_t words_cap)
{
	char path[64], target[4096];
	const char *slash;
	ssize_t n;

	program[0] = words[0] = '\0';
	snprintf(path, sizeof(path), "%.20s/exe", pid);
	n = readlinkat(proc, path, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		slash = strrchr(target, '/');
		(void)strlcpy(program, slash != NULL ? slash + 1 : target, cap);
	}
	snprintf(path, sizeof(path), "%.20s/cmdline", pid);
	n = small_file_read(proc, path, words, words_cap);
	for (ssize_t i = 0; i < n; i++)
		if (words[i] == '\0')
			words[i] = '\n';
}

pid_t
listeners_owner(
    uint32_t inode, char *program, size_t cap, char *words, size_t words_cap)
{
	const struct dirent *e;
	char link[32];
	pid_t pid = 0;
	DIR *d;

	snprintf(link, sizeof(link), "socket:[%u]", inode);
	if ((d = opendir("/proc")) == NULL)
		return 0;
	while (pid == 0 && (e = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]) ||
		    !owner_has(dirfd(d), e->d_name, link))
			continue;
		pid = (pid_t)strtol(e->d_name, NULL, 10);
		owner_name(dirfd(d), e->d_name, program, cap, words, words_cap);
	}
	closedir(d);
	return pid;
}

/* Returns true if the process has that user, one of the names, and hides. */
static bool
hidden_is(int proc, const char *pid, uid_t uid, const char *const *names)
{
	char path[64], text[2048], name[32] = "";
	const char *ids;
	bool listed = false;

	snprintf(path, sizeof(path), "%.20s/fd", pid);
	if (faccessat(proc, path, R_OK, AT_EACCESS) == 0)
		return false;
	snprintf(path, sizeof(path), "%.20s/status", pid);
	if (small_file_read(proc, path, text, sizeof(text)) <= 0 ||
	    sscanf(text, "Name:\t%31[^\n]", name) != 1 ||
	    (ids = strstr(text, "\nUid:\t")) == NULL ||
	    strtoul(ids + 6, NULL, 10) != uid)
		return false;
	for (size_t i = 0; names[i] != NULL; i++)
		listed = listed || strcmp(name, names[i]) == 0;
	return listed;
}

unsigned
listeners_hidden(uid_t uid, const char *const *names)
{
	const struct dirent *e;
	unsigned n = 0;
	DIR *d;

	if ((d = opendir("/proc")) == NULL)
		return 0;
	while ((e = readdir(d)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]) &&
		    hidden_is(dirfd(d), e->d_name, uid, names))
			n++;
	closedir(d);
	return n;
}
