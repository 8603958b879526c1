/* SPDX-License-Identifier: ISC */
/*
 * Files of the user's own workspace that the agent changed and that run on the
 * host later: the end of a session lists them.
 */
#ifndef SUP_LATER_H
#define SUP_LATER_H

struct json_object;

/* Note what is there, before anything of the agent runs. */
void later_begin(void);
/* Find what has changed, when the agent has ended. */
void later_end(void);
/* Tell the user. */
void later_say(void);
/* Returns a list for session.json, or NULL if there is nothing to tell. */
struct json_object *later_json(void);

#endif
