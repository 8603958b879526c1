/* SPDX-License-Identifier: ISC */
#ifndef ICCTL_START_USAGE_H
#define ICCTL_START_USAGE_H

/* Print the help of `icctl start`. */
void start_usage(void);

#endif
