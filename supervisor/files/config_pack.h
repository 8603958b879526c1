/* SPDX-License-Identifier: ISC */
/* The configuration as bytes, from ic-reader to icsupervisor. */
#ifndef CONFIG_PACK_H
#define CONFIG_PACK_H

#include "base/pack.h"
#include "files/config.h"

/* The rows of `struct config`, but for the kinds of destinations. */
extern const struct pack_row config_rows[];
extern const size_t config_nrows;
/* The rows of `struct config_provider`. */
#define CONFIG_PROVIDER_ROWS 15U
extern const struct pack_row config_provider_rows[CONFIG_PROVIDER_ROWS];

/* Add it to the buffer. Returns 0, or -1 if it does not fit. */
int config_put(struct buf *, const struct config *);
/* Take what config_put() has written. Returns 0, or -1 with nothing taken. */
int config_take(struct config *, struct span);

#endif
