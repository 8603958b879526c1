/* SPDX-License-Identifier: ISC */
/*
 * The readers of a model's proposals, and the comparison that decides whether a
 * policy newly allows something.
 */
#include "icctl/policy/compile/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "icctl/policy/compile/cover.h"
#include "tap.h"

static void
test_values(void)
{
	static const struct {
		const char *type, *value;
		bool good;
	} rows[] = {
	    {"domains", "example.com", true},
	    {"domains", "*.example.com", true},
	    {"domains", "xn--bcher-kva.example", true},
	    {"domains", "github.com/acme/app", true},
	    {"domains", "github.com/acme/*", true},
	    {"domains", "github.com/*/*", false},
	    {"domains", "github.com/acme", false},
	    {"domains", "github.com/acme/..", false},
	    {"domains", "github.com/acme/app/", false},
	    {"domains", "example", false},
	    {"domains", "127.0.0.1", false},
	    {"domains", "10.1", false},
	    {"domains", "0x7f.0x1", false},
	    {"domains", "*.0.0.1", false},
	    {"domains", "127.0.0.1/acme/app", false},
	    {"domains", "1.example.com", true},
	    {"domains", "Example.com", false},
	    {"domains", "example.com.", false},
	    {"domains", "example-.com", false},
	    {"domains", "", false},
	    {"emails", "a@example.com", true},
	    {"emails", "*@example.com", false},
	    {"emails", "a@b@c", false},
	    {"emails", "A <a@example.com>", false},
	    {"emails", "@example.com", false},
	    {"identifiers", "acme", true},
	    {"identifiers", "a b", false},
	    {"identifiers", "*", false},
	    {"identifiers", "a\xe2\x80\x8b", false},
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ok((list_value_bad(span_str(rows[i].type),
			span_str(rows[i].value)) == NULL) == rows[i].good,
		    "%s: %s is %s", rows[i].type, rows[i].value,
		    rows[i].good ? "good" : "refused");
}

static void
test_texts(void)
{
	struct buf b;

	ok(text_plain(SPAN("gr\xc3\xbc\xc3\x9f Gott")), "letters are plain");
	ok(!text_plain(SPAN("a\x1b[2J")), "an escape is not");
	ok(!text_plain(SPAN("a\xe2\x80\xae")), "nor is a bidi control");
	ok(!text_plain(SPAN("a\xf3\xa0\x81\xa1")), "nor is a tag");
	ok(!text_plain(SPAN("a\xef\xbf\xbd")), "nor is one that was replaced");
	ok(!text_plain(SPAN("a\xc2\x9b" "2J")), "nor is C1");
	buf_init(&b, 65536);
	quote_add(&b, SPAN("a\x1b[2Jb\xe2\x80\x8b" "c\nd"), 100);
	ok(span_is(buf_span(&b), "a [2Jb c\nd"), "quoted without controls");
	buf_reset(&b, 65536);
	quote_add(&b, SPAN("aaaa\xc3\xbc"), 5);
	ok(span_is(buf_span(&b), "aaaa [cut]"), "cut between characters");
	buf_free(&b);
}

/* ---- what is newly allowed ---- */

#define ANNOTATIONS                                                            \
	"{\"servers\":{\"s\":{\"tools\":["                                      \
	"{\"toolName\":\"read\",\"serverName\":\"s\",\"args\":{\"path\":["       \
	"\"read-path\"]}},"                                                      \
	"{\"toolName\":\"write\",\"serverName\":\"s\",\"args\":{\"path\":["      \
	"\"read-path\",\"write-path\"]}},"                                       \
	"{\"toolName\":\"get\",\"serverName\":\"s\",\"args\":{\"url\":["         \
	"\"fetch-url\"]}}]}}}"
#define LOWERED                                                                \
	"{\"servers\":{\"s\":{\"tools\":["                                      \
	"{\"toolName\":\"read\",\"serverName\":\"s\",\"args\":{\"path\":["       \
	"\"read-path\"]}},"                                                      \
	"{\"toolName\":\"write\",\"serverName\":\"s\",\"args\":{\"path\":["      \
	"\"read-path\"]}},"                                                      \
	"{\"toolName\":\"get\",\"serverName\":\"s\",\"args\":{\"url\":["         \
	"\"fetch-url\"]}}]}}}"
#define LIST(values) "{\"lists\":{\"l\":{\"values\":[" values "]}}}"
#define RULE(name, cond, then)                                                 \
	"{\"name\":\"" name "\",\"if\":{\"server\":[\"s\"]" cond               \
	"},\"then\":\"" then "\",\"reason\":\"r\"}"
/* A rule that asks, and that only a person answers. */
#define PERSON "escalate\",\"autoApprove\":false,\"principle\":\"p"
#define IN(dir)                                                                \
	",\"paths\":{\"roles\":[\"read-path\"],\"within\":\"" dir "\"}"
#define HOSTS(h)                                                               \
	",\"domains\":{\"roles\":[\"fetch-url\"],\"allowed\":[" h "]}"
#define TOOL(t) ",\"tool\":[" t "]"

static const struct {
	const char *name, *old, *new;
	int n;
	const char *lists, *annotations; /* the new ones; NULL: the same */
} grants[] = {
    {"the same", RULE("a", IN("/d"), "allow"), RULE("a", IN("/d"), "allow"), 0},
    {"another name", RULE("a", IN("/d"), "allow"),
	RULE("b", IN("/d"), "allow"), 0},
    {"below", RULE("a", IN("/d"), "allow"), RULE("a", IN("/d/e"), "allow"), 0},
    {"beside", RULE("a", IN("/d"), "allow"), RULE("a", IN("/dd"), "allow"), 1},
    {"above", RULE("a", IN("/d/e"), "allow"), RULE("a", IN("/d"), "allow"), 1},
    {"no directory any more", RULE("a", IN("/d"), "allow"),
	RULE("a", TOOL("\"read\""), "allow"), 1},
    {"a tool less", RULE("a", TOOL("\"read\",\"write\"") IN("/d"), "allow"),
	RULE("a", TOOL("\"read\"") IN("/d"), "allow"), 0},
    {"a tool more", RULE("a", TOOL("\"read\"") IN("/d"), "allow"),
	RULE("a", TOOL("\"read\",\"write\"") IN("/d"), "allow"), 1},
    {"every tool", RULE("a", TOOL("\"read\"") IN("/d"), "allow"),
	RULE("a", IN("/d"), "allow"), 1},
    {"a host more", RULE("a", HOSTS("\"a.com\""), "allow"),
	RULE("a", HOSTS("\"a.com\",\"b.com\""), "allow"), 1},
    {"a host less", RULE("a", HOSTS("\"a.com\",\"b.com\""), "allow"),
	RULE("a", HOSTS("\"a.com\""), "allow"), 0},
    {"every host", RULE("a", HOSTS("\"a.com\""), "allow"),
	RULE("a", HOSTS("\"*\""), "allow"), 1},
    {"the same list", RULE("a", HOSTS("\"@l\""), "allow"),
	RULE("a", HOSTS("\"@l\""), "allow"), 0},
    {"a longer list", RULE("a", HOSTS("\"@l\""), "allow"),
	RULE("a", HOSTS("\"@l\""), "allow"), 1, LIST("\"a.com\",\"c.com\"")},
    {"a shorter list", RULE("a", HOSTS("\"@l\""), "allow"),
	RULE("a", HOSTS("\"@l\""), "allow"), 0, LIST("")},
    {"the list spelled out", RULE("a", HOSTS("\"@l\""), "allow"),
	RULE("a", HOSTS("\"a.com\""), "allow"), 0},
    {"asking becomes allowing", RULE("a", IN("/d"), "escalate"),
	RULE("a", IN("/d"), "allow"), 1},
    {"allowing becomes asking", RULE("a", IN("/d"), "allow"),
	RULE("a", IN("/d"), "escalate"), 0},
    {"an exception is gone",
	RULE("e", IN("/d/x"), "escalate") "," RULE("a", IN("/d"), "allow"),
	RULE("a", IN("/d"), "allow"), 1},
    {"an exception comes too late",
	RULE("e", IN("/d/x"), "escalate") "," RULE("a", IN("/d"), "allow"),
	RULE("a", IN("/d"), "allow") "," RULE("e", IN("/d/x"), "escalate"), 1},
    {"an exception is smaller",
	RULE("e", IN("/d/x"), "escalate") "," RULE("a", IN("/d"), "allow"),
	RULE("e", IN("/d/x/y"), "escalate") "," RULE("a", IN("/d"), "allow"),
	1},
    {"an exception is wider",
	RULE("e", IN("/d/x"), "escalate") "," RULE("a", IN("/d"), "allow"),
	RULE("e", IN("/d"), "escalate") "," RULE("a", IN("/d"), "allow"), 0},
    {"a denial becomes a question",
	RULE("e", IN("/d/x"), "deny") "," RULE("a", IN("/d"), "allow"),
	RULE("e", IN("/d/x"), "escalate") "," RULE("a", IN("/d"), "allow"), 1},
    {"an exception of another tool",
	RULE("e", HOSTS("\"x.com\""), "escalate") "," RULE("a",
	    TOOL("\"read\"") IN("/d"), "allow"),
	RULE("a", TOOL("\"read\"") IN("/d"), "allow"), 0},
    {"a role less", RULE("a", IN("/d"), "allow"), RULE("a", IN("/d"), "allow"),
	1, NULL, LOWERED},
    {"a person's rule may be answered by a model",
	RULE("a", IN("/d"), PERSON), RULE("a", IN("/d"), "escalate"), 1},
    {"it stays a person's", RULE("a", IN("/d"), PERSON),
	RULE("a", IN("/d"), PERSON), 0},
    {"it becomes a person's", RULE("a", IN("/d"), "escalate"),
	RULE("a", IN("/d"), PERSON), 0},
    {"a model's rule before a person's",
	RULE("a", IN("/d"), PERSON),
	RULE("b", IN("/d/x"), "escalate") "," RULE("a", IN("/d"), PERSON), 1},
    {"a model's rule after a person's",
	RULE("a", IN("/d"), PERSON) "," RULE("b", IN("/e"), "escalate"),
	RULE("a", IN("/d"), PERSON) "," RULE("b", IN("/e/x"), "escalate"), 0},
    {"a person's rule becomes a denial", RULE("a", IN("/d"), PERSON),
	RULE("a", IN("/d"), "deny"), 0},
    {"a person's exception becomes a model's",
	RULE("e", IN("/d/x"), PERSON) "," RULE("a", IN("/d"), "allow"),
	RULE("e", IN("/d/x"), "escalate") "," RULE("a", IN("/d"), "allow"), 2},
    {"nothing was there", "", RULE("a", IN("/d"), "allow"), 1},
    {"nothing is there", RULE("a", IN("/d"), "allow"), "", 0},
};

static void
put(struct policy_set *set, unsigned kind, const char *text)
{
	set->files[kind] = (struct policy_file){
	    .path = strdup("test"), .text = strdup(text), .len = strlen(text)};
}

static void
make(struct policy_set *set, const char *rules, const char *lists,
    const char *annotations)
{
	char *text;

	memset(set, 0, sizeof(*set));
	if (asprintf(&text, "{\"rules\":[%s]}", rules) == -1)
		abort();
	put(set, PROTO_RULES_POLICY, text);
	put(set, PROTO_RULES_LISTS, lists);
	put(set, PROTO_RULES_ANNOTATIONS, annotations);
	free(text);
}

static void
drop(struct policy_set *set)
{
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		free(set->files[k].path);
		free(set->files[k].text);
	}
}

static void
test_grants(void)
{
	struct policy_set old, new;
	struct fault fault;
	struct buf b;
	int n;

	for (size_t i = 0; i < nitems(grants); i++) {
		make(&old, grants[i].old, LIST("\"a.com\",\"b.com\""),
		    ANNOTATIONS);
		make(&new, grants[i].new,
		    grants[i].lists != NULL ? grants[i].lists
					    : LIST("\"a.com\",\"b.com\""),
		    grants[i].annotations != NULL ? grants[i].annotations
						  : ANNOTATIONS);
		buf_init(&b, 1U << 20);
		fault.text[0] = '\0';
		n = grants_new(NULL, &old, &new, &b, &fault);
		ok(n == grants[i].n, "%s: %d newly allowed (%d) %s",
		    grants[i].name, grants[i].n, n, fault.text);
		buf_free(&b);
		drop(&old);
		drop(&new);
	}
}

int
main(void)
{
	test_values();
	test_texts();
	test_grants();
	return tap_done();
}
