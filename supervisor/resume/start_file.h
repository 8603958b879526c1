/* SPDX-License-Identifier: ISC */
/*
 * start.json of a session directory: the options that `icctl start` was given,
 * from which a session is started again. icctl writes it before the session
 * starts. It names what to start; it holds no command and no permission, and
 * everything in it is resolved again through the configuration of the day.
 */
#ifndef START_FILE_H
#define START_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

#define START_FILE "start.json"
#define START_FILE_OPTIONS 64U

struct start_file {
	struct {
		const char *name; /* without "--", of the table */
		char *value;	  /* NULL: a flag */
	} options[START_FILE_OPTIONS];
	size_t n;
	bool detach;  /* a conversation: icctl start --detach */
	bool command; /* it ran a command after --, which is not kept */
};

/*
 * Remember an option of `icctl start`, "--name", if it is one that start.json
 * keeps; a path becomes absolute. `value` is NULL for a flag. Returns 0, or -1
 * with the fault set.
 */
int start_file_add(struct start_file *, const char *option, const char *value,
    struct fault *);
/* Write DIR/start.json, all or nothing. Returns 0, or -1 with the fault set. */
int start_file_write(const struct start_file *, int dirfd, const char *dir,
    struct fault *);
/*
 * Read it. Returns 0, or -1 with the fault set; errno is ENOENT if there is
 * none.
 */
int start_file_read(
    struct start_file *, int dirfd, const char *dir, struct fault *);
/* Returns the value of this option ("agent"), or NULL. */
const char *start_file_get(const struct start_file *, const char *name);
void start_file_free(struct start_file *);

#endif
