/* SPDX-License-Identifier: ISC */
/* How a viewer's person learns of pending calls, and is asked about them. */
#ifndef WAITING_H
#define WAITING_H

/* The session is ready: from now on its pending calls are known. */
void waiting_open(void);
/* As lines: asks about those that the person has not seen, if anybody can be.
 */
void waiting_ask(void);
/* The person wants to answer. */
void waiting_answer(void);

#endif
