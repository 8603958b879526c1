/* SPDX-License-Identifier: ISC */
/* The rows of test_answer.c. */
#ifndef ANSWER_ROWS_H
#define ANSWER_ROWS_H

#include "docker/model/model.h"

struct answer_row {
	const char *name;
	enum model_dialect dialect;
	const char *events;	/* the data of one event on each line */
	const char *want;	/* as describe() writes it */
	const char *back;	/* is in the request that contains the answer */
	bool crlf, parts;
};

#define A_START                                                               \
	"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\""    \
	":10,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}\n"
#define A_TEXT(i)                                                             \
	"{\"type\":\"content_block_start\",\"index\":" i                          \
	",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n"
#define A_DELTA(i, kind, member, text)                                        \
	"{\"type\":\"content_block_delta\",\"index\":" i ",\"delta\":{\"type\":"   \
	"\"" kind "\",\"" member "\":\"" text "\"}}\n"
#define A_CALL(i)                                                             \
	"{\"type\":\"content_block_start\",\"index\":" i                          \
	",\"content_block\":{\"type\":\"tool_use\",\"id\":\"t" i                   \
	"\",\"name\":\"f\",\"input\":{}}}\n"
#define A_STOP(why)                                                           \
	"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" why             \
	"\"},\"usage\":{\"output_tokens\":7}}\n{\"type\":\"message_stop\"}"
#define G(part, stop)                                                         \
	"{\"candidates\":[{\"content\":{\"parts\":[" part "]}" stop "}]}\n"
#define C(delta, more) "{\"choices\":[{\"index\":0,\"delta\":{" delta "}" more "}]}\n"
#define C_STOP(why)                                                           \
	C("", ",\"finish_reason\":\"" why "\"")                               \
	"{\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4," \
	"\"prompt_tokens_details\":{\"cached_tokens\":2}}}\n[DONE]"
#define R_DELTA(i, text)                                                      \
	"{\"type\":\"response.output_text.delta\",\"output_index\":" i            \
	",\"delta\":\"" text "\"}\n"
#define R_ITEM(i, item)                                                       \
	"{\"type\":\"response.output_item.done\",\"output_index\":" i             \
	",\"item\":{" item "}}\n"
#define R_DONE                                                                \
	"{\"type\":\"response.completed\",\"response\":{\"usage\":{"              \
	"\"input_tokens\":9,\"output_tokens\":8,\"input_tokens_details\":{"       \
	"\"cached_tokens\":1}}}}"

/* clang-format off */
static const struct answer_row answer_rows[] = {
	{"anthropic: text", MODEL_ANTHROPIC,
	    A_START A_TEXT("0") A_DELTA("0", "text_delta", "text", "Hel")
	    "{\"type\":\"ping\"}\n" A_DELTA("0", "text_delta", "text", "lo")
	    A_STOP("end_turn"),
	    "Hello|end|15/7/5", "\"content\":[{\"type\":\"text\",\"text\":\"Hello\"}]"},
	{"anthropic: calls", MODEL_ANTHROPIC,
	    A_START A_CALL("0") A_DELTA("0", "input_json_delta", "partial_json", "{\\\"b\\\":1,")
	    A_DELTA("0", "input_json_delta", "partial_json", "\\\"a\\\":2}")
	    A_CALL("1") A_STOP("tool_use"),
	    "|t0:f({\"a\":2,\"b\":1})|t1:f({})|calls|15/7/5",
	    "\"id\":\"t0\",\"name\":\"f\",\"input\":{\"a\":2,\"b\":1}}"},
	{"anthropic: thinking and its signature", MODEL_ANTHROPIC,
	    A_START
	    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
	    "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n"
	    A_DELTA("0", "thinking_delta", "thinking", "hm")
	    A_DELTA("0", "signature_delta", "signature", "SIG==")
	    A_TEXT("1") A_DELTA("1", "text_delta", "text", "x")
	    A_STOP("end_turn"),
	    "x|end|15/7/5", "{\"signature\":\"SIG==\",\"thinking\":\"hm\","
	    "\"type\":\"thinking\"},{\"text\":\"x\",\"type\":\"text\"}"},
	{"anthropic: thinking that is redacted", MODEL_ANTHROPIC,
	    A_START
	    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
	    "{\"type\":\"redacted_thinking\",\"data\":\"ENC\"}}\n"
	    A_CALL("1") A_STOP("tool_use"),
	    "|t1:f({})|calls|15/7/5",
	    "{\"data\":\"ENC\",\"type\":\"redacted_thinking\"},{\"id\":\"t1\""},
	{"anthropic: lines end with CR LF", MODEL_ANTHROPIC,
	    A_START A_TEXT("0") A_DELTA("0", "text_delta", "text", "x") A_STOP("end_turn"),
	    "x|end|15/7/5", NULL, true},
	{"anthropic: cut at its limit", MODEL_ANTHROPIC,
	    A_START A_TEXT("0") A_DELTA("0", "text_delta", "text", "x") A_STOP("max_tokens"),
	    "x|length|15/7/5"},
	{"anthropic: arguments that are cut", MODEL_ANTHROPIC,
	    A_START A_CALL("0") A_DELTA("0", "input_json_delta", "partial_json", "{\\\"a\\\":")
	    A_STOP("max_tokens"), "|t0:f(BAD)|length|15/7/5", "\"input\":{}"},
	{"anthropic: arguments with a member twice", MODEL_ANTHROPIC,
	    A_START A_CALL("0") A_DELTA("0", "input_json_delta", "partial_json",
	    "{\\\"a\\\":1,\\\"a\\\":2}") A_STOP("tool_use"), "|t0:f(BAD)|calls|15/7/5"},
	{"anthropic: arguments that are no object", MODEL_ANTHROPIC,
	    A_START A_CALL("0") A_DELTA("0", "input_json_delta", "partial_json", "[1]")
	    A_STOP("tool_use"), "|t0:f(BAD)|calls|15/7/5"},
	{"anthropic: broken off", MODEL_ANTHROPIC,
	    A_START A_TEXT("0") A_DELTA("0", "text_delta", "text", "x"),
	    "transient: The provider's answer broke off."},
	{"anthropic: empty", MODEL_ANTHROPIC, "", "transient: The provider's answer was empty."},
	{"anthropic: nothing said", MODEL_ANTHROPIC, A_START A_STOP("end_turn"),
	    "transient: The model answered with nothing."},
	{"anthropic: overloaded in the middle", MODEL_ANTHROPIC,
	    A_START "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
	    "\"message\":\"Overloaded\"}}",
	    "transient: The provider cannot answer now: Overloaded"},
	{"anthropic: an error that stays", MODEL_ANTHROPIC,
	    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
	    "\"message\":\"no \\u001b[31m such\"}}",
	    "hard: The provider refused the request: no \\x1b[31m such"},
	{"anthropic: a member twice", MODEL_ANTHROPIC,
	    "{\"type\":\"ping\",\"type\":\"ping\"}",
	    "hard: The provider sent an event that is not strict JSON: duplicate "
	    "member name at byte 15."},
	{"anthropic: not JSON", MODEL_ANTHROPIC, "{type:1}",
	    "hard: The provider sent an event that is not strict JSON: not JSON at byte 1."},
	{"anthropic: not an object", MODEL_ANTHROPIC, "17",
	    "hard: The provider sent an event that is not a JSON object."},
	{"anthropic: a part that has not begun", MODEL_ANTHROPIC,
	    A_DELTA("3", "text_delta", "text", "x"),
	    "hard: The provider's answer continues a part that has not begun."},
	{"anthropic: the same part twice", MODEL_ANTHROPIC, A_TEXT("0") A_CALL("0"),
	    "hard: The provider's answer has the same part twice."},
	{"anthropic: a part without a number", MODEL_ANTHROPIC,
	    "{\"type\":\"content_block_start\",\"index\":-1}",
	    "hard: A part of the provider's answer has no number."},
	{"anthropic: a call without a name", MODEL_ANTHROPIC,
	    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
	    "{\"type\":\"tool_use\",\"id\":\"t\"}}\n" A_STOP("tool_use"),
	    "hard: A call in the model's answer has no name."},
	{"anthropic: refused by the model", MODEL_ANTHROPIC,
	    A_START A_TEXT("0") A_DELTA("0", "text_delta", "text", "no") A_STOP("refusal"),
	    "no|refused|15/7/5"},
	{"responses: text", MODEL_RESPONSES,
	    R_DELTA("0", "Hel") R_DELTA("0", "lo")
	    R_ITEM("0", "\"type\":\"message\",\"id\":\"m1\",\"status\":\"completed\","
	    "\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hello\"}]")
	    R_DONE, "Hello|end|9/8/1",
	    "\"input\":[{\"content\":[{\"text\":\"Hello\",\"type\":\"output_text\"}],"
	    "\"role\":\"assistant\",\"type\":\"message\"}]"},
	{"responses: reasoning and calls", MODEL_RESPONSES,
	    R_ITEM("0", "\"type\":\"reasoning\",\"id\":\"r1\",\"summary\":[],"
	    "\"encrypted_content\":\"ENC\"")
	    R_ITEM("1", "\"type\":\"function_call\",\"id\":\"f1\",\"call_id\":\"c1\","
	    "\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"") R_DONE,
	    "|c1:f({\"a\":1})|calls|9/8/1",
	    "{\"encrypted_content\":\"ENC\",\"summary\":[],\"type\":\"reasoning\"},"
	    "{\"arguments\":\"{\\\"a\\\":1}\",\"call_id\":\"c1\""},
	{"responses: reasoning that cannot go back", MODEL_RESPONSES,
	    R_ITEM("0", "\"type\":\"reasoning\",\"id\":\"r1\",\"summary\":[]")
	    R_ITEM("1", "\"type\":\"message\",\"content\":[{\"type\":\"output_text\","
	    "\"text\":\"x\"}]") R_DONE, "x|end|9/8/1", "\"input\":[{\"content\""},
	{"responses: incomplete", MODEL_RESPONSES,
	    R_DELTA("0", "x") "{\"type\":\"response.incomplete\",\"response\":{"
	    "\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}", "x|length"},
	{"responses: failed", MODEL_RESPONSES,
	    "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":"
	    "\"rate_limit_exceeded\",\"message\":\"slow down\"}}}",
	    "transient: The provider cannot answer now: slow down"},
	{"responses: too long", MODEL_RESPONSES,
	    "{\"type\":\"error\",\"code\":\"context_length_exceeded\",\"message\":\"too much\"}",
	    "too-long: The conversation is too long for the model: too much"},
	{"responses: the same call twice", MODEL_RESPONSES,
	    R_ITEM("0", "\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\"")
	    R_ITEM("0", "\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\""),
	    "hard: The provider's answer has the same item twice."},
	{"responses: an item without a number", MODEL_RESPONSES,
	    "{\"type\":\"response.output_item.done\",\"item\":{}}",
	    "hard: An item of the provider's answer has no number."},
	{"chat: text", MODEL_CHAT,
	    C("\"role\":\"assistant\",\"content\":\"\"", "") C("\"content\":\"Hel\"", "")
	    C("\"content\":\"lo\"", "") C_STOP("stop"), "Hello|end|3/4/2",
	    "{\"role\":\"assistant\",\"content\":\"Hello\"}"},
	{"chat: calls in pieces", MODEL_CHAT,
	    C("\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\","
	    "\"arguments\":\"\"}}]", "")
	    C("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"x\\\"\"}}]", "")
	    C("\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\"}}]", "")
	    C("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]", "")
	    C_STOP("tool_calls"), "|a:f({\"x\":1})|b:g({})|calls|3/4/2",
	    "\"content\":null,\"tool_calls\":[{\"type\":\"function\",\"id\":\"a\""},
	{"chat: whole calls without numbers", MODEL_CHAT,
	    C("\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
	    "{\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]", "")
	    C_STOP("tool_calls"), "|a:f({})|b:g({})|calls|3/4/2"},
	{"chat: reasoning", MODEL_CHAT,
	    C("\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":\"E\"}]", "")
	    C("\"content\":\"x\"", "") C_STOP("stop"), "x|end|3/4/2",
	    "\"reasoning_details\":[{\"data\":\"E\",\"type\":\"reasoning.encrypted\"}]"},
	{"chat: an error in the middle", MODEL_CHAT,
	    C("\"content\":\"x\"", "") "{\"error\":{\"code\":502,\"message\":\"upstream\"},"
	    "\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}",
	    "transient: The provider cannot answer now: upstream"},
	{"chat: half a character", MODEL_CHAT,
	    C("\"content\":\"a\\ud83d\"", "") C_STOP("stop"),
	    "a\xef\xbf\xbd|end|3/4/2"},
	{"chat: a byte that is no text", MODEL_CHAT,
	    C("\"content\":\"a\\u0000b\"", "") C_STOP("stop"), "a b|end|3/4/2", NULL, false, true},
	{"gemini: text", MODEL_GEMINI,
	    G("{\"text\":\"Hel\"}", "") G("{\"text\":\"lo\"}", ",\"finishReason\":\"STOP\""),
	    "Hello|end", "\"role\":\"model\",\"parts\":[{\"text\":\"Hel\"},{\"text\":\"lo\"}]"},
	{"gemini: thoughts and signatures", MODEL_GEMINI,
	    G("{\"text\":\"hm\",\"thought\":true}", "")
	    G("{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}},"
	    "\"thoughtSignature\":\"SIG\"}", ",\"finishReason\":\"STOP\""),
	    "|ic-call-1:f({\"a\":1})|calls",
	    "{\"functionCall\":{\"args\":{\"a\":1},\"name\":\"f\"},\"thoughtSignature\":\"SIG\"}"},
	{"gemini: usage", MODEL_GEMINI,
	    "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]},"
	    "\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":5,"
	    "\"candidatesTokenCount\":2,\"thoughtsTokenCount\":3}}", "x|end|5/5/0"},
	{"gemini: cut at its limit", MODEL_GEMINI,
	    G("{\"text\":\"x\"}", ",\"finishReason\":\"MAX_TOKENS\""), "x|length"},
	{"gemini: blocked", MODEL_GEMINI, "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}",
	    "|refused"},
	{"gemini: a call that it cannot read", MODEL_GEMINI,
	    G("", ",\"finishReason\":\"MALFORMED_FUNCTION_CALL\""),
	    "transient: The model wrote a call that the provider cannot read."},
	{"gemini: arguments that are no object", MODEL_GEMINI,
	    G("{\"functionCall\":{\"id\":\"q\",\"name\":\"f\",\"args\":7}}",
	    ",\"finishReason\":\"STOP\""), "|q:f(BAD)|calls"},
	{"gemini: parts that are no objects", MODEL_GEMINI, G("1", ""),
	    "hard: The provider's answer has a part that is not an object."},
};

static const struct {
	unsigned status;
	const char *body, *error, *said;
} refusal_rows[] = {
	{400, "{\"type\":\"error\",\"error\":{\"type\":\"billing_error\",\"message\":"
	    "\"IronCurtain: The session's budget is used up. Do not retry.\"}}",
	    "budget", "The session's budget is used up"},
	{400, "{\"error\":{\"type\":\"insufficient_quota\",\"message\":\"IronCurtain: "
	    "The session's budget is used up.\"}}", "budget", "budget is used up"},
	{429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"You exceeded your "
	    "current quota\"}}", "quota", "You exceeded your current quota"},
	{400, "{\"error\":{\"message\":\"Your credit balance is too low\"}}", "quota",
	    "credit balance"},
	{402, "{\"error\":{\"message\":\"Insufficient credits\"}}", "quota", "credits"},
	{429, "{\"error\":{\"message\":\"Rate limited\"}}", "transient", "Rate limited"},
	{529, "{\"error\":{\"message\":\"Overloaded\"}}", "transient", "Overloaded"},
	{500, "", "transient", "status 500"},
	{502, "<html>bad gateway</html>", "transient", "bad gateway"},
	{401, "{\"error\":{\"message\":\"invalid x-api-key\"}}", "authentication",
	    "does not accept the key"},
	{403, "{\"type\":\"error\",\"error\":{\"type\":\"ironcurtain_refused\",\"code\":"
	    "\"credential\",\"message\":\"IronCurtain: This provider cannot be used now.\"}}",
	    "authentication", "cannot be used now"},
	{403, "{\"type\":\"error\",\"error\":{\"type\":\"ironcurtain_refused\",\"code\":"
	    "\"endpoint\",\"message\":\"IronCurtain: This endpoint is not on the list.\"}}",
	    "hard", "not on the list"},
	{400, "{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000\"}}",
	    "too-long", "210000"},
	{400, "[{\"error\":{\"message\":\"API key not valid\",\"details\":[{\"reason\":"
	    "\"API_KEY_INVALID\"}]}}]", "authentication", "API key not valid"},
	{404, "{\"error\":{\"message\":\"model: no-such\"}}", "hard", "no-such"},
	{400, "{\"error\":{\"message\":\"\\u202e\\u001b[2J\"}}", "hard", "\\x1b[2J"},
};
/* clang-format on */

#endif
