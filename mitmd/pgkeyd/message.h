/* SPDX-License-Identifier: ISC */
/*
 * Reads messages of a PostgreSQL server, strictly and without state. Nothing
 * here allocates, and nothing outlives the span that is read.
 */
#ifndef PGKEYD_MESSAGE_H
#define PGKEYD_MESSAGE_H

#include <sys/types.h>

#include "common/span.h"

#define MESSAGE_HEAD 5U    /* type and length */
#define MESSAGE_MAX 16384U /* the longest message, with its type */
#define MESSAGE_TEXT 300U  /* the text that tells of an error */

/* Authentication requests, by their numbers. */
enum message_auth {
	MESSAGE_AUTH_OK = 0,
	MESSAGE_AUTH_CLEARTEXT = 3,
	MESSAGE_AUTH_MD5 = 5,
	MESSAGE_AUTH_SASL = 10,
	MESSAGE_AUTH_CONTINUE = 11,
	MESSAGE_AUTH_FINAL = 12,
};

/*
 * Returns the length of the message that begins with these MESSAGE_HEAD bytes,
 * its type included; or 0 if it is no message that is read here.
 */
size_t message_size(const uint8_t head[MESSAGE_HEAD]);
/* Read the number of an authentication request. Returns -1 without one. */
int message_auth(struct span body, uint32_t *auth, struct span *rest);
/* Returns true if the list of mechanisms has this one. */
bool message_has_mechanism(struct span list, const char *name);
/* Write "TEXT (CODE)" of an ErrorResponse as printable text. Returns `dst`. */
const char *message_error(struct span body, char dst[MESSAGE_TEXT]);
/* Returns true if it is an error with this SQLSTATE. */
bool message_has_code(struct span body, const char *code);
/* Read the name and value of a ParameterStatus. Returns -1 if malformed. */
int message_parameter(struct span body, struct span *name, struct span *value);
/* Read the one column of a DataRow. Returns -1 if it has another form. */
int message_column(struct span body, struct span *text);

#endif
