/* SPDX-License-Identifier: ISC */
/* The other sessions of this user that run on this machine. */
#ifndef OTHERS_H
#define OTHERS_H

struct fault;

/*
 * Look at them once, when this session has its link. Fails if `icctl start`
 * would start more than config.json allows.
 */
int others_check(struct fault *);
/* Warn if one of them works in the same directory. */
void others_warn(void);

#endif
