/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor's part in renewing a login file. It takes the locks that every
 * program takes to renew that file, passes the file to keyd together with a new
 * empty one, and renames the new one into place. It never reads either.
 */
#ifndef RENEW_H
#define RENEW_H

#include <sys/stat.h>

#include "base/fault.h"
#include "common/ipc/proto.h"
#include "common/loop.h"
#include "files/providers/providers.h"

#define RENEW_MAX_LOCKS 9U

enum renewal_phase {
	RENEWAL_NONE,
	RENEWAL_LOCKING,
	RENEWAL_HELD, /* keyd is working on it */
};

struct renewal {
	enum renewal_phase phase;
	unsigned provider;
	enum proto_want why;
	struct loop_timer timer;
	char *path, *dir, *name; /* the real file, links resolved */
	int dirfd;               /* the directory; or -1 */
	int own;                 /* the lock between sessions; or -1 */
	const char *const *lock_dirs, *const *lock_files;
	char *held[RENEW_MAX_LOCKS]; /* lock directories that we made */
	unsigned nheld;
	int files[RENEW_MAX_LOCKS];
	unsigned nfiles;
	int temp; /* the new file, or -1 */
	char temp_name[300];
	struct stat seen; /* the file that was passed to keyd */
	uint32_t turn;
	unsigned again;
	uint64_t until;
};

/* Start from the open login file `fd`. Returns 0, or -1 with the fault set. */
int renew_init(struct renewal *, unsigned provider, int fd,
    const struct provider_login *, struct fault *);
/* Start from the path of a login that IronCurtain keeps; it need not exist. */
int renew_init_kept(
    struct renewal *, unsigned provider, const char *path, struct fault *);
/* Handle SECRET_WANT and SECRET_DONE. Return -1 if keyd has no login. */
int renew_want(struct renewal *, const struct msg_SECRET_WANT *);
int credential_renew_done(struct renewal *, const struct msg_SECRET_DONE *);
/* Returns true if keyd has one of our files and has not finished with it. */
bool renew_busy(const struct renewal *);
/* Release the locks, remove a partial file, and free the paths. */
void renew_close(struct renewal *);

/*
 * renew_lock.c: Take all locks. Returns 1, 0 if another program holds one, or
 * -1 with errno set; no lock is kept unless it returns 1.
 */
int renew_lock(struct renewal *);
void renew_release(struct renewal *);

#endif
