/* SPDX-License-Identifier: ISC */
/* Images that a person pastes, as the sandbox sees them. */
#ifndef INBOX_H
#define INBOX_H

/* The directory beside the session's sockets, in the sandbox. */
#define INBOX_DIR "/run/ironcurtain/inbox/"
#define INBOX_DIR_SIZE sizeof(INBOX_DIR)
/* The characters of an image's name there: a number, a dot, a kind. */
#define INBOX_NAME "0123456789.abcdefghijklmnopqrstuvwxyz"
#define INBOX_NAME_MAX 16U

#endif
