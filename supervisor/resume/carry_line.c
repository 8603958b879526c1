/* SPDX-License-Identifier: ISC */
/*
 * Adds up the records of a log. A record's members are read with a JSON parser;
 * its text is searched only to tell which records need not be parsed, because
 * an agent's arguments may contain anything.
 */
#include "resume/carry_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARRY_LINE (8U << 20)

/* Reports of workers take less than this many microseconds. */
#define CARRY_LATE 1000000U

/* The events that matter. The text of such a record contains one of these. */
static const char *const carry_events[] = {"askRefused", "budget", "call",
    "grant", "grantDropped", "hold", "hostOpen", "hostShut", "modelRequest",
    "policy", "refusedCalls", "revoke", "start", "state", "stop", "turn",
    "usage", "workerEnd"};

static bool
carry_has(struct span line, const char *text)
{
	return memmem(line.p, line.len, text, strlen(text)) != NULL;
}

/* Returns false if the record cannot be one of those that matter. */
static bool
carry_wanted(struct span line)
{
	static const char key[] = "\"event\":\"";
	const uint8_t *at;
	struct span rest = line;
	size_t n;

	while ((at = memmem(rest.p, rest.len, key, sizeof(key) - 1)) != NULL) {
		at += sizeof(key) - 1;
		rest = span_of(at, (size_t)(line.p + line.len - at));
		for (size_t i = 0; i < nitems(carry_events); i++) {
			n = strlen(carry_events[i]);
			if (rest.len > n &&
			    memcmp(rest.p, carry_events[i], n) == 0 &&
			    rest.p[n] == '"')
				return true;
		}
	}
	return false;
}

static struct json_object *
carry_parse(struct span line)
{
	struct json_tokener *tok;
	struct json_object *o;

	if (line.len > CARRY_LINE || (tok = json_tokener_new_ex(96)) == NULL)
		return NULL;
	o = json_tokener_parse_ex(tok, (const char *)line.p, (int)line.len);
	json_tokener_free(tok);
	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	return NULL;
}

static void
carry_start(struct carry *c, struct json_object *o, struct json_object *detail)
{
	struct json_object *policy;

	/* The clock of another boot is another clock. */
	c->ms = carry_ms(c);
	c->paused = false;
	c->mono_state = c->mono_last = carry_number(o, "mono");
	c->any = true;
	c->closed = c->orphan = false;
	c->why[0] = c->worker[0] = c->how[0] = '\0';
	c->status = 0;
	c->nholds = 0;
	c->begun = true;
	(void)strlcpy(c->boot, carry_text(detail, "boot"), sizeof(c->boot));
	(void)strlcpy(c->host, carry_text(detail, "host"), sizeof(c->host));
	policy = carry_member(detail, "policy", json_type_object);
	(void)strlcpy(
	    c->policy, carry_text(policy, "policy"), sizeof(c->policy));
	carry_grants_run(c);
}

static void
carry_stop(struct carry *c, struct json_object *detail)
{
	c->closed = true;
	(void)strlcpy(c->why, carry_text(detail, "reason"), sizeof(c->why));
	c->status = (int64_t)carry_number(detail, "status");
	/* auditd knows no status. */
	c->orphan = carry_member(detail, "status", json_type_int) == NULL;
	(void)strlcpy(c->how, carry_text(detail, "evidence"), sizeof(c->how));
}

static void
carry_limits(struct carry *c, struct json_object *limits)
{
	int k;

	if (limits == NULL)
		return;
	memset(c->limited, 0, sizeof(c->limited));
	json_object_object_foreach(limits, key, v)
	{
		if ((k = budget_find(key)) == -1)
			continue;
		c->limited[k] = true;
		c->limits[k] = json_object_get_double(v);
	}
}

static void
carry_locks(struct carry *c, struct json_object *list)
{
	c->nlocked = 0;
	for (size_t i = 0; list != NULL && i < json_object_array_length(list) &&
			   c->nlocked < CARRY_LOCKED;
	    i++)
		(void)strlcpy(c->locked[c->nlocked++],
		    json_object_get_string(json_object_array_get_idx(list, i)),
		    sizeof(c->locked[0]));
}

/* Only a state that names all approvals says where it was. */
static void
carry_where(struct carry *c, struct json_object *detail)
{
	const char *boot = carry_text(detail, "boot");

	if (boot[0] == '\0')
		return;
	(void)strlcpy(c->boot, boot, sizeof(c->boot));
	(void)strlcpy(c->host, carry_text(detail, "host"), sizeof(c->host));
	(void)strlcpy(
	    c->policy, carry_text(detail, "policy"), sizeof(c->policy));
	if (carry_member(detail, "turn", json_type_int) != NULL)
		c->turn = (uint32_t)carry_number(detail, "turn");
	c->messages =
	    carry_member(detail, "turnMessages", json_type_boolean) != NULL;
	json_object_put(c->routes);
	c->routes = json_object_get(
	    carry_member(detail, "turnRoutes", json_type_array));
}

/* A run's first state lacks nothing: the run has spent nothing yet. */
static void
carry_state_spent(
    struct carry *c, struct json_object *detail, uint64_t mono)
{
	if (mono < c->mono_state || mono - c->mono_state >= CARRY_LATE)
		c->older = c->last;
	memset(&c->last, 0, sizeof(c->last));
	c->last.tokens = carry_number(detail, "tokens");
	c->last.micro_usd = carry_number(detail, "microUsd");
	c->last.steps = carry_number(detail, "steps");
	if (c->begun) {
		c->older = c->run = c->last;
		c->whole_run = true;
	}
	c->begun = false;
	c->open_known = carry_member(detail, "openTokens", json_type_int) != NULL;
	c->open_tokens = carry_number(detail, "openTokens");
	c->open_micro_usd = carry_number(detail, "openMicroUsd");
}

static void
carry_state(struct carry *c, struct json_object *o)
{
	struct json_object *detail =
	    carry_member(o, "detail", json_type_object);
	uint64_t mono = carry_number(o, "mono");

	carry_state_spent(c, detail, mono);
	c->ms = carry_number(detail, "ms");
	c->paused = carry_member(detail, "paused", json_type_boolean) != NULL;
	c->mono_state = mono;
	carry_where(c, detail);
	carry_limits(c, carry_member(detail, "limits", json_type_object));
	carry_locks(c, carry_member(detail, "locked", json_type_array));
	carry_grants_state(c, o, carry_member(detail, "grants", json_type_array));
}

/* Returns the tier's number, as in USAGE. */
static unsigned
carry_tier(const char *tier)
{
	static const char *const tiers[] = {
	    "standard", "batch", "flex", "priority"};

	for (unsigned i = 1; i < nitems(tiers); i++)
		if (strcmp(tier, tiers[i]) == 0)
			return i;
	return 0;
}

static void
carry_usage(struct carry *c, struct json_object *o)
{
	const struct price_use u = {.in = carry_number(o, "in"),
	    .out = carry_number(o, "out"),
	    .cache_read = carry_number(o, "cacheRead"),
	    .cache_write = carry_number(o, "cacheWrite"),
	    .cache_write_1h = carry_number(o, "cacheWrite1h"),
	    .audio_in = carry_number(o, "audioIn"),
	    .audio_out = carry_number(o, "audioOut"),
	    .searches = carry_number(o, "searches"),
	    .cost = carry_number(o, "statedNanoUsd"),
	    .tier = carry_tier(carry_text(o, "tier")),
	    .fast = carry_member(o, "fast", json_type_boolean) != NULL,
	    .regional = carry_member(o, "regional", json_type_boolean) != NULL};
	struct carry_spent *all[] = {&c->last, &c->older, &c->run};
	const struct price *p = NULL;
	enum price_how how;

	if (c->prices != NULL)
		p = prices_find(
		    c->prices, NULL, carry_text(o, "model"), &how);
	for (size_t i = 0; i < nitems(all); i++) {
		all[i]->more_tokens += price_tokens(p, &u);
		all[i]->more_usd += price_usd(p, &u);
	}
}

/* A person has set a limit, or approved that it is raised. */
static void
carry_budget(struct carry *c, struct json_object *detail)
{
	const char *what = carry_text(detail, "what"),
		   *text = carry_text(detail, "text");
	int k = budget_find(carry_text(detail, "key"));

	if (k == -1 || (strcmp(what, "set") != 0 && strcmp(what, "raised") != 0))
		return;
	c->limited[k] = strcmp(text, "null") != 0;
	c->limits[k] = strtod(text, NULL);
}

static void
carry_hold(struct carry *c, struct json_object *o)
{
	uint64_t id = carry_number(o, "id");
	struct carry_hold *h;

	if ((id & (PROTO_LOGIN_ID | PROTO_BUDGET_ID)) != 0 ||
	    c->nholds == CARRY_HOLDS)
		return;
	for (unsigned i = 0; i < c->nholds; i++)
		if (c->holds[i].id == id)
			return;
	h = &c->holds[c->nholds++];
	h->id = id;
	(void)strlcpy(
	    h->server, carry_text(o, "serverName"), sizeof(h->server));
	(void)strlcpy(h->tool, carry_text(o, "toolName"), sizeof(h->tool));
}

static void
carry_held(struct carry *c, uint64_t id)
{
	for (unsigned i = 0; i < c->nholds; i++)
		if (c->holds[i].id == id)
			c->holds[i] = c->holds[--c->nholds];
}

static void
carry_calls(struct carry *c, uint64_t n)
{
	c->last.calls += n;
	c->older.calls += n;
	c->run.calls += n;
}

/* Returns true if the calls of this record were refused for want of steps. */
static bool
carry_over_budget(struct json_object *o)
{
	return strcmp(carry_text(
			  carry_member(o, "policyDecision", json_type_object),
			  "rule"),
		   "budget") == 0;
}

/* Returns true if requests on that route are steps, or may be. */
static bool
carry_is_step(const struct carry *c, struct json_object *o)
{
	struct json_object *list;
	uint64_t route = carry_number(o, "route");

	list = c->routes == NULL
		   ? NULL
		   : json_object_array_get_idx(
			 c->routes, carry_number(o, "provider"));
	if (!json_object_is_type(list, json_type_array) ||
	    carry_member(o, "route", json_type_int) == NULL ||
	    carry_member(o, "provider", json_type_int) == NULL)
		return true;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if ((uint64_t)json_object_get_int64(
			json_object_array_get_idx(list, i)) == route)
			return true;
	return false;
}

static void
carry_request(struct carry *c, struct json_object *o)
{
	carry_held(c, carry_number(o, "approved"));
	if (!carry_is_step(c, o))
		return;
	c->last.requests++;
	c->older.requests++;
	c->run.requests++;
}

static void
carry_record(struct carry *c, struct json_object *o)
{
	struct json_object *detail =
	    carry_member(o, "detail", json_type_object);
	const char *event = carry_text(o, "event");

	if (strcmp(event, "start") == 0)
		carry_start(c, o, detail);
	else if (strcmp(event, "stop") == 0)
		carry_stop(c, detail);
	else if (strcmp(event, "state") == 0)
		carry_state(c, o);
	else if (strcmp(event, "usage") == 0)
		carry_usage(c, o);
	else if (strcmp(event, "budget") == 0)
		carry_budget(c, detail);
	else if (strcmp(event, "turn") == 0)
		c->turn = (uint32_t)carry_number(detail, "turn");
	else if (strcmp(event, "hold") == 0)
		carry_hold(c, o);
	else if (strcmp(event, "call") == 0 ||
		 strcmp(event, "askRefused") == 0 ||
		 strcmp(event, "hostOpen") == 0 ||
		 strcmp(event, "hostShut") == 0)
		carry_held(c, carry_number(o, "id"));
	else if (strcmp(event, "refusedCalls") == 0) {
		if (!carry_over_budget(o))
			carry_calls(c, carry_number(o, "count"));
	} else if (strcmp(event, "modelRequest") == 0)
		carry_request(c, o);
	else if (strcmp(event, "grant") == 0)
		carry_grant_made(c, o);
	else if (strcmp(event, "revoke") == 0)
		carry_grant_ended(c, carry_number(o, "id"));
	else if (strcmp(event, "grantDropped") == 0)
		carry_grant_ended(c, carry_number(detail, "id"));
	else if (strcmp(event, "workerEnd") == 0)
		(void)strlcpy(c->worker, carry_text(detail, "worker"),
		    sizeof(c->worker));
}

void
carry_line(struct carry *c, struct span line)
{
	struct json_object *o;
	bool call, read;

	if (!carry_wanted(line))
		return;
	call = carry_has(line, "\"event\":\"call\"");
	/* Most records are calls that never waited, and within the budget. */
	read = call && carry_has(line, "\"rule\":\"budget\"");
	if (call && !read) {
		carry_calls(c, 1);
		if (c->nholds == 0)
			return;
	}
	if ((o = carry_parse(line)) == NULL)
		return;
	if (read && strcmp(carry_text(o, "event"), "call") == 0 &&
	    !carry_over_budget(o))
		carry_calls(c, 1);
	/* At a start, what came before is counted first. */
	if (strcmp(carry_text(o, "event"), "start") != 0)
		c->mono_last = carry_number(o, "mono");
	carry_record(c, o);
	json_object_put(o);
}

bool
carry_base_line(struct carry_base *b, struct span line)
{
	struct json_object *o, *detail;
	bool start = b->found && !b->orderly &&
		     carry_has(line, "\"event\":\"start\"");
	const char *event;
	uint64_t mono;

	if ((!start && (b->older || !carry_has(line, "\"event\":\"state\""))) ||
	    (o = carry_parse(line)) == NULL)
		return false;
	detail = carry_member(o, "detail", json_type_object);
	event = carry_text(o, "event");
	mono = carry_number(o, "mono");
	start = start && strcmp(event, "start") == 0;
	if (strcmp(event, "state") != 0)
		b->older = b->older || start;
	else if (b->found)
		b->older = b->older || mono > b->mono ||
			   b->mono - mono >= CARRY_LATE;
	else if (carry_member(detail, "grants", json_type_array) != NULL)
		*b = (struct carry_base){
		    .orderly = b->orderly, .found = true, .mono = mono};
	json_object_put(o);
	return start || (b->orderly && b->older);
}
