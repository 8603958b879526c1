/* SPDX-License-Identifier: ISC */
/*
 * A login file is renewed: icsupervisor's part.  It takes the locks that
 * everybody takes who renews that file, hands it to keyd with an empty file
 * beside it, and puts that one in its place.  It never reads either.
 */
#ifndef RENEW_H
#define RENEW_H

#include <sys/stat.h>

#include "common/ipc/proto.h"
#include "common/loop.h"
#include "config/fault.h"
#include "providers/providers.h"

#define RENEW_MAX_LOCKS 9U

enum renewal_phase {
	RENEWAL_NONE,
	RENEWAL_LOCKING,
	RENEWAL_HELD, /* keyd works on it */
};

struct renewal {
	enum renewal_phase phase;
	unsigned provider;
	enum proto_want why;
	struct loop_timer timer;
	char *path, *dir, *name; /* of the file itself, links resolved */
	int dirfd;               /* the lock between sessions; -1 */
	const char *const *lock_dirs, *const *lock_files;
	char *held[RENEW_MAX_LOCKS]; /* directories that we made */
	unsigned nheld;
	int files[RENEW_MAX_LOCKS];
	unsigned nfiles;
	int temp; /* -1 */
	char temp_name[300];
	struct stat seen; /* the file that keyd got */
	uint32_t turn;
	unsigned again;
	uint64_t until;
};

/* From the open login file on. -1 with why. */
int renew_init(struct renewal *, unsigned provider, int fd,
    const struct provider_login *, struct fault *);
/* From the path of a login that we keep ourselves; it need not be there. */
int renew_init_kept(
    struct renewal *, unsigned provider, const char *path, struct fault *);
/* SECRET_WANT, SECRET_DONE. -1: keyd has no login. */
int renew_want(struct renewal *, const struct msg_SECRET_WANT *);
int renew_done(struct renewal *, const struct msg_SECRET_DONE *);
/* Does keyd hold a file of ours that it has not finished? */
bool renew_busy(const struct renewal *);
/* Gives locks back, removes what is half done. */
void renew_close(struct renewal *);

/* renew_lock.c: 1 all are taken, 0 somebody has one, -1 errno. */
int renew_lock(struct renewal *);
void renew_release(struct renewal *);

#endif
