/* SPDX-License-Identifier: ISC */
/* Adds members to the JSON replies and events of the control socket. */
#ifndef JSON_PUT_H
#define JSON_PUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns a string; text that is not valid UTF-8 is made printable. */
struct json_object *json_text(const char *);
void put_str(struct json_object *, const char *key, const char *);
void put_int(struct json_object *, const char *key, int64_t);
void put_bool(struct json_object *, const char *key, bool);
/* Add a digest as 64 hex digits. */
void put_digest(struct json_object *, const char *key, const uint8_t[32]);

/* Returns the member that is an object; it is made if there is none. */
struct json_object *put_child(struct json_object *, const char *key);

#endif
