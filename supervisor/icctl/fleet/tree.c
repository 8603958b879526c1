/* SPDX-License-Identifier: ISC */
/* Makes objects of trees, whose depth value_decode() has checked. */
#include "icctl/fleet/priv.h"

#include <errno.h>
#include <stdlib.h>

static json_object *
tree_number(struct span text)
{
	char digits[VALUE_MAX_NUMBER + 1], *end;
	long long n;

	if (span_copy(text, digits, sizeof(digits)) == -1)
		return json_object_new_int64(0);
	errno = 0;
	n = strtoll(digits, &end, 10);
	if (*end == '\0' && errno == 0)
		return json_object_new_int64(n);
	return json_object_new_double(strtod(digits, NULL));
}

size_t
tree_weight(const struct value *v)
{
	size_t sum = 64 + v->key.len + v->text.len;

	if (v->type == VALUE_OBJECT || v->type == VALUE_ARRAY)
		sum += v->type == VALUE_OBJECT ? 800 : 320;
	for (const struct value *m = v->child; m != NULL; m = m->next)
		sum += tree_weight(m);
	return sum;
}

json_object *
tree_object(const struct value *v)
{
	json_object *o;
	char *key;

	switch (v->type) {
	case VALUE_FALSE:
	case VALUE_TRUE:
		return json_object_new_boolean(v->type == VALUE_TRUE);
	case VALUE_NUMBER:
		return tree_number(v->text);
	case VALUE_STRING:
		return json_object_new_string_len(
		    (const char *)v->text.p, (int)v->text.len);
	case VALUE_ARRAY:
		o = json_object_new_array();
		for (const struct value *m = v->child; m != NULL; m = m->next)
			(void)json_object_array_add(o, tree_object(m));
		return o;
	case VALUE_OBJECT:
		o = json_object_new_object();
		for (const struct value *m = v->child; m != NULL; m = m->next) {
			/* A name with a NUL is none of ours. */
			if ((key = span_dup(m->key)) == NULL)
				continue;
			(void)json_object_object_add(o, key, tree_object(m));
			free(key);
		}
		return o;
	case VALUE_NULL:
		break;
	}
	return NULL;
}
