/* SPDX-License-Identifier: ISC */
/*
 * The identity of a server: the part of its entry that decides which program
 * runs. Tools are pinned together with it, and the user approves a change of
 * it. A key that is renewed, in the environment or in an argument, changes
 * nothing here.
 */
#include "files/servers_priv.h"

#include <errno.h>
#include <string.h>

#include "base/secret.h"
#include "common/json/json.h"

#define IDENTITY_MAX (8U << 20)

/* An argument whose secret, if it has one, is left out. */
static struct value *
identity_argument(struct value_pool *p, const char *before, const char *arg)
{
	const char *value = NULL;
	struct buf b;
	struct value *v;

	if (strstr(arg, "${") != NULL ||
	    !secret_like_argument(before, arg, &value) || value < arg)
		return value_new_string(p, span_str(arg));
	buf_init(&b, IDENTITY_MAX);
	buf_add(&b, arg, (size_t)(value - arg));
	buf_adds(&b, "(secret)");
	v = b.failed ? NULL : value_new_string(p, buf_span(&b));
	/* The value's text is the buffer's. */
	if (v != NULL)
		v = value_copy(p, v);
	buf_free(&b);
	return v;
}

static int
identity_members(
    struct value_pool *p, const struct server_def *d, struct value *o)
{
	struct value *args = value_new(p, VALUE_ARRAY);
	struct value *env = value_new(p, VALUE_OBJECT);
	const char *before = "", *eq;

	for (char **a = d->args; a != NULL && *a != NULL; before = *a++)
		if (value_append(args, identity_argument(p, before, *a)) == -1)
			return -1;
	for (char **e = d->env; e != NULL && *e != NULL; e++)
		if ((eq = strchr(*e, '=')) != NULL)
			(void)value_set(env, span_of(*e, (size_t)(eq - *e)),
			    value_new(p, VALUE_TRUE));
	if (d->copy != NULL &&
	    value_set(o, SPAN("copy"),
		value_new_string(p, span_str(d->copy_sum))) == -1)
		return -1;
	if (value_set(o, SPAN("args"), args) == -1 ||
	    value_set(o, SPAN("command"),
		value_new_string(p, span_str(d->command))) == -1)
		return -1;
	return value_set(o, SPAN("env"), env);
}

char *
servers_identity(const struct server_def *d)
{
	struct value_pool *p = value_pool_new(IDENTITY_MAX);
	struct value *o;
	char *text = NULL;
	struct buf b;

	errno = ENOMEM;
	if (p == NULL)
		return NULL;
	buf_init(&b, IDENTITY_MAX);
	o = value_new(p, VALUE_OBJECT);
	if (o != NULL && identity_members(p, d, o) == 0 &&
	    json_write(&b, o) == 0)
		text = span_dup(buf_span(&b));
	buf_free(&b);
	value_pool_free(p);
	return text;
}
