/* SPDX-License-Identifier: ISC */
#ifndef BPF_RUN_H
#define BPF_RUN_H

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No filter returns this. */
#define BPF_BROKEN 0xdeadbeefU

/* Returns what the filter returns for a call, or BPF_BROKEN. */
uint32_t bpf_run(
    const struct sock_filter *, size_t n, const struct seccomp_data *);

#endif
