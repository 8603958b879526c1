/* SPDX-License-Identifier: ISC */
/* The question to the model in each dialect, and the strict reader. */
#include "approver/opinion.h"

#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "tap.h"

#define YES "{\"decision\":\"approve\",\"reasoning\":\"asked for\"}"
#define YES_IN "{\\\"decision\\\":\\\"approve\\\",\\\"reasoning\\\":\\\"asked for\\\"}"

static void
test_texts(void)
{
	static const struct {
		const char *text;
		enum proto_opinion want;
	} rows[] = {
	    {YES, PROTO_OPINION_APPROVE},
	    {"  " YES "\n", PROTO_OPINION_APPROVE},
	    {"{\"reasoning\":\"r\",\"decision\":\"approve\"}",
		PROTO_OPINION_APPROVE},
	    {"{\"decision\":\"escalate\",\"reasoning\":\"r\"}",
		PROTO_OPINION_LEAVE},
	    {"{\"decision\":\"deny\",\"reasoning\":\"r\"}",
		PROTO_OPINION_FAILED},
	    {"{\"decision\":\"approve \",\"reasoning\":\"r\"}",
		PROTO_OPINION_FAILED},
	    {"{\"decision\":\"Approve\",\"reasoning\":\"r\"}",
		PROTO_OPINION_FAILED},
	    {"{\"decision\":\"approve\"}", PROTO_OPINION_FAILED},
	    {"{\"decision\":\"approve\",\"reasoning\":null}",
		PROTO_OPINION_FAILED},
	    {"{\"decision\":true,\"reasoning\":\"r\"}", PROTO_OPINION_FAILED},
	    {"{\"decision\":\"approve\",\"reasoning\":\"r\",\"x\":1}",
		PROTO_OPINION_FAILED},
	    {"{\"decision\":\"escalate\",\"decision\":\"approve\","
	     "\"reasoning\":\"r\"}", PROTO_OPINION_FAILED},
	    {"[" YES "]", PROTO_OPINION_FAILED},
	    {YES YES, PROTO_OPINION_FAILED},
	    {"```json\n" YES "\n```", PROTO_OPINION_FAILED},
	    {"Sure: " YES, PROTO_OPINION_FAILED},
	    {"approve", PROTO_OPINION_FAILED},
	    {"", PROTO_OPINION_FAILED},
	    {"{\"decision\":\"approve\",\"reasoning\":\"a\\u0007b\"}",
		PROTO_OPINION_FAILED},
	    {"{\"decision\":\"approve\",\"reasoning\":\"a\\u009bb\"}",
		PROTO_OPINION_FAILED},
	    {"{\"decision\":\"approve\",\"reasoning\":\"\xff\"}",
		PROTO_OPINION_FAILED},
	    {"{\"decision\":\"approve\",\"reasoning\":\"\"}",
		PROTO_OPINION_FAILED},
	};
	struct opinion o;
	char text[4200];

	for (size_t i = 0; i < nitems(rows); i++) {
		opinion_text(&o, span_str(rows[i].text));
		is_int(o.decision, rows[i].want, "text %zu", i);
		ok(o.reasoning[0] != '\0', "... with a reason");
	}
	snprintf(text, sizeof(text),
	    "{\"decision\":\"approve\",\"reasoning\":\"%01000d\"}", 0);
	opinion_text(&o, span_str(text));
	ok(o.decision == PROTO_OPINION_APPROVE &&
		strlen(o.reasoning) == OPINION_MAX_REASON,
	    "a long reasoning is cut");
	snprintf(text, sizeof(text), "%4150s%s", "", YES);
	opinion_text(&o, span_str(text));
	is_int(o.decision, PROTO_OPINION_FAILED, "a text that is too long");
}

static void
test_answers(void)
{
	static const struct {
		enum filter_dialect dialect;
		const char *answer;
		enum proto_opinion want;
	} rows[] = {
	    {FILTER_ANTHROPIC, "{\"content\":[{\"type\":\"text\",\"text\":\"" YES_IN "\"}]}",
		PROTO_OPINION_APPROVE},
	    {FILTER_ANTHROPIC, "{\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\"},"
		"{\"type\":\"text\",\"text\":\"" YES_IN "\"}]}", PROTO_OPINION_APPROVE},
	    {FILTER_ANTHROPIC, "{\"content\":[{\"type\":\"text\",\"text\":\"" YES_IN "\"},"
		"{\"type\":\"text\",\"text\":\"x\"}]}", PROTO_OPINION_FAILED},
	    {FILTER_ANTHROPIC, "{\"content\":[{\"type\":\"tool_use\",\"text\":\"" YES_IN "\"}]}",
		PROTO_OPINION_FAILED},
	    {FILTER_ANTHROPIC, "{\"content\":\"" YES_IN "\"}", PROTO_OPINION_FAILED},
	    {FILTER_ANTHROPIC, YES, PROTO_OPINION_FAILED},
	    {FILTER_CHAT, "{\"choices\":[{\"message\":{\"content\":\"" YES_IN "\"}}]}",
		PROTO_OPINION_APPROVE},
	    {FILTER_CHAT, "{\"choices\":[]}", PROTO_OPINION_FAILED},
	    {FILTER_CHAT, "{\"choices\":[{\"message\":{\"content\":null}}]}",
		PROTO_OPINION_FAILED},
	    {FILTER_RESPONSES, "{\"output\":[{\"type\":\"reasoning\"},{\"type\":\"message\","
		"\"content\":[{\"type\":\"output_text\",\"text\":\"" YES_IN "\"}]}]}",
		PROTO_OPINION_APPROVE},
	    {FILTER_RESPONSES, "{\"output\":[{\"type\":\"message\",\"content\":[{\"type\":"
		"\"refusal\",\"text\":\"" YES_IN "\"}]}]}", PROTO_OPINION_FAILED},
	    {FILTER_GEMINI, "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"" YES_IN
		"\"}]}}]}", PROTO_OPINION_APPROVE},
	    {FILTER_GEMINI, "{\"candidates\":[]}", PROTO_OPINION_FAILED},
	    {FILTER_GEMINI, "", PROTO_OPINION_FAILED},
	    {FILTER_NONE, YES, PROTO_OPINION_FAILED},
	};
	struct opinion o;

	for (size_t i = 0; i < nitems(rows); i++) {
		opinion_read(&o, rows[i].dialect, span_str(rows[i].answer));
		is_int(o.decision, rows[i].want, "answer %zu", i);
	}
}

static void
test_body(void)
{
	static const enum filter_dialect dialects[] = {FILTER_ANTHROPIC,
	    FILTER_CHAT, FILTER_RESPONSES, FILTER_GEMINI};
	struct msg_CONSIDER m = {.said = SPAN("read \"~/a\"\nnow"),
	    .server_name = SPAN("filesystem"),
	    .tool = SPAN("read_file"),
	    .reason = SPAN("a rule"),
	    .resources = SPAN("read-path: ~/a\nwrite-path: ~/b\n")};
	struct value_pool *pool = value_pool_new(1 << 20);
	static char big[PROTO_MAX_SAID];
	struct buf b;

	buf_init(&b, PROTO_MAX_OPINION);
	for (size_t i = 0; i < nitems(dialects); i++) {
		buf_reset(&b, 0);
		ok(question_body(&b, dialects[i], SPAN("m"), &m) == 0 &&
			json_read(pool, buf_span(&b), NULL) != NULL,
		    "the question is JSON (%zu)", i);
		ok(memmem(buf_span(&b).p, b.len, "~/b", 3) != NULL,
		    "... with what the call touches");
	}
	buf_reset(&b, 0);
	is_int(question_body(&b, FILTER_BEDROCK, SPAN("m"), &m), -1,
	    "no other dialect");
	buf_reset(&b, 0);
	m.said = SPAN("\xc3(");
	is_int(question_body(&b, FILTER_CHAT, SPAN("m"), &m), -1, "no UTF-8");
	memset(big, '"', sizeof(big));
	m.said = span_of(big, sizeof(big));
	buf_reset(&b, 0);
	is_int(question_body(&b, FILTER_CHAT, SPAN("m"), &m), -1,
	    "a question that is too long");
	buf_free(&b);
	value_pool_free(pool);
}

int
main(void)
{
	test_texts();
	test_answers();
	test_body();
	return tap_done();
}
