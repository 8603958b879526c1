/* SPDX-License-Identifier: ISC */
/*
 * Checks values that an agent chose against closed lists of members: arguments
 * and inputs of GraphQL, queries and bodies of REST. A member that the list
 * does not have is refused, since no sentence would tell of it.
 */
#include "common/forge/forge_priv.h"

#include <errno.h>

#include "common/json/text.h"

const struct forge_member *
forge_member_find(const struct forge_member *m, struct span name)
{
	for (; m->name != NULL; m++) {
		if (span_is(name, m->name))
			return m;
	}
	return NULL;
}

bool
forge_id_valid(struct span id)
{
	if (id.len == 0 || id.len > FORGE_MAX_ID)
		return false;
	for (size_t i = 0; i < id.len; i++) {
		uint8_t c = id.p[i];

		if (!text_is_digit(c) && (c < 'a' || c > 'z') &&
		    (c < 'A' || c > 'Z') && c != '_' && c != '=' && c != '-')
			return false;
	}
	return true;
}

static bool
login_valid(struct span s)
{
	if (s.len == 0 || s.len > 100)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		/* "@me", "app/dependabot", "octo[bot]", "owner/team". */
		if (!text_is_digit(c) && (c < 'a' || c > 'z') &&
		    (c < 'A' || c > 'Z') && strchr("-_.@/[]", c) == NULL)
			return false;
	}
	return memchr(s.p, '\0', s.len) == NULL;
}

size_t
forge_ref_find(const struct forge_call *call, struct span id, uint32_t is)
{
	const struct forge_ref *r = call->refs;
	size_t i = 0;

	/* A number says little: a person may have that of an issue. */
	for (; i < call->nrefs; i++, r++) {
		if (span_eq(r->id, id) &&
		    (r->kind == FORGE_REF_NODE || (r->is & is) != 0))
			break;
	}
	return i;
}

int
forge_ref_add(struct forge_call *call, const struct forge_ref *ref,
    struct forge_fail *fail)
{
	struct forge_ref *old;
	size_t i = forge_ref_find(call, ref->id, ref->is);

	if (i < call->nrefs) {
		old = &call->refs[i];
		if (old->kind != ref->kind || (old->is & ref->is) == 0)
			return forge_refuse(fail,
			    "\"%s\" and \"%s\" cannot "
			    "both be the same thing",
			    old->role, ref->role);
		old->is &= ref->is;
		return 0;
	}
	if (call->nrefs == FORGE_MAX_REFS)
		return forge_refuse(fail,
		    "the request names more than %u "
		    "things by their ids",
		    FORGE_MAX_REFS);
	call->refs[call->nrefs++] = *ref;
	return 0;
}

/* Returns true if `owner` owns a repository of the list. */
static bool
owner_listed(const struct forge_grant *grant, struct span owner)
{
	struct span name;

	for (size_t i = 0; i < grant->nrepositories; i++) {
		name = grant->repositories[i];
		if (name.len > owner.len && name.p[owner.len] == '/' &&
		    span_ieq(span_of(name.p, owner.len), owner))
			return true;
	}
	return false;
}

static int
role_check(struct forge_call *call, const struct forge_member *m,
    const struct value *v, struct forge_fail *fail)
{
	char brief[FORGE_BRIEF];
	struct forge_ref ref;

	switch (m->role) {
	case FORGE_REF:
		/* Nobody, or nothing. */
		if (m->form == FORGE_INT && span_is(v->text, "0"))
			return 0;
		ref = (struct forge_ref){.kind = FORGE_REF_NODE,
		    .is = m->is,
		    .id = v->text,
		    .role = m->name};
		if (m->form == FORGE_INT) {
			if (!forge_digits_valid(v->text))
				return forge_refuse(
				    fail, "\"%s\" is no number", m->name);
			ref.kind = m->is == FORGE_IS_PROJECT ? FORGE_REF_PROJECT
							     : FORGE_REF_USER;
		}
		return forge_ref_add(call, &ref, fail);
	case FORGE_OWNER:
		if (!owner_listed(call->grant, v->text))
			return forge_refuse(fail,
			    "\"%s\" owns no repository "
			    "of this destination's list; do not try again",
			    forge_brief(v->text, brief));
		return 0;
	case FORGE_SEARCH:
		return forge_search_check(call->grant, v->text, fail);
	case FORGE_NAME:
		if (v->text.len != 0 && !forge_text_valid(v->text, 255))
			return forge_refuse(fail,
			    "\"%s\" is no name of a "
			    "branch or a tag",
			    m->name);
		return 0;
	case FORGE_LOGIN:
		if (v->text.len != 0 && !login_valid(v->text))
			return forge_refuse(
			    fail, "\"%s\" is no login", m->name);
		return 0;
	case FORGE_FIXED:
		if (!span_is(v->text, m->words[0]))
			return forge_refuse(fail, "\"%s\" has to be \"%s\"",
			    m->name, m->words[0]);
		return 0;
	case FORGE_TEXT:
		/* GitLab would merge, close or assign for the word of a text.
		 */
		if (call->grant->kind == FORGE_GITLAB &&
		    forge_quick_action(v->text, &ref.id))
			return forge_refuse(fail,
			    "a line of \"%s\" begins "
			    "with %s, which GitLab could carry out; write it "
			    "differently",
			    m->name, forge_brief(ref.id, brief));
		return 0;
	case FORGE_PLAIN:
	case FORGE_REPO:
		return 0;
	case FORGE_NONE:
		break;
	}
	return forge_refuse(fail, "\"%s\" is not permitted here", m->name);
}

static bool
form_fits(const struct forge_call *call, const struct forge_member *m,
    const struct value *v)
{
	/* An Int of GraphQL has 32 bits; numbers of REST grow. */
	const int64_t most = call->route == NULL ? INT32_MAX : INT64_MAX;
	const char *const *word = m->words;
	int64_t n;

	switch (m->form) {
	case FORGE_STRING:
		return v->type == VALUE_STRING;
	case FORGE_INT:
		return v->type == VALUE_NUMBER &&
		       value_int(v, INT32_MIN, most, &n) == 0;
	case FORGE_BOOL:
		return v->type == VALUE_TRUE || v->type == VALUE_FALSE;
	case FORGE_ID:
		return v->type == VALUE_STRING && forge_id_valid(v->text);
	case FORGE_ENUM:
		if (v->type != VALUE_STRING)
			return false;
		while (*word != NULL && !span_is(v->text, *word))
			word++;
		return *word != NULL;
	case FORGE_INPUT:
		return v->type == VALUE_OBJECT;
	}
	return false;
}

static const char *
form_name(const struct forge_member *m)
{
	switch (m->form) {
	case FORGE_STRING:
		return "a string";
	case FORGE_INT:
		return "an integer";
	case FORGE_BOOL:
		return "true or false";
	case FORGE_ID:
		return "an id of letters, digits, \"_\", \"=\" and \"-\"";
	case FORGE_ENUM:
		return "one of its words";
	case FORGE_INPUT:
		return "an object";
	}
	return "something else";
}

/* Check one value that is no list and not null. */
static int
value_check(struct forge_call *call, const struct forge_member *m,
    const struct value *v, struct forge_fail *fail)
{
	if (!form_fits(call, m, v))
		return forge_refuse(
		    fail, "\"%s\" has to be %s", m->name, form_name(m));
	if (m->form == FORGE_INPUT)
		return forge_members_check(call, m->members, v, m->name, fail);
	return role_check(call, m, v, fail);
}

static int
member_check(struct forge_call *call, const struct forge_member *m,
    const struct value *v, struct forge_fail *fail)
{
	if (v->type == VALUE_NULL) {
		if (m->required)
			return forge_refuse(fail, "\"%s\" is null", m->name);
		return 0;
	}
	if (m->role == FORGE_NONE)
		return role_check(call, m, v, fail);
	if (!m->list)
		return value_check(call, m, v, fail);
	/* GraphQL takes one value for a list of it; REST does not. */
	if (v->type != VALUE_ARRAY)
		return call->route == NULL
			   ? value_check(call, m, v, fail)
			   : forge_refuse(
				 fail, "\"%s\" has to be a list", m->name);
	for (v = v->child; v != NULL; v = v->next) {
		if (value_check(call, m, v, fail) == -1)
			return -1;
	}
	return 0;
}

int
forge_members_check(struct forge_call *call, const struct forge_member *list,
    const struct value *object, const char *what, struct forge_fail *fail)
{
	const struct forge_member *m;
	const struct value *v;
	char brief[FORGE_BRIEF];

	if (object != NULL && object->type != VALUE_OBJECT)
		return forge_refuse(fail, "%s has to be an object", what);
	for (v = object == NULL ? NULL : object->child; v != NULL;
	     v = v->next) {
		if ((m = forge_member_find(list, v->key)) == NULL)
			return forge_refuse(fail,
			    "\"%s\" in %s is not "
			    "permitted",
			    forge_brief(v->key, brief), what);
		if (member_check(call, m, v, fail) == -1)
			return -1;
	}
	for (m = list; m->name != NULL; m++) {
		if (m->required && value_get(object, m->name) == NULL)
			return forge_refuse(
			    fail, "%s lacks \"%s\"", what, m->name);
	}
	return 0;
}
