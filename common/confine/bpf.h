/* SPDX-License-Identifier: ISC */
/*
 * Compiles rules to a seccomp filter: a classic BPF program that looks the call
 * up in a balanced tree of comparisons and then tries its rules in turn.
 */
#ifndef BPF_H
#define BPF_H

#include <linux/filter.h>

#include "common/confine/pledge.h"

/* The number of instructions that are enough for any worker's rules. */
#define BPF_ROOM 2048U
#define BPF_RULES 256U

/*
 * Compile the rules of this architecture's calls into `code`. A call that is
 * not in them, or is made as another architecture's, kills the process; so does
 * one whose arguments match none of its rules. `rules` is sorted. Returns 0 and
 * the length in `*n`, or -1 with errno EINVAL (an impossible check, or a call
 * that is permitted with any arguments and yet fails with some), or E2BIG.
 */
int bpf_compile(const struct pledge_rule **rules, size_t nrules,
    struct sock_filter code[BPF_ROOM], unsigned short *n);

/* Compile all rules of a worker; errors as above. */
int pledge_compile(const struct pledge *, struct sock_filter code[BPF_ROOM],
    unsigned short *n);
/* The rules of one promise, for tests. */
const struct pledge_rule *pledge_promised(enum pledge_promise, size_t *n);

#endif
