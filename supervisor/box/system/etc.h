/* SPDX-License-Identifier: ISC */
/* /etc of a sandbox; system/init.c calls this. */
#ifndef BOX_SYSTEM_ETC_H
#define BOX_SYSTEM_ETC_H

struct box;

/* Add /etc: the copy of ic-survey's, or the least that programs need. */
void box_etc(struct box *);

#endif
