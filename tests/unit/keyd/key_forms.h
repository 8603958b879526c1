/* SPDX-License-Identifier: ISC */
/*
 * The forms in which a credential may be written, made independently of the
 * scrub, with OpenSSL's encoder and sprintf. For tests.
 */
#ifndef KEY_FORMS_H
#define KEY_FORMS_H

#include <stddef.h>

#define FORM_MAX 1024
#define FORMS_MAX 16

/*
 * Write the key raw, in base64 and base64url at three alignments, in hex in
 * both cases, and as URLs and JSON strings write it if that differs;
 * NUL-terminated. Returns the number of forms.
 */
size_t key_forms(const char *key, char out[FORMS_MAX][FORM_MAX]);

#endif
