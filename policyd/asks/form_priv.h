/* SPDX-License-Identifier: ISC */
/* Shared by the files of the form; private to them. */
#ifndef FORM_PRIV_H
#define FORM_PRIV_H

#include "asks/form.h"

/* Record the reason, about this field or the whole form. Always returns -1. */
int form_bad(struct form *, const struct form_field *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Check the value of one field. Returns 0, or -1 with the reason. */
int form_check_field(
    struct form *, const struct form_field *, const struct value *);

#endif
