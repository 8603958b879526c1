/* SPDX-License-Identifier: ISC */
/*
 * The person's last message: of `icctl send` or `icctl start TASK`, as typed on
 * a command line. Never from the agent, and never from a file.
 */
#ifndef SAID_H
#define SAID_H

#include "common/span.h"

#define SAID_MS 120000U /* an older message counts no longer */

/*
 * The person said this. If `typed` is false, it came from a file or another
 * program, and there is no message until the next one that is typed.
 */
void said_take(struct span, bool typed);
/* Returns true for text that can be a message: UTF-8 without controls. */
bool said_plain(struct span);
/* Returns the message if it is fresh, otherwise a NULL span. */
struct span said_now(void);

#endif
