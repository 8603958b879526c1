/* SPDX-License-Identifier: ISC */
/*
 * Shows arguments value by value, so that a long one cannot hide those after
 * it.
 */
#include "icctl/hold/hold_view_text.h"

#include "common/json/json.h"
#include "common/sha256.h"
#include "common/visible.h"

#define TEXT_MAX (64U << 20)
#define TEXT_LONG 420U /* bytes of a text that is shown in full */
#define TEXT_HEAD 260U
#define TEXT_TAIL 120U
#define TEXT_LEAVES 100U /* values of one call, without --full */
#define TEXT_PATH (1U << 20)

static void
put(struct hold_text *t, struct span s, unsigned flags)
{
	struct buf b;

	buf_init(&b, TEXT_MAX);
	if (visible_add(&b, s, t->flags | flags) != 0) {
		fputs("(too long to be shown)", t->out);
		t->left_out = true;
	} else if (b.len != 0) /* fwrite takes no null pointer */
		(void)fwrite(buf_span(&b).p, 1, b.len, t->out);
	buf_free(&b);
}

void
hold_text_plain(struct hold_text *t, struct span s)
{
	put(t, s, 0);
}

void
hold_text_again(struct hold_text *t, struct span s)
{
	put(t, s, VISIBLE_AGAIN);
}

void
hold_text_quoted(struct hold_text *t, struct span s)
{
	fputc('"', t->out);
	put(t, s, VISIBLE_QUOTED);
	fputc('"', t->out);
}

/* Show the beginning and the end, and how much was left out. */
static void
put_long(struct hold_text *t, struct span s)
{
	size_t head = visible_cut(s, TEXT_HEAD), tail = s.len - TEXT_TAIL;
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];

	t->left_out = true;
	while (tail < s.len && (s.p[tail] & 0xc0) == 0x80)
		tail++;
	hold_text_quoted(t, span_of(s.p, head));
	sha256_span(s, sum);
	fprintf(t->out,
	    " [%zu more bytes, sha256 of all %.16s: icctl show "
	    "--full ",
	    tail - head, sha256_hex(sum, hex));
	hold_text_plain(t, t->id);
	fputs("] ", t->out);
	hold_text_quoted(t, span_of(s.p + tail, s.len - tail));
}

static void
put_leaf(struct hold_text *t, struct span path, const struct value *v)
{
	struct buf b;

	t->leaves++;
	if (!t->full && t->leaves > TEXT_LEAVES) {
		t->left_out = true;
		return;
	}
	fputs("    ", t->out);
	put(t, path, VISIBLE_AGAIN);
	fputs(" = ", t->out);
	if (v->type == VALUE_STRING && !t->full && v->text.len > TEXT_LONG) {
		put_long(t, v->text);
	} else if (v->type == VALUE_STRING) {
		hold_text_quoted(t, v->text);
	} else {
		buf_init(&b, TEXT_MAX);
		t->left_out = json_write(&b, v) == -1 || t->left_out;
		hold_text_plain(t, buf_span(&b));
		buf_free(&b);
	}
	fputc('\n', t->out);
}

/* Add a member's name, in quotes if it could be mistaken for a path. */
static void
add_name(struct buf *path, struct span name)
{
	bool plain = name.len != 0;

	for (size_t i = 0; i < name.len && plain; i++)
		plain = name.p[i] > ' ' && name.p[i] != '.' &&
			name.p[i] != '[' && name.p[i] != '"' &&
			name.p[i] != '=';
	if (!plain)
		buf_addc(path, '"');
	(void)visible_add(path, name, plain ? 0 : VISIBLE_QUOTED);
	if (!plain)
		buf_addc(path, '"');
}

static void
put_tree(struct hold_text *t, struct buf *path, const struct value *v)
{
	size_t was = path->len;
	unsigned i = 0;

	if ((v->type != VALUE_ARRAY && v->type != VALUE_OBJECT) ||
	    v->child == NULL) {
		put_leaf(t, buf_span(path), v);
		return;
	}
	for (const struct value *c = v->child; c != NULL; c = c->next) {
		if (v->type == VALUE_ARRAY) {
			buf_printf(path, "[%u]", i++);
		} else {
			buf_addc(path, '.');
			add_name(path, c->key);
		}
		/* Its name is cut. */
		t->left_out = t->left_out || path->failed;
		put_tree(t, path, c);
		path->len = was;
		path->failed = false;
	}
}

static bool
is_resource(json_object *resources, struct span argument, struct span value)
{
	json_object *o, *a, *v;

	for (size_t i = 0; i < json_object_array_length(resources); i++) {
		o = json_object_array_get_idx(resources, i);
		if (json_object_object_get_ex(o, "argument", &a) &&
		    json_object_object_get_ex(o, "value", &v) &&
		    span_eq(
			argument, span_of(json_object_get_string(a),
				      (size_t)json_object_get_string_len(a))) &&
		    span_eq(value, span_of(json_object_get_string(v),
				       (size_t)json_object_get_string_len(v))))
			return true;
	}
	return false;
}

/* Returns true for a string, or an array of strings, that are all resources. */
static bool
is_shown(const struct value *v, json_object *resources)
{
	if (v->type == VALUE_STRING)
		return is_resource(resources, v->key, v->text);
	if (v->type != VALUE_ARRAY || v->child == NULL)
		return false;
	for (const struct value *c = v->child; c != NULL; c = c->next)
		if (c->type != VALUE_STRING ||
		    !is_resource(resources, v->key, c->text))
			return false;
	return true;
}

void
hold_text_arguments(
    struct hold_text *t, const struct value *arguments, json_object *resources)
{
	struct buf path;
	bool any = false;

	t->leaves = 0;
	buf_init(&path, TEXT_PATH);
	for (const struct value *v = arguments->child; v != NULL; v = v->next) {
		if (is_shown(v, resources))
			continue;
		if (!any)
			fputs("  arguments\n", t->out);
		any = true;
		add_name(&path, v->key);
		put_tree(t, &path, v);
		buf_reset(&path, TEXT_PATH);
	}
	buf_free(&path);
	if (t->full || t->leaves <= TEXT_LEAVES)
		return;
	fprintf(t->out, "    and %u more values: icctl show --full ",
	    t->leaves - TEXT_LEAVES);
	hold_text_plain(t, t->id);
	fputc('\n', t->out);
}
