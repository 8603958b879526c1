/* SPDX-License-Identifier: ISC */
/*
 * Reads members of JSON objects. An object that is NULL or something else has
 * no members. What is returned lives as long as the object.
 */
#ifndef JSON_GET_H
#define JSON_GET_H

#include <json-c/json.h>
#include <stdbool.h>

#include "common/span.h"

/* Returns the member's text, or `none` if it is not a string. */
const char *get_str(struct json_object *, const char *key, const char *none);
/* Returns the same with its NUL bytes; `p` is NULL if it is not a string. */
struct span get_span(struct json_object *, const char *key);
/* Returns the member, whatever it is, or NULL. */
struct json_object *get_member(struct json_object *, const char *key);
/* Returns the member if it has this type, or NULL. */
struct json_object *get_typed(struct json_object *, const char *key, json_type);
/* Returns true if the member is there, and is true. */
bool get_true(struct json_object *, const char *key);

#endif
