/* SPDX-License-Identifier: ISC */
/*
 * JSON files that people keep.  The text must first pass our own strict
 * reader, which says line and column of what is wrong (json-c would take
 * duplicate members and comments); json-c then gives the tree.  Getters name
 * file and key path of what they refuse.
 */
#ifndef JSONFILE_H
#define JSONFILE_H

#include <sys/stat.h>

#include <json-c/json.h>

#include "common/span.h"
#include "config/fault.h"

#define JSONFILE_MAX (8U << 20)

/* Where we are: a file and a key path within it. */
struct jsonfile {
	const char *file;
	struct fault *fault;
};

/*
 * The whole file in fresh memory (NUL-terminated, free with freezero), its
 * status in *st. Refuses what others may write to and what is no plain file.
 * NULL with *fault; errno ENOENT when there is none.
 */
char *jsonfile_text(
    const char *path, size_t *len, struct stat *st, struct fault *);
/* An object, of which the caller owns one reference. */
struct json_object *jsonfile_parse(
    const char *path, struct span text, struct fault *);

/* Refuses "where.key: what". Always returns -1. key may be NULL. */
int jsonfile_bad(const struct jsonfile *, const char *where, const char *key,
    const char *, ...) __attribute__((format(printf, 4, 5)));
/* "an object", "a string", ...: what a value is, for messages. */
const char *jsonfile_kind(struct json_object *);
/* Every member must be listed in `known` (NULL-terminated). */
int jsonfile_known(const struct jsonfile *, struct json_object *,
    const char *where, const char *const *known);

/*
 * Members. 0 with *out unchanged when absent, 1 when there, -1 refused.
 * Strings and objects belong to the tree.
 */
int jsonfile_str(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, const char **out);
int jsonfile_bool(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, bool *out);
int jsonfile_int(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, int64_t min, int64_t max, int64_t *out);
int jsonfile_object(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, struct json_object **out);
/* A fresh NULL-terminated vector of copies, of at most max strings. */
int jsonfile_strings(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, size_t max, char ***out);
/* The string in a value that stands at where.key. */
int jsonfile_text_of(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, const char **out);
void jsonfile_strings_free(char **);

#endif
