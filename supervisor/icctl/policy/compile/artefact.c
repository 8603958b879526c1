/* SPDX-License-Identifier: ISC */
/*
 * Composes the artefacts in the formats of the TypeScript IronCurtain, and
 * writes them one by one and whole.
 */
#include "icctl/policy/compile/compile.h"

#include <sys/stat.h>

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/json/json.h"
#include "files/policydir.h"

#define ARTEFACT_TEXT ((size_t)16 << 20)

/* Append an object's members in this order, and no others. */
static void
put_ordered(struct buf *b, const struct value *v, const char *const *keys)
{
	const struct value *m;
	bool more = false;

	buf_addc(b, '{');
	for (; *keys != NULL; keys++) {
		if ((m = value_get(v, *keys)) == NULL)
			continue;
		buf_printf(b, "%s\"%s\":", more ? "," : "", *keys);
		(void)json_write(b, m);
		more = true;
	}
	buf_addc(b, '}');
}

static void
put_rules(struct buf *b, const struct value *rules, bool *more)
{
	static const char *const keys[] = {"name", "description", "principle",
	    "if", "then", "reason", NULL};
	const struct value *v = rules == NULL ? NULL : rules->child;

	for (; v != NULL; v = v->next) {
		buf_adds(b, *more ? "," : "");
		put_ordered(b, v, keys);
		*more = true;
	}
}

static void
put_definitions(struct compile *c, unsigned server, struct buf *b, bool *more)
{
	static const char *const keys[] = {"name", "type", "principle",
	    "generationPrompt", "requiresMcp", "mcpServerHint", NULL};
	const struct value *v = c->servers[server].lists;
	bool known;

	for (v = v == NULL ? NULL : v->child; v != NULL; v = v->next) {
		known = false;
		for (unsigned i = 0; i < server; i++)
			known = known || (!c->servers[i].skipped &&
					     rules_named(c->servers[i].lists,
						 value_str(v, "name")) != NULL);
		if (known)
			continue;
		buf_adds(b, *more ? "," : "");
		put_ordered(b, v, keys);
		*more = true;
	}
}

/* Append the hash of all servers' rules. */
static void
put_hash(const struct compile *c, struct buf *b)
{
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];
	struct buf all;

	buf_init(&all, 65536);
	buf_adds(&all, c->hash);
	for (unsigned i = 0; i < c->nservers; i++) {
		buf_addspan(&all, c->servers[i].name);
		buf_addc(&all, '\n');
		buf_adds(&all, c->servers[i].skipped ? "" : c->servers[i].hash);
	}
	sha256_span(buf_span(&all), sum);
	sha256_hex(sum, hex);
	buf_adds(b, hex);
	buf_free(&all);
}

void
artefact_policy(struct compile *c, struct buf *b)
{
	bool more = false;

	buf_printf(b, "{\"generatedAt\":\"%s\",\"constitutionHash\":\"%s\","
		      "\"inputHash\":\"", c->now, c->hash);
	put_hash(c, b);
	buf_adds(b, "\",\"rules\":[");
	for (unsigned i = 0; i < c->nservers; i++)
		if (!c->servers[i].skipped)
			put_rules(b, c->servers[i].rules, &more);
	buf_adds(b, "],\"listDefinitions\":[");
	more = false;
	for (unsigned i = 0; i < c->nservers; i++)
		if (!c->servers[i].skipped)
			put_definitions(c, i, b, &more);
	buf_adds(b, "],\"skippedServers\":[");
	more = false;
	for (unsigned i = 0; i < c->nservers; i++) {
		if (!c->servers[i].skipped)
			continue;
		buf_printf(b, "%s{\"serverName\":", more ? "," : "");
		(void)json_write_string(b, c->servers[i].name);
		buf_adds(b, ",\"reason\":");
		(void)json_write_string(b, c->servers[i].why_skipped);
		buf_addc(b, '}');
		more = true;
	}
	buf_adds(b, "]}");
}

void
artefact_server(
    struct compile *c, const struct compile_server *s, struct buf *b)
{
	bool more = false;

	buf_adds(b, "{\"serverName\":");
	(void)json_write_string(b, s->name);
	buf_printf(b, ",\"generatedAt\":\"%s\",\"constitutionHash\":\"%s\","
		      "\"inputHash\":\"%s\",\"rules\":[",
	    c->now, c->hash, s->hash);
	put_rules(b, s->rules, &more);
	buf_adds(b, "],\"listDefinitions\":");
	if (s->lists != NULL)
		(void)json_write(b, s->lists);
	else
		buf_adds(b, "[]");
	buf_addc(b, '}');
}

void
artefact_lists(struct compile *c, struct buf *b)
{
	buf_printf(b, "{\"generatedAt\":\"%s\",\"lists\":", c->now);
	if (c->lists != NULL)
		(void)json_write(b, c->lists);
	else
		buf_adds(b, "{}");
	buf_addc(b, '}');
}

void
artefact_scenarios(struct compile *c, struct buf *b)
{
	bool more = false;

	buf_printf(b, "{\"generatedAt\":\"%s\",\"constitutionHash\":\"%s\","
		      "\"scenarios\":[", c->now, c->hash);
	for (unsigned i = 0; i < c->nservers; i++) {
		const struct value *v = c->servers[i].scenarios;

		if (c->servers[i].skipped || v == NULL)
			continue;
		for (v = v->child; v != NULL; v = v->next) {
			buf_adds(b, more ? "," : "");
			(void)json_write(b, v);
			more = true;
		}
	}
	buf_adds(b, "]}");
}

int
artefact_write(const struct compile *c, const char *dir, const char *name,
    const struct buf *json, struct fault *fault)
{
	char path[PATH_MAX], sub[PATH_MAX], *slash, *text;
	json_object *o, *bare;
	int rv = -1, n;

	snprintf(path, sizeof(path), "%.3900s/%.180s", dir, name);
	snprintf(sub, sizeof(sub), "%s", path);
	for (slash = sub + strlen(dir); (slash = strchr(slash + 1, '/')) != NULL;
	     *slash = '/') {
		*slash = '\0';
		if (mkdir(sub, 0700) == -1 && errno != EEXIST)
			return fault_errno(fault, "%s", sub);
	}
	if (json->failed ||
	    (o = jsonfile_parse(path, buf_span(json), fault)) == NULL)
		return fault_set(fault, "%s: too much to write", path);
	bare = NULL;
	(void)json_object_deep_copy(o, &bare, NULL);
	json_object_object_del(bare, "generatedAt");
	if (artefact_same(path, bare)) {
		rv = 0;
	} else if ((n = asprintf(&text, "%s\n",
			json_object_to_json_string_ext(o,
			    JSON_C_TO_STRING_PRETTY |
				JSON_C_TO_STRING_NOSLASHESCAPE))) != -1) {
		rv = jsonfile_replace(path, span_of(text, (size_t)n));
		if (rv == -1)
			fault_errno(fault, "%s", path);
		free(text);
	} else {
		fault_errno(fault, "%s", path);
	}
	json_object_put(bare);
	json_object_put(o);
	(void)c;
	return rv;
}

int
artefact_rest(const struct compile *c, const struct policy_set *set,
    unsigned except, struct fault *fault)
{
	char path[PATH_MAX];
	struct buf b;
	int rv = 0;

	snprintf(path, sizeof(path), "%.4000s/%s", c->dir,
	    policydir_names[PROTO_RULES_POLICY]);
	if (access(path, F_OK) == 0)
		return 0;
	buf_init(&b, ARTEFACT_TEXT);
	for (unsigned k = 0; rv == 0 && k <= PROTO_RULES_LAST; k++) {
		if (k == except || set->files[k].path == NULL)
			continue;
		buf_reset(&b, ARTEFACT_TEXT);
		buf_addspan(
		    &b, span_of(set->files[k].text, set->files[k].len));
		rv = artefact_write(
		    c, c->pending, policydir_names[k], &b, fault);
	}
	buf_free(&b);
	return rv;
}

static int
set_file(struct compile *c, struct policy_set *set, unsigned kind,
    const struct buf *b, struct fault *fault)
{
	struct policy_file *f = &set->files[kind];

	if (asprintf(&f->path, "%s/%s", c->pending, policydir_names[kind]) ==
		-1 ||
	    (f->text = malloc(b->len + 1)) == NULL)
		return fault_errno(fault, "policy");
	if (b->failed)
		return fault_set(fault, "the policy is too large");
	memcpy(f->text, buf_span(b).p, b->len);
	f->len = b->len;
	return 0;
}

int
artefact_set(struct compile *c, struct policy_set *set, struct fault *fault)
{
	struct buf b;
	int rv;

	memset(set, 0, sizeof(*set));
	buf_init(&b, ARTEFACT_TEXT);
	artefact_policy(c, &b);
	rv = set_file(c, set, PROTO_RULES_POLICY, &b, fault);
	buf_reset(&b, ARTEFACT_TEXT);
	artefact_lists(c, &b);
	if (rv == 0)
		rv = set_file(c, set, PROTO_RULES_LISTS, &b, fault);
	buf_reset(&b, ARTEFACT_TEXT);
	buf_addspan(&b, span_of(c->annotations.text, c->annotations.len));
	if (rv == 0)
		rv = set_file(c, set, PROTO_RULES_ANNOTATIONS, &b, fault);
	buf_free(&b);
	if (rv == -1)
		policy_set_free(set);
	return rv;
}
