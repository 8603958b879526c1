/* SPDX-License-Identifier: ISC */
#include "host/sockdiag.h"

#include <sys/socket.h>
#include <sys/sysmacros.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/netdump.h"

/* As the kernel's enum has it; <netinet/tcp.h> calls it TCP_LISTEN. */
#define SOCKDIAG_LISTEN 10U
/* The kernel's own dev_t: 12 bits and 20 bits. */
#define SOCKDIAG_MINOR 20U

static int
sockdiag_add(struct sockdiag *d, const struct unix_diag_vfs *vfs,
    const char *name, size_t len)
{
	struct sockdiag_row *r;

	if (d->n == SOCKDIAG_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	if ((d->n & (d->n - 1)) == 0) {
		r = reallocarray(
		    d->rows, d->n == 0 ? 1 : 2 * (size_t)d->n, sizeof(*r));
		if (r == NULL)
			return -1;
		d->rows = r;
	}
	r = &d->rows[d->n];
	r->dev = makedev(vfs->udiag_vfs_dev >> SOCKDIAG_MINOR,
	    vfs->udiag_vfs_dev & ((1U << SOCKDIAG_MINOR) - 1));
	r->ino = vfs->udiag_vfs_ino;
	if ((r->name = strndup(name, len)) == NULL)
		return -1;
	d->n++;
	return 0;
}

/*
 * Returns the contents of the attribute `type` among the `left` bytes at `p`,
 * and their number in `*len`; or NULL.
 */
static const char *
sockdiag_attribute(const char *p, size_t left, unsigned short type, size_t *len)
{
	struct rtattr a;

	while (left >= sizeof(a)) {
		memcpy(&a, p, sizeof(a));
		if (a.rta_len < sizeof(a) || a.rta_len > left)
			return NULL;
		if (a.rta_type == type) {
			*len = a.rta_len - sizeof(a);
			return p + sizeof(a);
		}
		if (RTA_ALIGN((size_t)a.rta_len) > left)
			return NULL;
		left -= RTA_ALIGN((size_t)a.rta_len);
		p += RTA_ALIGN((size_t)a.rta_len);
	}
	return NULL;
}

/* Take one socket of the kernel's answer. */
static int
sockdiag_take(void *arg, const void *message, size_t len)
{
	struct sockdiag *d = arg;
	const char *p = message;
	struct unix_diag_msg m;
	struct unix_diag_vfs vfs;
	const char *name, *at;
	size_t n;

	if (len < sizeof(m))
		return 0;
	memcpy(&m, p, sizeof(m));
	p += sizeof(m);
	len -= sizeof(m);
	if (m.udiag_state != SOCKDIAG_LISTEN && m.udiag_type != SOCK_DGRAM)
		return 0;
	at = sockdiag_attribute(p, len, UNIX_DIAG_VFS, &n);
	if (at == NULL || n < sizeof(vfs))
		return 0;
	memcpy(&vfs, at, sizeof(vfs));
	if ((name = sockdiag_attribute(p, len, UNIX_DIAG_NAME, &n)) == NULL)
		n = 0;
	return sockdiag_add(d, &vfs, name != NULL ? name : "", n);
}

int
sockdiag_read(struct sockdiag *d)
{
	const struct {
		struct nlmsghdr head;
		struct unix_diag_req ask;
	} m = {.head = {.nlmsg_len = sizeof(m),
		   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	    .ask = {.sdiag_family = AF_UNIX,
		.udiag_states = ~0U,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS}};
	int fd, rv, save;

	memset(d, 0, sizeof(*d));
	if ((fd = netdump_open()) == -1)
		return -1;
	rv = netdump_list(fd, &m, sizeof(m), sockdiag_take, d);
	save = errno;
	close(fd);
	if (rv == -1)
		sockdiag_free(d);
	errno = save;
	return rv;
}

void
sockdiag_free(struct sockdiag *d)
{
	for (unsigned i = 0; i < d->n; i++)
		free(d->rows[i].name);
	free(d->rows);
	memset(d, 0, sizeof(*d));
}
