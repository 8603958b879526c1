/* SPDX-License-Identifier: ISC */
/*
 * The parts of a provider file that icsupervisor and icctl use, which have
 * their own, different struct provider. The reader is that of mitmd and keyd.
 */
#ifndef PROVIDER_CHECK_H
#define PROVIDER_CHECK_H

#include "common/span.h"

#define PROVIDER_MAX_LOGINS 8U
#define PROVIDER_MAX_DIRS 4U  /* variables that move a login's directory */
#define PROVIDER_MAX_LOCKS 4U /* locks of each kind */
#define PROVIDER_PARTS 3U     /* a key's id, secret, session token */

/* The place in which a vendor's program keeps its login. */
struct provider_place {
	struct span name;
	struct span file;     /* its usual path */
	struct span sentinel; /* prefix of the placeholder key */
	struct span url;      /* the token endpoint */
	/* a variable that names a directory, and the path below it */
	struct span dirs[PROVIDER_MAX_DIRS][2];
	unsigned ndirs;
	struct span locks[2][PROVIDER_MAX_LOCKS]; /* directories, files */
	unsigned nlocks[2];
};

struct provider_facts {
	struct span name;
	const struct span *hosts;
	unsigned nhosts;
	struct span env, sentinel; /* empty: no such credential */
	const struct span *parts;  /* PROVIDER_PARTS variables, or NULL */
	const struct provider_place *logins[PROVIDER_MAX_LOGINS];
	unsigned nlogins;
	void *owner; /* owns all texts */
};

/*
 * Read the text of a provider file. Returns 0, or -1 with "where: what is
 * wrong" in err[cap]. After success, provider_facts_free() releases the texts.
 */
int provider_facts_read(
    struct provider_facts *, struct span text, char *err, size_t cap);
void provider_facts_free(struct provider_facts *);

/*
 * question.c: Returns true if the provider of this file can be asked one plain
 * question for this model, which the approver does.
 */
bool provider_answers(struct span text, struct span model);

#endif
