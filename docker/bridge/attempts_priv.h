/* SPDX-License-Identifier: ISC */
/* The functions behind the table of attempts.c. */
#ifndef ATTEMPTS_PRIV_H
#define ATTEMPTS_PRIV_H

#include <sys/syscall.h>

#include <stdbool.h>

#include "attempts.h"
#include "tries.h"

#define SYSTEM(...) TRY(syscall(__VA_ARGS__))

extern const struct attempt_ask *attempt_asked;
extern int attempt_fds[2]; /* the connection on which the test reports */

/* attempts_refused.c: these return 0 if they succeed, otherwise an errno. */
/* A file that engines mask is there, and has nothing. */
int tried_reading(const char *path);
int tried_writing(const char *path);
int tried_caches(void);
int tried_socket(int family, int type, int protocol);
int tried_inet(int type);
int tried_unix(const char *path);
int tried_tcp6(void);
int tried_abstract(void);
int tried_bus(void);
int tried_control(void);
int tried_sessions(void);
int tried_ssh(void);
int tried_uid_map(void);
int tried_device(void);
int tried_setuid_file(void);
int tried_pidfd(void);
int tried_capabilities(void);
int tried_limit(void);
int tried_affinity(void);
int tried_core(void);

/* attempts_counted.c: these return a number, or -1 if it cannot be told. */
int counted_lines(const char *path, int skip, bool last);
int counted_processes(void);
int counted_bits(const char *prefix);
int counted_seccomp(void);
int counted_ids(void);
int counted_files(void);
int counted_standard(bool terminals);
int counted_setuid_mounts(void);
int counted_swapped_mounts(void);
int counted_owned(void);

#endif
