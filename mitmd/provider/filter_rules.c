/* SPDX-License-Identifier: ISC */
/* The words for the filter's rules in provider files. */
#include "provider/filter_rules.h"

const struct filter_rules filter_dflt = {
    .action =
	{
	    [FILTER_URLS] = FILTER_DENY,
	},
    .usage = true,
};

static const char *const filter_dialects[FILTER_DIALECTS] = {
    [FILTER_NONE] = "none",
    [FILTER_ANTHROPIC] = "anthropic",
    [FILTER_CHAT] = "chat",
    [FILTER_RESPONSES] = "responses",
    [FILTER_GEMINI] = "gemini",
    [FILTER_BEDROCK] = "bedrock",
    [FILTER_CONVERSE] = "converse",
};
static const char *const filter_kinds[FILTER_KINDS] = {
    [FILTER_TOOLS] = "tools",
    [FILTER_MCP] = "mcp",
    [FILTER_URLS] = "urls",
    [FILTER_STORE] = "store",
    [FILTER_BACKGROUND] = "background",
};
static const char *const filter_actions[FILTER_ACTIONS] = {
    [FILTER_STRIP] = "strip",
    [FILTER_DENY] = "deny",
    [FILTER_ALLOW] = "allow",
};

static int
filter_find(struct span s, const char *const *names, int n)
{
	for (int i = 0; i < n; i++) {
		if (span_is(s, names[i]))
			return i;
	}
	return -1;
}

int
filter_dialect_find(struct span s)
{
	return filter_find(s, filter_dialects, FILTER_DIALECTS);
}

int
filter_kind_find(struct span s)
{
	return filter_find(s, filter_kinds, FILTER_KINDS);
}

int
filter_action_find(struct span s)
{
	return filter_find(s, filter_actions, FILTER_ACTIONS);
}

const char *
filter_kind_name(enum filter_kind kind)
{
	return filter_kinds[kind];
}

bool
filter_applies(const struct filter_rules *r, enum filter_dialect d)
{
	if (d == FILTER_CHAT && r->usage)
		return true;
	for (unsigned i = 0; i < FILTER_KINDS; i++) {
		if (d != FILTER_NONE && r->action[i] != FILTER_ALLOW)
			return true;
	}
	return false;
}

const char *
filter_rules_read(const struct value *v, struct filter_rules *r)
{
	const struct value *m;
	int kind, action;

	if (v->type != VALUE_OBJECT)
		return "must be an object";
	for (m = v->child; m != NULL; m = m->next) {
		if (span_is(m->key, "usage")) {
			r->usage =
			    m->type == VALUE_STRING && span_is(m->text, "ask");
			if (!r->usage && (m->type != VALUE_STRING ||
					     !span_is(m->text, "leave")))
				return "\"usage\" is \"ask\" or \"leave\"";
			continue;
		}
		if ((kind = filter_kind_find(m->key)) == -1)
			return "members are \"tools\", \"mcp\", \"urls\", "
			       "\"store\", \"background\" and \"usage\"";
		if (m->type != VALUE_STRING ||
		    (action = filter_action_find(m->text)) == -1)
			return "values are \"strip\", \"deny\" or \"allow\"";
		r->action[kind] = (enum filter_action)action;
	}
	return NULL;
}
