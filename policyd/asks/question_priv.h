/* SPDX-License-Identifier: ISC */
/* Shared by the files about questions; private to them. */
#ifndef QUESTION_PRIV_H
#define QUESTION_PRIV_H

#include "policyd.h"

/* A question that is being put together. Its texts are in env->pool. */
struct question_text {
	struct question_call call;
	unsigned others; /* calls of the server that are open as well */
	struct span message, url; /* url.p == NULL: it is a form */
	const struct value *schema;
	struct form form;
	char host[HOSTNAME_MAX + 1];
	bool foreign;
};

/* question_show.c */
/*
 * Check what the server wants to ask. Returns NULL, or why it cannot, as a
 * sentence for its author.
 */
const char *question_check(struct policyd_env *, struct question_text *,
    const struct value *params);
/* Write what is shown, as canonical JSON. Returns 0, or -1. */
int question_write(struct question *, const struct question_text *);
/* Show it. Returns 0, or -1 if it cannot be shown. */
int question_show(struct policyd_env *, struct question *,
    const struct question_text *, uint32_t ms);
/* Record how it ended, and end it for those who show it. */
void question_record(struct policyd_env *, const struct question *,
    enum proto_action, enum proto_hold, struct span content);

#endif
