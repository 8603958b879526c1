/* SPDX-License-Identifier: ISC */
/* Needs of every session that the kernel must meet. */
#ifndef ICCTL_KERNEL_H
#define ICCTL_KERNEL_H

/* Returns 0, or -1 after the reason if no session can run on this kernel. */
int icctl_kernel(void);

#endif
