/* SPDX-License-Identifier: ISC */
/*
 * Writes the names by which links lead to a call's paths. What is sent has the
 * paths without links; the names are shown, recorded, and part of what an
 * approval is bound to.
 */
#include "policyd.h"

#include "common/json/json.h"

void
named_put(struct buf *b, const struct path *path)
{
	const char *sep = "\"links\":[";

	for (unsigned i = 0; i < path->npassed; i++) {
		buf_adds(b, sep);
		(void)json_write_string(b, path->passed[i].host);
		sep = ",";
	}
	buf_adds(b, "],\"named\":");
	(void)json_write_string(b, path->named);
}

int
named_compose(struct buf *b, const struct work *k, struct composed *c)
{
	const struct arg_value *v;

	c->named_off = (uint32_t)b->len;
	for (size_t i = 0; i < k->args.n; i++) {
		v = &k->args.values[i];
		if (!v->has_path || v->path.npassed == 0 || v->node == NULL)
			continue;
		buf_adds(b, b->len == c->named_off ? "[{\"argument\":"
						   : ",{\"argument\":");
		(void)json_write_string(b, v->arg->name);
		buf_addc(b, ',');
		named_put(b, &v->path);
		buf_adds(b, ",\"value\":");
		(void)json_write_string(b, v->node->text);
		buf_addc(b, '}');
	}
	if (b->len != c->named_off)
		buf_addc(b, ']');
	c->named_len = (uint32_t)b->len - c->named_off;
	return b->failed || c->named_len > PROTO_MAX_TREE ? -1 : 0;
}
