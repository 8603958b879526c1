/* SPDX-License-Identifier: ISC */
/* The size of a number; private to the JSON code. */
#ifndef NUMBER_H
#define NUMBER_H

#include "common/span.h"

/*
 * Returns false if the text, a number by RFC 8259 of at most VALUE_MAX_NUMBER
 * bytes, is beyond what a double can hold: other programs read it as infinity,
 * or as null.
 */
bool number_is_finite(struct span);

#endif
