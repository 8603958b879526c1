/* SPDX-License-Identifier: ISC */
/* The viewer's channel to termd. */
#ifndef CHANNEL_H
#define CHANNEL_H

/*
 * Make `fd` viewer.chan, in place of the one before. When the channel closes,
 * it is removed, and `closed` is called with the protocol error, or NULL.
 */
void channel_open(int fd, void (*closed)(const char *why));

#endif
