/* SPDX-License-Identifier: ISC */
/*
 * Reads compiled-policy.json. Trusts nothing in it: it may come from a
 * generator or another system. Anything unknown within a condition is refused;
 * elsewhere it is ignored with a warning.
 */
#include "engine/rules.h"

#include "common/json/json.h"
#include "common/log.h"
#include "common/sha256.h"

bool
rule_names(const struct value *array, struct span name)
{
	const struct value *v;

	if (array == NULL)
		return true;
	for (v = array->child; v != NULL; v = v->next) {
		if (span_eq(v->text, name))
			return true;
	}
	return false;
}

bool
rule_of_parts(const struct rule *r)
{
	return r->resources != NULL || r->prompts != NULL ||
	       r->completion != NULL;
}

bool
rule_pattern(struct span pattern, struct span name)
{
	size_t p = 0, n = 0, star = SIZE_MAX, from = 0;

	while (n < name.len) {
		if (p < pattern.len && pattern.p[p] == '*') {
			star = p++;
			from = n;
		} else if (p < pattern.len && pattern.p[p] == name.p[n]) {
			p++;
			n++;
		} else if (star != SIZE_MAX) {
			/* Let the last * have one more letter. */
			p = star + 1;
			n = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.p[p] == '*')
		p++;
	return p == pattern.len;
}

int
rule_digest(const struct rule *r, uint8_t digest[32])
{
	struct buf b;
	int rv;

	buf_init(&b, PROTO_MAX_TREE);
	if ((rv = json_write(&b, r->source)) == 0)
		sha256_span(buf_span(&b), digest);
	buf_free(&b);
	return rv;
}

/* Refuse unknown members of a condition: each may be a limit. */
static int
known_only(struct load *l, struct where *at, const struct value *obj,
    const char *const *known, const char *say)
{
	const struct value *v;
	const char *const *k;
	char vis[80];

	for (v = obj->child; v != NULL; v = v->next) {
		for (k = known; *k != NULL && !span_is(v->key, *k); k++)
			continue;
		if (*k != NULL)
			continue;
		where_down(at, ".%s", log_vis(v->key, vis, sizeof(vis)));
		return load_fail(l, at, "unknown condition; known are %s", say);
	}
	return 0;
}

static int
load_role_list(struct load *l, struct where *at, const struct value *obj,
    bool required, uint32_t *mask, bool *there)
{
	const struct value *array;
	uint8_t list[ARG_COUNT];
	size_t up = at->len;
	unsigned n;

	if (load_array(l, at, obj, "roles", required, &array) == -1)
		return -1;
	*there = array != NULL;
	if (array == NULL)
		return 0;
	where_down(at, ".roles");
	if (load_roles(l, at, array, list, &n, mask) == -1)
		return -1;
	if (n == 0 && required)
		return load_fail(l, at, "must name a role");
	where_up(at, up);
	return 0;
}

/* Check paths.links. A rule that withholds holds whatever the links are. */
static int
check_links(struct load *l, struct where *at, const struct rule *r)
{
	size_t up = where_down(at, ".links");
	const struct value *v;

	if (r->links != NULL && r->then != PROTO_ALLOW)
		return load_fail(l, at, "is only for rules that allow");
	for (v = r->links == NULL ? NULL : r->links->child; v != NULL;
	     v = v->next) {
		if (v->text.len == 0 || v->text.p[0] != '/')
			return load_fail(l, at, "must be absolute paths");
	}
	where_up(at, up);
	return 0;
}

static int
load_paths(
    struct load *l, struct where *at, const struct value *obj, struct rule *r)
{
	static const char *const known[] = {"roles", "within", "links", NULL};
	struct span w;
	size_t up;

	if (known_only(l, at, obj, known, "roles, within, links") == -1 ||
	    load_role_list(l, at, obj, true, &r->path_roles, &r->has_paths) ==
		-1 ||
	    load_string(l, at, obj, "within", true, 4095, &r->within) == -1 ||
	    load_strings(l, at, obj, "links", false, &r->links) == -1 ||
	    check_links(l, at, r) == -1)
		return -1;
	up = where_down(at, ".within");
	w = r->within;
	if (w.p[0] != '/' && !span_is(w, "~") && !span_starts(w, SPAN("~/")))
		return load_fail(l, at, "must be an absolute path or ~/...");
	where_up(at, up);
	if (r->path_roles & ~ARGS_PATH)
		load_warn(l, at, "names a role that no path has");
	return 0;
}

static int
load_domains(
    struct load *l, struct where *at, const struct value *obj, struct rule *r)
{
	static const char *const known[] = {"roles", "allowed", NULL};

	if (known_only(l, at, obj, known, "roles, allowed") == -1)
		return -1;
	return load_role_list(
		   l, at, obj, true, &r->domain_roles, &r->has_domains) == -1 ||
		       load_strings(l, at, obj, "allowed", true, &r->domains) ==
			   -1
		   ? -1
		   : 0;
}

static int
load_list_condition(struct load *l, struct where *at, const struct value *obj,
    struct rule_list *out)
{
	static const char *const known[] = {
	    "roles", "allowed", "matchType", NULL};
	struct span type;
	bool there;

	if (obj->type != VALUE_OBJECT)
		return load_fail(l, at, "must be an object");
	if (known_only(l, at, obj, known, "roles, allowed, matchType") == -1 ||
	    load_role_list(l, at, obj, true, &out->roles, &there) == -1 ||
	    load_strings(l, at, obj, "allowed", true, &out->allowed) == -1 ||
	    load_string(l, at, obj, "matchType", true, 32, &type) == -1)
		return -1;
	if (match_type_find(type, &out->type) == -1) {
		where_down(at, ".matchType");
		return load_fail(
		    l, at, "must be domains, emails or identifiers");
	}
	return 0;
}

static int
load_lists(struct load *l, struct load_doc *doc, struct where *at,
    const struct value *array, struct rule *r)
{
	const struct value *v;
	size_t up;

	if (array->count > RULES_MAX_LISTS)
		return load_fail(
		    l, at, "has more than %u conditions", RULES_MAX_LISTS);
	if ((r->lists = load_alloc(l, doc, array->count, sizeof(*r->lists))) ==
	    NULL)
		return -1;
	for (v = array->child; v != NULL; v = v->next) {
		up = where_down(at, "[%u]", r->nlists);
		if (load_list_condition(l, at, v, &r->lists[r->nlists]) == -1)
			return -1;
		r->list_roles |= r->lists[r->nlists++].roles;
		where_up(at, up);
	}
	return 0;
}

/* Such a rule may name servers, and has no condition on arguments of tools. */
static int
load_parts(
    struct load *l, struct where *at, const struct value *obj, struct rule *r)
{
	static const char *const known[] = {
	    "server", "resources", "prompts", "completion", NULL};

	if (load_strings(l, at, obj, "resources", false, &r->resources) == -1 ||
	    load_strings(l, at, obj, "prompts", false, &r->prompts) == -1 ||
	    load_strings(l, at, obj, "completion", false, &r->completion) == -1)
		return -1;
	if (!rule_of_parts(r))
		return 0;
	return known_only(l, at, obj, known,
	    "server, resources, prompts and completion in a rule that has one "
	    "of the last three");
}

/* Read the "if" of a rule. */
static int
load_conditions(struct load *l, struct load_doc *doc, struct where *at,
    const struct value *obj, struct rule *r)
{
	static const char *const known[] = {"roles", "server", "tool", "paths",
	    "domains", "lists", "resources", "prompts", "completion", NULL};
	const struct value *paths, *domains, *lists;
	size_t up = at->len;

	if (known_only(l, at, obj, known,
		"roles, server, tool, paths, domains, lists, resources, "
		"prompts, completion") == -1 ||
	    load_parts(l, at, obj, r) == -1 ||
	    load_role_list(l, at, obj, false, &r->roles, &r->has_roles) == -1 ||
	    load_strings(l, at, obj, "server", false, &r->servers) == -1 ||
	    load_strings(l, at, obj, "tool", false, &r->tools) == -1 ||
	    load_object(l, at, obj, "paths", false, &paths) == -1 ||
	    load_object(l, at, obj, "domains", false, &domains) == -1 ||
	    load_array(l, at, obj, "lists", false, &lists) == -1)
		return -1;
	if (paths != NULL) {
		where_down(at, ".paths");
		if (load_paths(l, at, paths, r) == -1)
			return -1;
		where_up(at, up);
	}
	if (domains != NULL) {
		where_down(at, ".domains");
		if (load_domains(l, at, domains, r) == -1)
			return -1;
		where_up(at, up);
	}
	if (lists != NULL) {
		where_down(at, ".lists");
		if (load_lists(l, doc, at, lists, r) == -1)
			return -1;
		where_up(at, up);
	}
	return 0;
}

static int
load_then(struct load *l, struct where *at, const struct value *obj,
    enum proto_status *out)
{
	struct span then;

	if (load_string(l, at, obj, "then", true, 32, &then) == -1)
		return -1;
	if (span_is(then, "allow"))
		*out = PROTO_ALLOW;
	else if (span_is(then, "escalate"))
		*out = PROTO_ESCALATE;
	else if (span_is(then, "deny"))
		*out = PROTO_DENY;
	else {
		where_down(at, ".then");
		return load_fail(l, at, "must be allow, deny or escalate");
	}
	return 0;
}

/* "autoApprove": false: only a person answers what this rule asks about. */
static int
load_person(
    struct load *l, struct where *at, const struct value *obj, bool *person)
{
	const struct value *v = value_get(obj, "autoApprove");

	*person = false;
	if (v == NULL)
		return 0;
	where_down(at, ".autoApprove");
	if (v->type != VALUE_FALSE && v->type != VALUE_TRUE)
		return load_fail(l, at, "must be true or false");
	*person = v->type == VALUE_FALSE;
	where_up(at, at->len - (sizeof(".autoApprove") - 1));
	return 0;
}

static int
load_rule(struct load *l, struct load_doc *doc, struct where *at,
    const struct value *obj, struct rule *r)
{
	static const char *const known[] = {"name", "description", "principle",
	    "if", "then", "reason", "serverName", "autoApprove", NULL};
	const struct value *cond;
	size_t up;

	if (obj->type != VALUE_OBJECT)
		return load_fail(l, at, "must be an object");
	load_unknown(l, at, obj, known);
	r->source = obj;
	if (load_string(l, at, obj, "name", true, LOAD_MAX_NAME, &r->name) ==
		-1 ||
	    load_string(l, at, obj, "reason", true, LOAD_MAX_REASON,
		&r->reason) == -1 ||
	    load_then(l, at, obj, &r->then) == -1 ||
	    load_person(l, at, obj, &r->person) == -1 ||
	    load_object(l, at, obj, "if", true, &cond) == -1)
		return -1;
	up = where_down(at, ".if");
	if (load_conditions(l, doc, at, cond, r) == -1)
		return -1;
	where_up(at, up);
	return 0;
}

static int
load_all(struct load *l, struct rules *rs, const struct value *array)
{
	struct where at = {.len = 0};
	const struct value *v;

	if (array->count > RULES_MAX)
		return load_fail(l, NULL, "more than %u rules", RULES_MAX);
	if ((rs->rules = load_alloc(
		 l, &rs->doc, array->count, sizeof(*rs->rules))) == NULL)
		return -1;
	for (v = array->child; v != NULL; v = v->next) {
		where_up(&at, 0);
		where_down(&at, "rules[%zu]", rs->n);
		if (load_rule(l, &rs->doc, &at, v, &rs->rules[rs->n]) == -1)
			return -1;
		rs->n++;
	}
	return 0;
}

/*
 * Lists are used by name; their definitions only document how they were made.
 */
static int
check_definitions(struct load *l, const struct value *root)
{
	const struct value *array, *v;
	struct where at = {.len = 0};
	enum match_type type;
	struct span s;
	size_t i = 0;

	if (load_array(l, &at, root, "listDefinitions", false, &array) == -1)
		return -1;
	if (array == NULL)
		return 0;
	for (v = array->child; v != NULL; v = v->next, i++) {
		where_up(&at, 0);
		where_down(&at, "listDefinitions[%zu]", i);
		if (v->type != VALUE_OBJECT)
			return load_fail(l, &at, "must be an object");
		if (load_string(l, &at, v, "name", true, LOAD_MAX_NAME, &s) ==
			-1 ||
		    load_string(l, &at, v, "type", true, 32, &s) == -1)
			return -1;
		if (match_type_find(s, &type) == -1) {
			where_down(&at, ".type");
			return load_fail(
			    l, &at, "must be domains, emails or identifiers");
		}
	}
	return 0;
}

/* Read "workspace", which only a policy that keeps it as it is has. */
static int
load_workspace(struct load *l, struct where *at, struct rules *rs)
{
	struct span s = span_of(NULL, 0);

	if (load_string(l, at, rs->doc.root, "workspace", false, 32, &s) == -1)
		return -1;
	rs->read_only = s.p != NULL;
	if (s.p == NULL || span_is(s, "read-only"))
		return 0;
	(void)where_down(at, "workspace");
	return load_fail(l, at, "must be read-only, if it is there");
}

int
rules_load(struct rules *out, struct span text, struct load *l)
{
	static const char *const known[] = {"generatedAt", "constitutionHash",
	    "inputHash", "rules", "listDefinitions", "skippedServers",
	    "serverName", "workspace", NULL};
	struct where at = {.len = 0};
	const struct value *array;
	struct rules rs = {0};

	if (load_doc(l, text, &rs.doc) == -1)
		return -1;
	load_unknown(l, &at, rs.doc.root, known);
	if (load_array(l, &at, rs.doc.root, "rules", true, &array) == -1 ||
	    load_string(l, &at, rs.doc.root, "constitutionHash", false, 128,
		&rs.constitution) == -1 ||
	    load_workspace(l, &at, &rs) == -1 ||
	    check_definitions(l, rs.doc.root) == -1 ||
	    load_all(l, &rs, array) == -1)
		goto bad;
	*out = rs;
	return 0;
bad:
	rules_free(&rs);
	return -1;
}

void
rules_free(struct rules *rs)
{
	load_doc_free(&rs->doc);
	*rs = (struct rules){0};
}
