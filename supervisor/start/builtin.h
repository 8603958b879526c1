/* SPDX-License-Identifier: ISC */
/* The default agent. */
#ifndef BUILTIN_H
#define BUILTIN_H

#define BUILTIN_USUAL "claude-code"
#define BUILTIN_NAME "builtin"

/* Choose the built-in agent where none is named and the usual one is absent. */
void builtin_default(void);
/* Say so, once the session can start. */
void builtin_say(void);

#endif
