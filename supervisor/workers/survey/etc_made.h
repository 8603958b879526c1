/* SPDX-License-Identifier: ISC */
/* The files of /etc that are made up for every sandbox. */
#ifndef SURVEY_ETC_MADE_H
#define SURVEY_ETC_MADE_H

#include <sys/types.h>

/* Changes with what is made up: an older copy is then not used again. */
#define ETC_MADE 2

/*
 * Write passwd, group, hosts, hostname and nsswitch.conf to the directory, and
 * make the place of /etc/ironcurtain and the links that lead browsers to it. There is no resolv.conf: a sandbox asks
 * no name server. Returns 0, or -1 with errno set.
 */
int etc_made(int dirfd, uid_t, gid_t);

#endif
