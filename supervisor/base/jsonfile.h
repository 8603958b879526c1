/* SPDX-License-Identifier: ISC */
/*
 * JSON files that people write. The text must first pass our own strict parser,
 * which reports errors by line and column (json-c would accept duplicate
 * members and comments); json-c then builds the tree. Errors of the getters
 * name the file and the key path.
 */
#ifndef JSONFILE_H
#define JSONFILE_H

#include <sys/stat.h>

#include <json-c/json.h>

#include "base/fault.h"
#include "common/span.h"

#define JSONFILE_MAX (8U << 20)

/* The place that messages name: a file and a key path within it. */
struct jsonfile {
	const char *file;
	struct fault *fault;
};

/*
 * Returns the whole file (NUL-terminated; the caller calls freezero) and its
 * status in `*st`. Refuses a file that is not plain or that others may write.
 * Returns NULL with the fault set; errno is ENOENT if there is no file.
 */
char *jsonfile_text(
    const char *path, size_t *len, struct stat *st, struct fault *);
/*
 * Parse an object. The caller owns the reference. Returns NULL with the fault
 * set.
 */
struct json_object *jsonfile_parse(
    const char *path, struct span text, struct fault *);
/*
 * Both. Returns NULL with the fault set; errno is ENOENT if there is no file, and
 * EBADMSG if it has no object.
 */
struct json_object *jsonfile_load(const char *path, struct fault *);

/* Set the fault "where.key: what"; `key` may be NULL. Always returns -1. */
int jsonfile_bad(const struct jsonfile *, const char *where, const char *key,
    const char *, ...) __attribute__((format(printf, 4, 5)));
/* Returns the type of a value for messages: "an object", "a string", ... */
const char *jsonfile_kind(struct json_object *);
/* Check that every member is listed in `known` (NULL-terminated). */
int jsonfile_known(const struct jsonfile *, struct json_object *,
    const char *where, const char *const *known);

/*
 * Get a member. Returns 1, 0 with `*out` unchanged if it is absent, or -1 with
 * the fault set. Strings and objects belong to the tree.
 */
int jsonfile_str(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, const char **out);
/*
 * Get a copy of a string that `ok` accepts; otherwise the fault says `rule`.
 * Returns 0, also if it is absent, or -1.  The caller frees it.
 */
int jsonfile_copy(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, bool (*ok)(const char *),
    const char *rule, char **out);
int jsonfile_bool(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, bool *out);
int jsonfile_int(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, int64_t min, int64_t max, int64_t *out);
int jsonfile_object(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, struct json_object **out);
/*
 * Get an array of at most `max` strings as a NULL-terminated vector of copies,
 * for jsonfile_strings_free().
 */
int jsonfile_strings(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, size_t max, char ***out);
/* Get the string in a value whose place is where.key. */
int jsonfile_text_of(const struct jsonfile *, struct json_object *,
    const char *where, const char *key, const char **out);
void jsonfile_strings_free(char **);

/*
 * Copy a text member of a file's object; "" if there is none, or if the file
 * cannot be read.
 */
void jsonfile_peek(const char *path, const char *key, char *dst, size_t cap);

/*
 * replace.c: Replace a file by one with this text, mode 0600, all or nothing.
 * Returns 0, or -1 with errno set and the old file unchanged.
 */
int jsonfile_replace(const char *path, struct span text);

#endif
