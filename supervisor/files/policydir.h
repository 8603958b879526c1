/* SPDX-License-Identifier: ISC */
/* Finds the policy files for a session and for icctl. */
#ifndef POLICYDIR_H
#define POLICYDIR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "common/ipc/proto.h"

/* The paths of a policy's files, by PROTO_RULES_*. */
struct policydir {
	char *dir;
	char *files[PROTO_RULES_LAST + 1]; /* NULL: the policy has none */
	int lock; /* no installation begins meanwhile; -1 if there is none */
};

/* Beside files that are being replaced: those in force. See policy_install.h. */
#define POLICYDIR_IN_FORCE "in-force"

/* The usual names of the files, by PROTO_RULES_*. */
extern const char *const policydir_names[PROTO_RULES_LAST + 1];

/*
 * Find a policy. `what` is NULL (home/policy, else home/generated, else the
 * shipped default), "default", a name (home/policies/NAME, else the shipped
 * policy of that name), or a directory with a slash in it. The caller frees the
 * result. Returns NULL with the fault set.
 */
char *policydir_find(
    const char *home, const char *shipped, const char *what, struct fault *);
/*
 * Returns true if `what` names a policy or a directory, and false if it is NULL
 * or a file with rules.
 */
bool policydir_is_name(const char *what);
/*
 * Write the directory that has the files of the policy in `dir`: itself, or the
 * copy of what is in force, while others are being put in place there.
 */
void policydir_base(const char *dir, char *dst, size_t cap);
/*
 * Find the files of a policy; they are not replaced before policydir_free().
 * Each of `files` may name another file than the
 * usual one; files[PROTO_RULES_POLICY] may also be what policydir_find() takes,
 * and `usual` is the policy if it is not. Rules from a file of their own do not
 * use the lists of the policy. Returns 0, or -1 with the fault set.
 */
int policydir_files(struct policydir *, const char *home, const char *shipped,
    const char *usual, const char *const files[], struct fault *);
void policydir_free(struct policydir *);

#endif
