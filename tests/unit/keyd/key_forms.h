/* SPDX-License-Identifier: ISC */
/*
 * How a credential may be written, by means that share nothing with the
 * scrub: OpenSSL's encoder and sprintf.  For tests.
 */
#ifndef KEY_FORMS_H
#define KEY_FORMS_H

#include <stddef.h>

#define FORM_MAX 1024
#define FORMS_MAX 16

/*
 * Raw, base64 and base64url at three alignments, hex in both cases, and as
 * URLs and JSON strings write it where that differs; NUL-terminated. How many.
 */
size_t key_forms(const char *key, char out[FORMS_MAX][FORM_MAX]);

#endif
