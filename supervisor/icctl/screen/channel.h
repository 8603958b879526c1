/* SPDX-License-Identifier: ISC */
/* The viewer's channel to termd. */
#ifndef CHANNEL_H
#define CHANNEL_H

/*
 * Takes fd as viewer.chan, instead of the one before.  When it closes it is
 * gone from there, and `closed` is called: `why` it was broken off, or NULL.
 */
void channel_open(int fd, void (*closed)(const char *why));

#endif
