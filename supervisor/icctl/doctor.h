/* SPDX-License-Identifier: ISC */
/* Between the parts of `icctl doctor`. */
#ifndef ICCTL_DOCTOR_H
#define ICCTL_DOCTOR_H

#include "icctl/icctl.h"

enum grade {
	GOOD,
	NOTE,
	BAD,
	WRONG /* in a file of the user's */
};

typedef void doctor_check(
    enum grade, const char *what, const char *found, const char *remedy);

/*
 * What the user's own files say, as a session would take it; how many
 * credentials config.json names.
 */
unsigned doctor_files(struct icctl *, doctor_check *);
/* Run a session around nothing, and report how it went. */
void doctor_trial(doctor_check *);
/* The corporate proxy that a session started here would take, if any. */
void doctor_proxy(const struct icctl *, doctor_check *);

#endif
