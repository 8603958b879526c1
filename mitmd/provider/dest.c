/* SPDX-License-Identifier: ISC */
/*
 * The parts that all kinds of destinations share. Paths come from the agent, or
 * from a mitmd that it has taken over. Keeps no state.
 */
#include "provider/dest.h"

#include "provider/class.h"

static const struct dest_kind *const dest_kinds[] = {
    &dest_web, &dest_registry, &dest_git, &dest_mcp, &dest_forge};

int
dest_parse(struct parse *ps, const struct value *file)
{
	const struct value *kind = value_get(file, "kind");

	for (size_t i = 0; i < nitems(dest_kinds); i++)
		if (kind->type == VALUE_STRING &&
		    span_is(kind->text, dest_kinds[i]->name))
			ps->p->dest = dest_kinds[i];
	if (ps->p->dest == NULL)
		return parse_fail(ps, "kind: unknown");
	ps->p->filter = filter_dflt;
	return ps->p->dest->parse(ps, file);
}

int
dest_parse_common(struct parse *ps, const struct value *file)
{
	const struct value *cred = value_get(file, "credential");
	struct provider *p = ps->p;

	if (parse_text(ps, value_get(file, "name"), "name", provider_is_label,
		&p->name) == -1 ||
	    parse_hosts(ps, file) == -1)
		return -1;
	return cred == NULL ? 0 : parse_credential(ps, cred);
}

int
dest_list(struct parse *ps, const char *const *names, struct provider_list *out)
{
	unsigned n = 0;

	while (names[n] != NULL)
		n++;
	if ((out->names = parse_alloc(ps, n, sizeof(*out->names))) == NULL)
		return -1;
	for (out->n = 0; out->n < n; out->n++)
		out->names[out->n] = span_str(names[out->n]);
	return 0;
}

static int
dest_hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Check for pchar and the characters of `more`, plain or escaped; never raw
 * bytes above ASCII.
 */
static bool
dest_is_text(struct span s, const char *more)
{
	int high, low;
	uint8_t c;

	for (size_t i = 0; i < s.len; i++) {
		c = s.p[i];
		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') ||
		    (c != '\0' && (strchr("-._~!$&'()*+,;=:@", c) != NULL ||
				      strchr(more, c) != NULL)))
			continue;
		if (c != '%' || s.len - i < 3 ||
		    (high = dest_hex(s.p[i + 1])) == -1 ||
		    (low = dest_hex(s.p[i + 2])) == -1)
			return false;
		c = (uint8_t)(high << 4 | low);
		if (c < 0x20 || c == 0x7f || strchr("/\\.", c) != NULL)
			return false;
		i += 2;
	}
	return true;
}

bool
dest_is_path(struct span path)
{
	struct span seg = span_of(NULL, 0);

	if (path.len == 0 || path.len > PROVIDER_MAX_PATH || path.p[0] != '/' ||
	    !dest_is_text(path, "/"))
		return false;
	for (size_t i = 1; i <= path.len; i++) {
		if (i < path.len && path.p[i] != '/') {
			seg.len++;
			continue;
		}
		seg.p = path.p + i - seg.len;
		if ((seg.len == 0 && i != path.len) || span_is(seg, ".") ||
		    span_is(seg, ".."))
			return false;
		seg.len = 0;
	}
	return true;
}

bool
dest_is_query(struct span query)
{
	return query.len <= PROVIDER_MAX_QUERY && dest_is_text(query, "/?");
}
