/* SPDX-License-Identifier: ISC */
/* /etc of a sandbox; system/init.c calls this. */
#ifndef BOX_SYSTEM_ETC_H
#define BOX_SYSTEM_ETC_H

#include <stddef.h>

struct box;

/* Add /etc: the copy of ic-survey's, or the least that programs need. */
void box_etc(struct box *);
/* Add those of the files that the host has. */
void box_etc_files(struct box *, const char *const *files, size_t n);
/* Make up the user. */
void box_etc_passwd(struct box *);

#endif
