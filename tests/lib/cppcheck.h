/* SPDX-License-Identifier: ISC */
/*
 * Macros of the system's headers, which cppcheck does not read (analyze.py): as
 * much of each as it must know to read what uses it.
 */
#ifndef CPPCHECK_H
#define CPPCHECK_H

/* clang-format off */
#define TAILQ_HEAD(name, type)                                                 \
	struct name { struct type *tqh_first; struct type **tqh_last; }
#define TAILQ_ENTRY(type)                                                      \
	struct { struct type *tqe_next; struct type **tqe_prev; }
#define TAILQ_FIRST(head) ((head)->tqh_first)
#define TAILQ_NEXT(v, f) ((v)->f.tqe_next)
#define TAILQ_EMPTY(head) ((head)->tqh_first == NULL)
#define TAILQ_FOREACH(v, head, f)                                              \
	for ((v) = (head)->tqh_first; (v) != NULL; (v) = (v)->f.tqe_next)
#define TAILQ_FOREACH_SAFE(v, head, f, next)                                   \
	for ((v) = (head)->tqh_first;                                          \
	    (v) != NULL && ((next) = (v)->f.tqe_next, 1); (v) = (next))
#define json_object_object_foreach(obj, key, val)                              \
	char *key = json_object_key_of(obj);                                   \
	struct json_object *val = json_object_val_of(obj);                     \
	for (; key != NULL; key = json_object_key_of(obj))
/* clang-format on */

#endif
