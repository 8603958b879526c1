/* SPDX-License-Identifier: ISC */
/*
 * Tests the rules for agents' error messages: the shipped ones against messages
 * that the agents are known to write, the reader of times, and files that are
 * refused.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/files/adapter/adapter.h"
#include "supervisor/files/adapter/adapter_put.h"
#include "tap.h"
#include "unit/config/cover.h"

#define NOW 1795424400 /* 2026-11-23T09:00:00Z, a Monday */
#define HOUR 3600
#define DAY (24 * HOUR)

static const struct {
	const char *text;
	int64_t in; /* seconds after NOW; 0: no time */
} times[] = {
    {"1795428000", HOUR},
    {"1749924000", 0}, /* long ago */
    {"9999999999", 0}, /* in more than a year */
    {"99999999999999999999", 0},
    {"2026-11-23T10:30:00Z", HOUR + HOUR / 2},
    {"2026-11-23T10:30:00.123Z.", HOUR + HOUR / 2},
    {"2026-11-23 10:30:00 UTC", HOUR + HOUR / 2},
    {"2026-11-23T10:30:00+02:00", 0},
    {"10am", HOUR},
    {"8am", 23 * HOUR},
    {"9am", DAY},
    {"12am", 15 * HOUR},
    {"12pm (UTC)", 3 * HOUR},
    {"3:05 PM", 6 * HOUR + 300},
    {"3pm (Europe/Paris)", 0}, /* no table of zones */
    {"3pm (Etc/UTC)", 6 * HOUR},
    {"3pm (Etc/GMT+5)", 0},
    {"10:57 PM GMT-3.", 13 * HOUR + 57 * 60 + 3 * HOUR},
    {"22:57", 13 * HOUR + 57 * 60},
    {"Nov 24, 5am (UTC)", 20 * HOUR},
    {"Nov 24th, 2026 5:00 AM.", 20 * HOUR},
    {"December 1 at 9:00", 8 * DAY},
    {"Nov 22, 5am", 364 * DAY - 4 * HOUR},
    {"25pm", 0},
    {"10:61", 0},
    {"Smarch 1 at 9:00", 0},
    {"2 days 17 hours 14 minutes.", 2 * DAY + 17 * HOUR + 14 * 60},
    {"21h38m16s.", 21 * HOUR + 38 * 60 + 16},
    {"1 hour, 5 minutes and 3 seconds", HOUR + 303},
    {"37.5s", 37},
    {"999999 days", 0},
    {"9999999 days", 0},
    {"0s", 0},
    {"soon", 0},
    {"", 0},
};

static const struct {
	const char *agent, *text;
	enum adapter_trouble kind;
	int64_t in;
} messages[] = {
    {"claude-code", "Claude AI usage limit reached|1795428000", TROUBLE_QUOTA,
	HOUR},
    {"claude-code", "You've hit your session limit \xc2\xb7 resets 3pm (UTC)",
	TROUBLE_QUOTA, 6 * HOUR},
    {"claude-code", "You've hit your limit", TROUBLE_QUOTA, 0},
    {"claude-code", "Invalid API key \xc2\xb7 Fix external API key",
	TROUBLE_AUTHENTICATION, 0},
    {"claude-code", "API Error: 529 {\"type\":\"overloaded_error\"}",
	TROUBLE_TRANSIENT, 0},
    {"claude-code", "No conversation found with session ID: 1", TROUBLE_HARD,
	0},
    {"claude-code", "it compiled", TROUBLE_NONE, 0},
    {"codex",
	"You've hit your usage limit. Upgrade, or try again in 2 days 17 "
	"hours 14 minutes.",
	TROUBLE_QUOTA, 2 * DAY + 17 * HOUR + 14 * 60},
    {"codex", "unexpected status 401 Unauthorized", TROUBLE_AUTHENTICATION, 0},
    {"gemini-cli",
	"Usage limit reached for m. Access resets at 10:57 PM GMT-3.",
	TROUBLE_QUOTA, 16 * HOUR + 57 * 60},
    {"gemini-cli", "Your quota will reset after 21h38m16s.", TROUBLE_QUOTA,
	21 * HOUR + 38 * 60 + 16},
    {"opencode", "Too Many Requests", TROUBLE_TRANSIENT, 0},
};

static const struct {
	const char *json, *why;
} refused[] = {
    {"{\"errors\":{}}", "errors: must be an array"},
    {"{\"errors\":[1]}", "errors[0]: must be an object"},
    {"{\"errors\":[{\"kind\":\"quota\"}]}", "contains"},
    {"{\"errors\":[{\"kind\":\"sad\",\"contains\":[\"x\"]}]}",
	"must be quota, transient, authentication or hard"},
    {"{\"errors\":[{\"contains\":[\"x\"]}]}", "kind"},
    {"{\"errors\":[{\"kind\":\"quota\",\"contains\":[\"\"]}]}", "1 to 128"},
    {"{\"errors\":[{\"kind\":\"hard\",\"contains\":[\"x\"],"
     "\"reset\":[\"y\"]}]}",
	"reset: is for"},
    {"{\"errors\":[{\"kind\":\"hard\",\"contain\":[\"x\"]}]}", "contain"},
};

static void
test_times(void)
{
	int64_t got;

	for (size_t i = 0; i < nitems(times); i++) {
		if (reset_time(span_str(times[i].text), NOW, &got) == -1)
			got = NOW;
		ok(got - NOW == times[i].in, "time \"%s\"", times[i].text);
		if (got - NOW != times[i].in)
			printf("# %lld instead of %lld\n",
			    (long long)(got - NOW), (long long)times[i].in);
	}
}

static size_t
read_file(const char *path, char *to, size_t cap)
{
	FILE *f = fopen(path, "r");
	size_t n = f == NULL ? 0 : fread(to, 1, cap, f);

	if (f != NULL)
		fclose(f);
	return n;
}

/* Load an agent's file as icsupervisor gets it from ic-reader. */
static int
handed_over(struct adapter *a, const char *path, const char *name,
    struct span text, struct fault *fault)
{
	struct buf b;
	int rv;

	buf_init(&b, 8U << 20);
	rv = adapter_put(&b, path, name, text, fault);
	if (rv == 0 && adapter_take(a, buf_span(&b)) == -1)
		rv = fault_set(fault, "it is not taken");
	buf_free(&b);
	return rv;
}

/* Packed bytes that are cut, or have a path that leads out, are refused. */
static void
test_handed_over(void)
{
	static const char text[] =
	    "{\"name\":\"x\",\"homeFiles\":[\"a/b\"],\"env\":{\"A\":\"1\"},"
	    "\"logins\":[{\"provider\":\"p\",\"home\":{\"f\":{\"k\":1}}}]}";
	static bool seen[sizeof(struct adapter)];
	static struct adapter a;
	struct fault fault = {.text = ""};
	size_t cut = 0;
	struct span all;
	struct buf b;

	cover(seen, adapter_rows, adapter_nrows, 0);
	/* These two are set when a session starts. */
	memset(seen + offsetof(struct adapter, chosen), true, sizeof(a.chosen));
	seen[offsetof(struct adapter, acp_model)] = true;
	covered(seen, sizeof(seen), "every member of an agent has a row");
	buf_init(&b, 8U << 20);
	is_int(adapter_put(&b, "x.json", "x", SPAN(text), &fault), 0,
	    "read: %s", fault.text);
	all = buf_span(&b);
	for (size_t n = 0; n < all.len; n++) {
		if (adapter_take(&a, span_of(all.p, n)) == -1)
			cut++;
		adapter_free(&a);
	}
	is_int((int64_t)cut, (int64_t)all.len, "each cut is refused");
	is_int(adapter_take(&a, all), 0, "the whole is taken");
	ok(strcmp(a.env[0], "A=1") == 0 && a.logins.list[0].home.list[0].json,
	    "with its members");
	memcpy(a.home_files[0], "../", 3);
	buf_drain(&b, b.len);
	is_int(pack_put(&b, adapter_rows, adapter_nrows, &a), 0, "changed");
	adapter_free(&a);
	is_int(adapter_take(&a, buf_span(&b)), -1,
	    "a path that leads out of the home is refused");
	adapter_free(&a);
	buf_free(&b);
}

static void
test_messages(const char *source)
{
	static char text[256U << 10];
	static struct adapter a;
	char path[PATH_MAX];
	struct fault fault;
	enum adapter_trouble kind;
	int64_t reset;

	for (size_t i = 0; i < nitems(messages); i++) {
		snprintf(path, sizeof(path), "%s/docker/agents/%s.json", source,
		    messages[i].agent);
		if (handed_over(&a, path, messages[i].agent,
			span_of(text, read_file(path, text, sizeof(text))),
			&fault) == -1) {
			ok(false, "%s: %s", messages[i].agent, fault.text);
			continue;
		}
		kind = adapter_errors_find(
		    &a.errors, span_str(messages[i].text), NOW, &reset);
		ok(kind == messages[i].kind &&
			reset ==
			    (messages[i].in == 0 ? 0 : NOW + messages[i].in),
		    "%s: \"%s\" is \"%s\"", messages[i].agent, messages[i].text,
		    adapter_trouble_name(messages[i].kind));
		adapter_free(&a);
	}
}

static void
test_refused(void)
{
	struct fault fault;
	const struct jsonfile j = {"agent.json", &fault};
	struct adapter_errors es;
	struct json_object *o;
	int got;

	for (size_t i = 0; i < nitems(refused); i++) {
		memset(&es, 0, sizeof(es));
		fault.text[0] = '\0';
		o = json_tokener_parse(refused[i].json);
		got = adapter_errors_read(&es, &j, o);
		ok(got == -1 && strstr(fault.text, refused[i].why) != NULL,
		    "%s is refused: %s", refused[i].json, fault.text);
		adapter_errors_free(&es);
		json_object_put(o);
	}
}

int
main(int argc, char **argv)
{
	test_times();
	test_messages(argc > 1 ? argv[1] : ".");
	test_refused();
	test_handed_over();
	return tap_done();
}
