/* SPDX-License-Identifier: ISC */
/*
 * Sandboxes that a killed icsupervisor leaves half made. bubblewrap dies with
 * it, but a child that bubblewrap has just made waits for a word of bubblewrap
 * before anything else, for ever if bubblewrap is gone by then.
 */
#ifndef STRAYS_H
#define STRAYS_H

/* Become the parent of what icsupervisor leaves. Call it before the start. */
void strays_adopt(void);
/* icsupervisor was killed: end the sandboxes that it has left. */
void strays_end(void);

#endif
