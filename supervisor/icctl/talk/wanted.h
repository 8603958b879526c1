/* SPDX-License-Identifier: ISC */
/* `icctl send --schema`: an answer that fits a JSON Schema. */
#ifndef ICCTL_WANTED_H
#define ICCTL_WANTED_H

#include "common/buf.h"
#include "icctl/icctl.h"

struct wanted;

#define WANTED_WHY 1024U

/*
 * Read and check the schema in a file, which places_file() accepts. Returns
 * NULL with the reason in `why`.
 */
struct wanted *wanted_read(
    const struct icctl *, const char *path, char why[WANTED_WHY]);
/* Do the same with its text, which messages call `name`. */
struct wanted *wanted_of(
    struct span text, const char *name, char why[WANTED_WHY]);
void wanted_free(struct wanted *);
/* Returns the text that asks for such an answer, to end a message. */
const char *wanted_ask(const struct wanted *);
/*
 * Find the answer in what the agent said, which must stay as it is until it is
 * printed. Returns true if it fits.
 */
bool wanted_take(struct wanted *, const struct buf *said);
/* Returns why the last answer does not fit: its path and the reason. */
const char *wanted_why(const struct wanted *);
/* Returns the message that asks to repair it; the next call changes it. */
const char *wanted_again(const struct wanted *);
/* Print the answer. Returns the exit status. */
int wanted_put(const struct icctl *, const struct wanted *);
/* Print why there is none. Returns the exit status. */
int wanted_failed(const struct icctl *, const struct wanted *);

#endif
