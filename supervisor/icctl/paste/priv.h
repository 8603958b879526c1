/* SPDX-License-Identifier: ISC */
/* Internals of `icctl paste`. */
#ifndef PASTE_PRIV_H
#define PASTE_PRIV_H

#include "common/span.h"

/* The longest image, in bytes. */
#define PASTE_MAX (10U << 20)
/* Images that an inbox keeps; the oldest ones are removed. */
#define PASTE_KEPT 20U
#define PASTE_NAME 24U

/* image.c: The kinds of images, which are told by their first bytes. */
struct paste_kind {
	const char *ext, *type; /* "png", "image/png" */
};
/* Returns the kind of the image, or NULL if it is of none. */
const struct paste_kind *paste_kind(struct span image);
/* Returns kind `i`, or NULL after the last one. */
const struct paste_kind *paste_kind_nth(size_t i);

/* Bytes that were read: at most PASTE_MAX, and one that says that it is more.
 */
struct paste_bytes {
	uint8_t *p; /* the caller frees it */
	size_t len;
};
/*
 * clip.c: Read an image from the desktop's clipboard. Returns 0, or -1 with the
 * reason and the next step in `*why`.
 */
int paste_clip(struct paste_bytes *, const char **why);

/* inbox.c: The images of a session, which its sandbox sees read-only. */
struct paste_inbox {
	int dir, inbox;        /* the session's directory, and the images */
	int lock;              /* a file that no sandbox sees */
	char name[PASTE_NAME]; /* the new image has this name */
};
/*
 * Open and lock the inbox of the session directory `dir`, and write the image
 * to where the sandbox does not see it yet. Returns 0, or -1 with errno set.
 */
int paste_inbox_open(struct paste_inbox *, const char *dir,
    const struct paste_kind *, struct span image);
/* Show the image to the sandbox. Returns 0, or -1 with errno set. */
int paste_inbox_show(struct paste_inbox *);
/* Remove an image that was not shown, and close everything. */
void paste_inbox_close(struct paste_inbox *);

#endif
