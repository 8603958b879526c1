/* SPDX-License-Identifier: ISC */
/* Arguments of a tool call, checked against the types of its schema. */
#include "icfs/icfs.h"

#include <stdlib.h>

static const char *
kind_of(const struct value *v)
{
	return v == NULL ? "missing" : value_type_name(v->type);
}

int
icfs_arg_string(struct icfs *f, const struct value *args, const char *name,
    struct span *out)
{
	const struct value *v = value_get(args, name);

	if (v == NULL || v->type != VALUE_STRING)
		return icfs_why(f,
		    "Invalid arguments: %s must be a string, it is %s", name,
		    kind_of(v));
	*out = v->text;
	return 0;
}

int
icfs_arg_number(
    struct icfs *f, const struct value *args, const char *name, double *out)
{
	const struct value *v = value_get(args, name);
	char text[VALUE_MAX_NUMBER + 1];
	double n;

	if (v == NULL)
		return 0;
	if (v->type != VALUE_NUMBER ||
	    span_copy(v->text, text, sizeof(text)) == -1)
		return icfs_why(f,
		    "Invalid arguments: %s must be a number, it is %s", name,
		    kind_of(v));
	n = strtod(text, NULL);
	/* No file is longer than this. */
	*out = n > 1e15 ? 1e15 : n < -1e15 ? -1e15 : n;
	return 0;
}

int
icfs_arg_bool(
    struct icfs *f, const struct value *args, const char *name, bool *out)
{
	const struct value *v = value_get(args, name);

	if (v == NULL)
		return 0;
	if (v->type != VALUE_TRUE && v->type != VALUE_FALSE)
		return icfs_why(f,
		    "Invalid arguments: %s must be a boolean, it is %s", name,
		    kind_of(v));
	*out = v->type == VALUE_TRUE;
	return 0;
}

int
icfs_arg_strings(struct icfs *f, const struct value *args, const char *name,
    const struct value **out)
{
	const struct value *array = value_get(args, name), *v;

	*out = array;
	if (array == NULL)
		return 0;
	if (array->type != VALUE_ARRAY)
		return icfs_why(f,
		    "Invalid arguments: %s must be an array, it is %s", name,
		    kind_of(array));
	for (v = array->child; v != NULL; v = v->next) {
		if (v->type != VALUE_STRING)
			return icfs_why(f,
			    "Invalid arguments: %s must hold strings, not %s",
			    name, kind_of(v));
	}
	return 0;
}
