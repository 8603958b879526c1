/* SPDX-License-Identifier: ISC */
/*
 * Answers as providers, gateways and servers of models send them, the counts in
 * each, and what it costs by the public price lists. Written by hand after the
 * public references and after public reports of answers that were counted
 * wrongly. M(...): USD for tokens at these prices for a million.
 */
#ifndef COST_ROWS_H
#define COST_ROWS_H

#define M(x) ((x) / 1e6)

static const struct cost_row {
	const char *name, *label;
	struct {
		uint64_t in, out, read, write, hour;
	} want;
	double usd;
	const char *text;
} cost_rows[] = {
/* clang-format off */
#define JSON "application/json"
#define SSE "text/event-stream; charset=utf-8"
#define EV(name, data) "event: " name "\ndata: " data "\n\n"
#define D(data) "data: " data "\n\n"
#define START(model, usage) EV("message_start", \
	"{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"type\":" \
	"\"message\",\"role\":\"assistant\",\"model\":\"" model "\"," \
	"\"content\":[],\"stop_reason\":null,\"usage\":{" usage "}}}") \
	EV("content_block_delta", "{\"type\":\"content_block_delta\"," \
	"\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ok\"}}")
#define DELTA(usage) EV("message_delta", "{\"type\":\"message_delta\"," \
	"\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{" usage "}}") \
	EV("message_stop", "{\"type\":\"message_stop\"}")
#define CHUNK(model, rest) D("{\"id\":\"c1\",\"object\":" \
	"\"chat.completion.chunk\",\"created\":1,\"model\":\"" model "\"," rest "}")
#define TEXT(model) CHUNK(model, "\"choices\":[{\"index\":0,\"delta\":{" \
	"\"content\":\"ok\"},\"finish_reason\":null}]")
#define STOP(model) CHUNK(model, "\"choices\":[{\"index\":0,\"delta\":{}," \
	"\"finish_reason\":\"stop\"}]")
#define CHAT(model, usage) "{\"id\":\"c1\",\"object\":\"chat.completion\"," \
	"\"model\":\"" model "\",\"choices\":[{\"index\":0,\"message\":{" \
	"\"role\":\"assistant\",\"content\":\"ok\"},\"finish_reason\":" \
	"\"stop\"}],\"usage\":{" usage "}}"
#define MSG(model, usage) "{\"id\":\"m1\",\"type\":\"message\",\"role\":" \
	"\"assistant\",\"model\":\"" model "\",\"content\":[{\"type\":" \
	"\"text\",\"text\":\"ok\"}],\"stop_reason\":\"end_turn\"," \
	"\"usage\":{" usage "}}"
#define RESP(model, usage) "{\"id\":\"r1\",\"object\":\"response\"," \
	"\"status\":\"completed\",\"model\":\"" model "\",\"output\":[{" \
	"\"type\":\"message\",\"content\":[{\"type\":\"output_text\"," \
	"\"text\":\"ok\"}]}],\"usage\":{" usage "}}"
#define DEEP(x) "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":" x \
	"}}}}}}}}"
#define DEEPEST(x) DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(x)))))))))
	/* Counts that an event repeats as 0. */
	{"zeros in message_delta", SSE, {50000, 200, 7000, 0, 0},
	    M(50000 * 3 + 200 * 15 + 7000 * .3),
	    START("claude-sonnet-4-5", "\"input_tokens\":50000,"
		"\"cache_read_input_tokens\":7000,\"output_tokens\":1")
	    DELTA("\"input_tokens\":0,\"cache_read_input_tokens\":0,"
		"\"cache_creation_input_tokens\":0,\"output_tokens\":200")},
	{"lower counts later", SSE, {900, 40, 0, 500, 0},
	    M(900 * 1 + 40 * 5 + 500 * 1.25),
	    START("claude-haiku-4-5", "\"input_tokens\":900,"
		"\"cache_creation_input_tokens\":500,\"output_tokens\":40")
	    DELTA("\"input_tokens\":3,\"output_tokens\":7")},
	{"null in message_delta", SSE, {10, 20, 30, 0, 0},
	    M(10 * 5 + 20 * 25 + 30 * .5),
	    START("claude-opus-4-8", "\"input_tokens\":10,"
		"\"cache_read_input_tokens\":30,\"output_tokens\":2")
	    DELTA("\"input_tokens\":null,\"cache_read_input_tokens\":null,"
		"\"output_tokens\":20")},
	{"usage null, then counts, then null", SSE, {7, 9, 0, 0, 0},
	    M(7 * 2.5 + 9 * 10),
	    CHUNK("gpt-4o", "\"choices\":[],\"usage\":null") STOP("gpt-4o")
	    CHUNK("gpt-4o", "\"choices\":[],\"usage\":{\"prompt_tokens\":7,"
		"\"completion_tokens\":9}")
	    CHUNK("gpt-4o", "\"choices\":[],\"usage\":null")},
	{"gemini, the last event without the prompt", SSE, {80, 25, 0, 0, 0},
	    M(80 * 1.25 + 25 * 10),
	    D("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ok\"}]}}],"
		"\"usageMetadata\":{\"promptTokenCount\":80,"
		"\"candidatesTokenCount\":3},\"modelVersion\":"
		"\"gemini-2.5-pro\"}")
	    D("{\"candidates\":[{\"finishReason\":\"STOP\"}],"
		"\"usageMetadata\":{\"candidatesTokenCount\":25}}")},
	/* Usage in lists. */
	{"iterations with a compaction", JSON, {182000, 3800, 0, 0, 0},
	    M(182000 * 5 + 3800 * 25),
	    MSG("claude-opus-4-6", "\"input_tokens\":2000,\"output_tokens\":"
		"300,\"iterations\":[{\"type\":\"compaction\","
		"\"input_tokens\":180000,\"output_tokens\":3500},{\"type\":"
		"\"message\",\"input_tokens\":2000,\"output_tokens\":300}]")},
	{"iterations in message_delta, with cached tokens", SSE,
	    {110, 60, 4000, 200, 200},
	    M(110 * 5 + 60 * 25 + 4000 * .5 + 200 * 10),
	    START("claude-opus-4-7", "\"input_tokens\":10,\"output_tokens\":1")
	    DELTA("\"output_tokens\":20,\"iterations\":[{\"type\":"
		"\"compaction\",\"input_tokens\":100,\"output_tokens\":40,"
		"\"cache_read_input_tokens\":3000},{\"type\":\"message\","
		"\"input_tokens\":10,\"output_tokens\":20,"
		"\"cache_read_input_tokens\":1000,"
		"\"cache_creation_input_tokens\":200,\"cache_creation\":{"
		"\"ephemeral_1h_input_tokens\":200}}]")},
	{"a list of usages", JSON, {30, 12, 0, 0, 0}, M(30 * 2 + 12 * 8),
	    "{\"model\":\"gpt-4.1\",\"choices\":[],\"usage\":["
	    "{\"prompt_tokens\":10,\"completion_tokens\":5},"
	    "{\"prompt_tokens\":20,\"completion_tokens\":7}]}"},
	{"a list of answers", JSON, {8, 20, 0, 0, 0}, M(8 * .3 + 20 * 2.5),
	    "[{\"usageMetadata\":{\"promptTokenCount\":8}}\n,\r\n"
	    "{\"usageMetadata\":{\"promptTokenCount\":8,"
	    "\"candidatesTokenCount\":20},\"modelVersion\":"
	    "\"gemini-2.5-flash\"}]"},
	/* Usage in other places. */
	{"within the choice", SSE, {21, 4, 0, 0, 0}, M(21 * .6 + 4 * 3),
	    TEXT("kimi-k2.5")
	    CHUNK("kimi-k2.5", "\"choices\":[{\"index\":0,\"delta\":{},"
		"\"finish_reason\":\"stop\",\"usage\":{\"prompt_tokens\":21,"
		"\"completion_tokens\":4}}]")},
	{"beside choices that are not empty", SSE, {21, 5, 0, 0, 0},
	    M(21 * .27 + 5 * 1.1),
	    CHUNK("deepseek-chat", "\"choices\":[{\"index\":0,\"delta\":{"
		"\"content\":\"a\"},\"finish_reason\":null}],\"usage\":{"
		"\"prompt_tokens\":21,\"completion_tokens\":1}")
	    CHUNK("deepseek-chat", "\"choices\":[{\"index\":0,\"delta\":{},"
		"\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":21,"
		"\"completion_tokens\":5}")},
	{"in x_groq", SSE, {31, 6, 0, 0, 0}, M(31 * .15 + 6 * .6),
	    CHUNK("openai/gpt-oss-120b", "\"choices\":[{\"index\":0,\"delta\":"
		"{},\"finish_reason\":\"stop\"}],\"x_groq\":{\"id\":\"r\","
		"\"usage\":{\"prompt_tokens\":31,\"completion_tokens\":6}}")},
	{"at top level (Ollama, a line for each piece)",
	    "application/x-ndjson", {26, 298, 0, 0, 0},
	    M(26 * 5 + 298 * 25),
	    "{\"model\":\"local-coder\",\"message\":{\"role\":\"assistant\","
	    "\"content\":\"ok\"},\"done\":false}\n"
	    "{\"model\":\"local-coder\",\"message\":{\"role\":\"assistant\","
	    "\"content\":\"\"},\"done\":true,\"prompt_eval_count\":26,"
	    "\"eval_count\":298}\n"},
	{"at top level (llama.cpp)", JSON, {12, 34, 0, 0, 0},
	    M(12 * 5 + 34 * 25),
	    "{\"content\":\"ok\",\"model\":\"local-coder\",\"stop\":true,"
	    "\"tokens_evaluated\":12,\"tokens_predicted\":34}"},
	{"in result (Cloudflare)", JSON, {15, 3, 0, 0, 0},
	    M(15 * .72 + 3 * .72),
	    "{\"result\":{\"response\":\"ok\",\"model\":"
	    "\"llama3-3-70b-instruct\",\"usage\":{\"prompt_tokens\":15,"
	    "\"completion_tokens\":3}},\"success\":true}"},
	{"in data", JSON, {15, 3, 0, 0, 0}, M(15 * 1.4 + 3 * 4.4),
	    "{\"code\":200,\"data\":{\"model\":\"glm-5.3\",\"usage\":{"
	    "\"prompt_tokens\":15,\"completion_tokens\":3}}}"},
	{"in delta, in an object for each kind (Cohere)", SSE,
	    {40, 8, 0, 0, 0}, M(40 * 5 + 8 * 25),
	    EV("message-end", "{\"type\":\"message-end\",\"delta\":{"
		"\"finish_reason\":\"COMPLETE\",\"usage\":{\"billed_units\":{"
		"\"input_tokens\":9,\"output_tokens\":8},\"tokens\":{"
		"\"input_tokens\":40,\"output_tokens\":8}}},\"model\":"
		"\"command-x\"}")},
	{"wrapped (Code Assist)", SSE, {3, 4, 0, 0, 0}, M(3 * .5 + 4 * 3),
	    D("{\"response\":{\"usageMetadata\":{\"promptTokenCount\":3,"
		"\"candidatesTokenCount\":4},\"modelVersion\":"
		"\"gemini-3-flash-preview\"}}")},
	{"in results (watsonx)", JSON, {15, 3, 0, 0, 0}, M(15 * 5 + 3 * 25),
	    "{\"model_id\":\"granite-x\",\"model\":\"granite-x\",\"results\":["
	    "{\"generated_text\":\"ok\",\"generated_token_count\":3,"
	    "\"input_token_count\":15,\"stop_reason\":\"eos_token\"}]}"},
	{"in stats (LM Studio)", JSON, {419, 362, 0, 0, 0},
	    M(419 * 5 + 362 * 25),
	    "{\"model\":\"local-coder\",\"output\":[{\"type\":\"message\","
	    "\"content\":\"ok\"}],\"stats\":{\"input_tokens\":419,"
	    "\"total_output_tokens\":362,\"reasoning_output_tokens\":195}}"},
	{"an interaction (Gemini)", JSON, {60, 42, 40, 0, 0},
	    M(60 * 1.25 + 42 * 10 + 40 * .125),
	    "{\"id\":\"i1\",\"model\":\"gemini-2.5-pro\",\"outputs\":[{\"type\":"
	    "\"text\",\"text\":\"ok\"}],\"status\":\"completed\",\"usage\":{"
	    "\"total_input_tokens\":100,\"total_output_tokens\":20,"
	    "\"total_thought_tokens\":22,\"total_cached_tokens\":40,"
	    "\"total_tool_use_tokens\":0,\"total_tokens\":142}}"},
	{"the same in an event", SSE, {60, 42, 40, 0, 0},
	    M(60 * 1.25 + 42 * 10 + 40 * .125),
	    EV("interaction.complete", "{\"event_type\":\"interaction.complete"
		"\",\"interaction\":{\"model\":\"gemini-2.5-pro\",\"status\":"
		"\"completed\",\"usage\":{\"total_input_tokens\":100,"
		"\"total_output_tokens\":20,\"total_thought_tokens\":22,"
		"\"total_cached_tokens\":40,\"total_tokens\":142}}}")},
	{"New API's writes", JSON, {9, 10, 17000, 102, 0},
	    M(9 * 1 + 10 * 5 + 17000 * .1 + 102 * 1.25),
	    CHAT("claude-haiku-4-5", "\"prompt_tokens\":17111,"
		"\"completion_tokens\":10,\"prompt_tokens_details\":{"
		"\"cached_tokens\":17000,\"cached_creation_tokens\":102}")},
	{"only in message_delta", SSE, {10, 30, 20, 5, 0},
	    M(10 * 5 + 30 * 25 + 20 * .5 + 5 * 6.25),
	    START("anthropic/claude-opus-4.6", "\"input_tokens\":0,"
		"\"output_tokens\":0")
	    DELTA("\"input_tokens\":10,\"output_tokens\":30,"
		"\"cache_read_input_tokens\":20,"
		"\"cache_creation_input_tokens\":5")},
	/* Counts in other forms. */
	{"strings of digits", JSON, {1200, 34, 0, 0, 0},
	    M(1200 * .25 + 34 * 2),
	    CHAT("gpt-5-mini", "\"prompt_tokens\":\"1200\","
		"\"completion_tokens\":\"34\",\"total_tokens\":\"1234\"")},
	{"numbers with a point and with an exponent", JSON,
	    {1200, 34, 300, 0, 0}, M(1200 * 1.25 + 34 * 10 + 300 * .125),
	    CHAT("gpt-5.1", "\"prompt_tokens\":1.5e3,\"completion_tokens\":"
		"34.0,\"prompt_tokens_details\":{\"cached_tokens\":300.00}")},
	{"names in camel case", JSON, {70, 30, 30, 0, 0},
	    M(70 * 2.5 + 30 * 15 + 30 * .25),
	    "{\"modelId\":1,\"model\":\"gpt-5.4\",\"usage\":{\"promptTokens\":"
	    "100,\"completionTokens\":30,\"totalTokens\":130,"
	    "\"cachedInputTokens\":30}}"},
	{"Gemini's names with underscores", JSON, {80, 25, 0, 0, 0},
	    M(80 * 2 + 25 * 12),
	    "{\"usage_metadata\":{\"prompt_token_count\":80,"
	    "\"candidates_token_count\":25},\"model_version\":"
	    "\"gemini-3.1-pro-preview\"}"},
	{"counts that are none", JSON, {5, 6, 0, 0, 0}, M(5 * 2 + 6 * 8),
	    CHAT("o3", "\"prompt_tokens\":5,\"completion_tokens\":6,"
		"\"input_tokens\":-5,\"output_tokens\":1.5,"
		"\"cache_read_input_tokens\":99999999999999999999,"
		"\"cache_creation_input_tokens\":\"x\","
		"\"prompt_tokens_details\":null")},
	/* Labels. */
	{"events labelled as JSON", JSON, {1000, 200, 0, 0, 0},
	    M(1000 * 3 + 200 * 15),
	    START("claude-sonnet-4-5", "\"input_tokens\":1000,"
		"\"output_tokens\":1") DELTA("\"output_tokens\":200")},
	{"JSON labelled as events", SSE, {11, 12, 0, 0, 0},
	    M(11 * 3 + 12 * 15),
	    MSG("claude-sonnet-4-6", "\"input_tokens\":11,\"output_tokens\":"
		"12")},
	{"events without a label", "", {11, 12, 0, 0, 0},
	    M(11 * .4 + 12 * 1.6),
	    TEXT("gpt-4.1-mini") STOP("gpt-4.1-mini")
	    CHUNK("gpt-4.1-mini", "\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":11,\"completion_tokens\":12}")
	    D("[DONE]")},
	{"JSON without a label, after white space", "", {11, 12, 0, 0, 0},
	    M(11 * .1 + 12 * .4),
	    "\n  \n" CHAT("gpt-4.1-nano", "\"prompt_tokens\":11,"
		"\"completion_tokens\":12")},
	{"a byte order mark, and comments before the first event", SSE,
	    {11, 12, 0, 0, 0}, M(11 * 1.1 + 12 * 4.4),
	    "\xef\xbb\xbf: OPENROUTER PROCESSING\n\nretry: 100\n\n"
	    TEXT("openai/o4-mini") STOP("openai/o4-mini")
	    CHUNK("openai/o4-mini", "\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":11,\"completion_tokens\":12}")},
	{"events without an empty line between them", SSE, {11, 12, 0, 0, 0},
	    M(11 * 10 + 12 * 30),
	    "data: {\"model\":\"gpt-4-turbo\",\"choices\":[]}\n"
	    "data: {\"model\":\"gpt-4-turbo\",\"usage\":{\"prompt_tokens\":11,"
	    "\"completion_tokens\":12}}\ndata: [DONE]\n"},
	{"events as text/plain", "text/plain", {11, 12, 0, 0, 0},
	    M(11 * 1.75 + 12 * 14),
	    EV("response.completed", "{\"type\":\"response.completed\","
		"\"response\":{\"status\":\"completed\",\"model\":"
		"\"gpt-5.2-codex\",\"usage\":{\"input_tokens\":11,"
		"\"output_tokens\":12}}}")},
	/* Cached tokens, in the input or beside it, and named twice. */
	{"LiteLLM: in the input, and named twice", SSE, {9, 10, 17000, 102, 0},
	    M(9 * 1 + 10 * 5 + 17000 * .1 + 102 * 1.25),
	    TEXT("claude-haiku-4-5") STOP("claude-haiku-4-5")
	    CHUNK("claude-haiku-4-5", "\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":17111,\"completion_tokens\":10,"
		"\"total_tokens\":17121,\"prompt_tokens_details\":{"
		"\"cached_tokens\":17000,\"cache_creation_tokens\":102},"
		"\"cache_read_input_tokens\":17000,"
		"\"cache_creation_input_tokens\":102}")},
	{"in the input, Anthropic's name alone", JSON, {11, 10, 100, 0, 0},
	    M(11 * 3 + 10 * 15 + 100 * .3),
	    CHAT("claude-sonnet-4-6", "\"prompt_tokens\":111,"
		"\"completion_tokens\":10,\"total_tokens\":121,"
		"\"cache_read_input_tokens\":100")},
	{"beside the input, as the total says", JSON, {111, 10, 100, 0, 0},
	    M(111 * 3 + 10 * 15 + 100 * .3),
	    CHAT("claude-sonnet-4-6", "\"prompt_tokens\":111,"
		"\"completion_tokens\":10,\"total_tokens\":221,"
		"\"cache_read_input_tokens\":100")},
	{"beside the input, which is smaller", JSON, {9, 10, 100, 20, 0},
	    M(9 * 3 + 10 * 15 + 100 * .3 + 20 * 3.75),
	    CHAT("claude-sonnet-4-6", "\"prompt_tokens\":9,"
		"\"completion_tokens\":10,\"cache_read_input_tokens\":100,"
		"\"cache_creation_input_tokens\":20")},
	{"both names of the input", JSON, {9, 10, 17000, 102, 0},
	    M(9 * 1 + 10 * 5 + 17000 * .1 + 102 * 1.25),
	    MSG("claude-haiku-4-5-20251001", "\"input_tokens\":9,"
		"\"output_tokens\":10,\"prompt_tokens\":17111,"
		"\"completion_tokens\":10,\"cache_read_input_tokens\":17000,"
		"\"cache_creation_input_tokens\":102")},
	{"OpenAI's writes", JSON, {100, 10, 200, 300, 0},
	    M(100 * 5 + 10 * 30 + 200 * .5 + 300 * 6.25),
	    RESP("gpt-5.6-sol", "\"input_tokens\":600,\"output_tokens\":10,"
		"\"input_tokens_details\":{\"cached_tokens\":200,"
		"\"cache_write_tokens\":300}")},
	{"DeepSeek's hits and misses", JSON, {36, 10, 64, 0, 0},
	    M(36 * .27 + 10 * 1.1 + 64 * .07),
	    CHAT("deepseek-chat", "\"prompt_tokens\":100,"
		"\"completion_tokens\":10,\"prompt_cache_hit_tokens\":64,"
		"\"prompt_cache_miss_tokens\":36,\"prompt_tokens_details\":{"
		"\"cached_tokens\":64}")},
	{"Moonshot's cached_tokens beside the details", JSON,
	    {36, 10, 64, 0, 0}, M(36 * .95 + 10 * 4 + 64 * .16),
	    CHAT("kimi-k2.6", "\"prompt_tokens\":100,\"completion_tokens\":10,"
		"\"cached_tokens\":64")},
	/* Reasoning, and audio. */
	{"reasoning in the output", JSON, {75, 1186, 0, 0, 0},
	    M(75 * 1.25 + 1186 * 10),
	    RESP("gpt-5", "\"input_tokens\":75,\"output_tokens\":1186,"
		"\"output_tokens_details\":{\"reasoning_tokens\":1024},"
		"\"total_tokens\":1261")},
	{"reasoning beside the output (xAI)", JSON, {32, 109, 0, 0, 0},
	    M(32 * 2 + 109 * 6),
	    CHAT("grok-4.5", "\"prompt_tokens\":32,\"completion_tokens\":9,"
		"\"total_tokens\":141,\"completion_tokens_details\":{"
		"\"reasoning_tokens\":100}")},
	{"thoughts and tools (Gemini)", JSON, {1050, 700, 4000, 0, 0},
	    M(1050 * 2 + 700 * 12 + 4000 * .2),
	    "{\"usageMetadata\":{\"promptTokenCount\":5000,"
	    "\"cachedContentTokenCount\":4000,\"candidatesTokenCount\":200,"
	    "\"thoughtsTokenCount\":500,\"toolUsePromptTokenCount\":50,"
	    "\"totalTokenCount\":5750},\"modelVersion\":"
	    "\"gemini-3-pro-preview\"}"},
	{"audio (OpenAI)", JSON, {150, 60, 0, 0, 0},
	    M(50 * 2.5 + 100 * 32 + 20 * 10 + 40 * 64),
	    CHAT("gpt-audio-2025-08-28", "\"prompt_tokens\":150,"
		"\"completion_tokens\":60,\"prompt_tokens_details\":{"
		"\"audio_tokens\":100},\"completion_tokens_details\":{"
		"\"audio_tokens\":40}")},
	{"audio (Gemini)", JSON, {150, 6, 0, 0, 0},
	    M(50 * .3 + 100 * 1 + 6 * 2.5),
	    "{\"usageMetadata\":{\"promptTokenCount\":150,"
	    "\"candidatesTokenCount\":6,\"promptTokensDetails\":[{"
	    "\"modality\":\"TEXT\",\"tokenCount\":50},{\"modality\":"
	    "\"AUDIO\",\"tokenCount\":100}]},\"modelVersion\":"
	    "\"gemini-2.5-flash\"}"},
	/* Writes to the cache, by the time that they are kept. */
	{"kept for an hour", SSE, {10, 10, 0, 100000, 100000},
	    M(10 * 3 + 10 * 15 + 100000 * 6),
	    START("claude-sonnet-4-5", "\"input_tokens\":10,"
		"\"cache_creation_input_tokens\":100000,"
		"\"cache_read_input_tokens\":0,\"cache_creation\":{"
		"\"ephemeral_5m_input_tokens\":0,"
		"\"ephemeral_1h_input_tokens\":100000},\"output_tokens\":1")
	    DELTA("\"output_tokens\":10")},
	{"both times", JSON, {10, 10, 0, 3000, 1000},
	    M(10 * 5 + 10 * 25 + 2000 * 6.25 + 1000 * 10),
	    MSG("claude-opus-5", "\"input_tokens\":10,\"output_tokens\":10,"
		"\"cache_creation_input_tokens\":3000,\"cache_creation\":{"
		"\"ephemeral_5m_input_tokens\":2000,"
		"\"ephemeral_1h_input_tokens\":1000}")},
	{"without their sum", JSON, {10, 10, 0, 3000, 1000},
	    M(10 * 5 + 10 * 25 + 2000 * 6.25 + 1000 * 10),
	    MSG("claude-opus-4-5", "\"input_tokens\":10,\"output_tokens\":10,"
		"\"cache_creation\":{\"ephemeral_5m_input_tokens\":2000,"
		"\"ephemeral_1h_input_tokens\":1000}")},
	{"Converse, for each time to live", JSON, {10, 10, 0, 3000, 1000},
	    M(10 * 5 + 10 * 25 + 2000 * 6.25 + 1000 * 10),
	    "{\"output\":{\"message\":{\"content\":[{\"text\":\"ok\"}]}},"
	    "\"stopReason\":\"end_turn\",\"model\":\"claude-opus-4-6\","
	    "\"usage\":{\"inputTokens\":10,\"outputTokens\":10,"
	    "\"cacheWriteInputTokens\":3000,\"cacheDetails\":[{\"ttl\":\"5m\","
	    "\"inputTokens\":2000},{\"ttl\":\"1h\",\"inputTokens\":1000}]}}"},
	/* Sizes, speeds, tiers, places. */
	{"more than 200,000 (Sonnet 4.5)", JSON, {150000, 1000, 60000, 0, 0},
	    M(150000 * 6 + 1000 * 22.5 + 60000 * .6),
	    MSG("claude-sonnet-4-5-20250929", "\"input_tokens\":150000,"
		"\"output_tokens\":1000,\"cache_read_input_tokens\":60000")},
	{"200,000 and no more", JSON, {140000, 1000, 60000, 0, 0},
	    M(140000 * 3 + 1000 * 15 + 60000 * .3),
	    MSG("claude-sonnet-4-5", "\"input_tokens\":140000,"
		"\"output_tokens\":1000,\"cache_read_input_tokens\":60000")},
	{"no such step any more (Sonnet 4.6)", JSON,
	    {300000, 1000, 0, 0, 0}, M(300000 * 3 + 1000 * 15),
	    MSG("claude-sonnet-4-6", "\"input_tokens\":300000,"
		"\"output_tokens\":1000")},
	{"more than 200,000 (Gemini)", JSON, {300000, 1000, 0, 0, 0},
	    M(300000 * 2.5 + 1000 * 15),
	    "{\"usageMetadata\":{\"promptTokenCount\":300000,"
	    "\"candidatesTokenCount\":1000},\"modelVersion\":"
	    "\"gemini-2.5-pro\"}"},
	{"more than 272,000 (GPT-5.4)", JSON, {300000, 1000, 0, 0, 0},
	    M(300000 * 5 + 1000 * 22.5),
	    RESP("gpt-5.4-2026-03-05", "\"input_tokens\":300000,"
		"\"output_tokens\":1000")},
	{"fast (Opus 4.6)", JSON, {100000, 10000, 0, 0, 0}, 4.50,
	    MSG("claude-opus-4-6", "\"input_tokens\":100000,"
		"\"output_tokens\":10000,\"speed\":\"fast\","
		"\"service_tier\":\"standard\"")},
	{"fast, in message_start, with cached tokens", SSE,
	    {1000, 100, 2000, 0, 0},
	    M(1000 * 10 + 100 * 50 + 2000 * 1),
	    START("claude-opus-4-8", "\"input_tokens\":1000,"
		"\"cache_read_input_tokens\":2000,\"output_tokens\":1,"
		"\"speed\":\"fast\"")
	    DELTA("\"output_tokens\":100")},
	{"fast as a model of its own", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 30 + 100 * 150),
	    CHAT("anthropic/claude-opus-4.6-fast", "\"prompt_tokens\":1000,"
		"\"completion_tokens\":100")},
	{"standard", JSON, {1000, 100, 0, 0, 0}, M(1000 * 5 + 100 * 25),
	    MSG("claude-opus-4-6", "\"input_tokens\":1000,\"output_tokens\":"
		"100,\"speed\":\"standard\"")},
	{"in the US alone", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 5.5 + 100 * 27.5),
	    MSG("claude-opus-4-7", "\"input_tokens\":1000,\"output_tokens\":"
		"100,\"inference_geo\":\"us\"")},
	{"anywhere", JSON, {1000, 100, 0, 0, 0}, M(1000 * 5 + 100 * 25),
	    MSG("claude-opus-4-7", "\"input_tokens\":1000,\"output_tokens\":"
		"100,\"inference_geo\":\"global\"")},
	{"batch (Claude)", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 1.5 + 100 * 7.5),
	    MSG("claude-sonnet-4-6", "\"input_tokens\":1000,"
		"\"output_tokens\":100,\"service_tier\":\"batch\"")},
	{"priority (Claude: paid beforehand)", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 3 + 100 * 15),
	    MSG("claude-sonnet-4-6", "\"input_tokens\":1000,"
		"\"output_tokens\":100,\"service_tier\":\"priority\"")},
	{"priority (GPT-5.5)", JSON, {1000, 100, 200, 0, 0},
	    M(1000 * 12.5 + 100 * 75 + 200 * 1.25),
	    "{\"object\":\"response\",\"status\":\"completed\",\"model\":"
	    "\"gpt-5.5\",\"service_tier\":\"priority\",\"usage\":{"
	    "\"input_tokens\":1200,\"output_tokens\":100,"
	    "\"input_tokens_details\":{\"cached_tokens\":200}}}"},
	{"priority (GPT-5 mini, events)", SSE, {1000, 100, 0, 0, 0},
	    M(1000 * .45 + 100 * 3.6),
	    EV("response.created", "{\"type\":\"response.created\","
		"\"response\":{\"status\":\"in_progress\",\"service_tier\":"
		"\"auto\",\"usage\":null}}")
	    EV("response.completed", "{\"type\":\"response.completed\","
		"\"response\":{\"status\":\"completed\",\"model\":"
		"\"gpt-5-mini-2025-08-07\",\"service_tier\":\"priority\","
		"\"usage\":{\"input_tokens\":1000,\"output_tokens\":100}}}")},
	{"flex (GPT-5.4)", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 1.25 + 100 * 7.5),
	    "{\"model\":\"gpt-5.4\",\"service_tier\":\"flex\",\"usage\":{"
	    "\"prompt_tokens\":1000,\"completion_tokens\":100}}"},
	{"default tier", JSON, {1000, 100, 0, 0, 0}, M(1000 * 2.5 + 100 * 15),
	    "{\"model\":\"gpt-5.4\",\"service_tier\":\"default\",\"usage\":{"
	    "\"prompt_tokens\":1000,\"completion_tokens\":100}}"},
	{"priority (Gemini)", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 2.7 + 100 * 16.2),
	    "{\"usageMetadata\":{\"promptTokenCount\":1000,"
	    "\"candidatesTokenCount\":100,\"trafficType\":"
	    "\"ON_DEMAND_PRIORITY\"},\"modelVersion\":\"gemini-3.5-flash\"}"},
	{"searches of the web", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 3 + 100 * 15) + .03,
	    MSG("claude-sonnet-4-6", "\"input_tokens\":1000,"
		"\"output_tokens\":100,\"server_tool_use\":{"
		"\"web_search_requests\":3}")},
	/* Models. */
	{"claude-fable-5", JSON, {1000000, 100000, 0, 0, 0}, 15,
	    MSG("claude-fable-5", "\"input_tokens\":1000000,"
		"\"output_tokens\":100000")},
	{"claude-opus-4-1 of Vertex", JSON, {10, 1, 0, 0, 0},
	    M(10 * 15 + 1 * 75),
	    MSG("claude-opus-4-1@20250805", "\"input_tokens\":10,"
		"\"output_tokens\":1")},
	{"claude-opus-4 by its date", JSON, {10, 1, 0, 0, 0},
	    M(10 * 15 + 1 * 75),
	    MSG("claude-opus-4-20250514", "\"input_tokens\":10,"
		"\"output_tokens\":1")},
	{"Bedrock's name", JSON, {10, 1, 0, 0, 0}, M(10 * 1 + 1 * 5),
	    MSG("us.anthropic.claude-haiku-4-5-20251001-v1:0",
		"\"input_tokens\":10,\"output_tokens\":1")},
	{"gpt-5.2-pro", JSON, {10, 1, 0, 0, 0}, M(10 * 21 + 1 * 168),
	    RESP("gpt-5.2-pro", "\"input_tokens\":10,\"output_tokens\":1")},
	{"gpt-5.5-pro, not gpt-5.5", JSON, {10, 1, 0, 0, 0},
	    M(10 * 30 + 1 * 180),
	    RESP("gpt-5.5-pro", "\"input_tokens\":10,\"output_tokens\":1")},
	{"o3-pro, not o3", JSON, {10, 1, 0, 0, 0}, M(10 * 20 + 1 * 80),
	    RESP("o3-pro-2025-06-10", "\"input_tokens\":10,"
		"\"output_tokens\":1")},
	{"gpt-4o-2024-05-13, not gpt-4o", JSON, {10, 1, 0, 0, 0},
	    M(10 * 5 + 1 * 15),
	    CHAT("gpt-4o-2024-05-13", "\"prompt_tokens\":10,"
		"\"completion_tokens\":1")},
	{"gpt-4-1106-preview, not gpt-4.1", JSON, {10, 1, 0, 0, 0},
	    M(10 * 10 + 1 * 30),
	    CHAT("gpt-4-1106-preview", "\"prompt_tokens\":10,"
		"\"completion_tokens\":1")},
	{"an embedding", JSON, {8, 0, 0, 0, 0}, M(8 * .02),
	    "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\","
	    "\"embedding\":[0.1,-0.2],\"index\":0}],\"model\":"
	    "\"text-embedding-3-small\",\"usage\":{\"prompt_tokens\":8,"
	    "\"total_tokens\":8}}"},
	/* A model without a row costs as much as the dearest of its family. */
	{"an image model, not its row without one", JSON, {10, 100, 0, 0, 0},
	    M(10 * 2 + 100 * 120),
	    "{\"usageMetadata\":{\"promptTokenCount\":10,"
	    "\"candidatesTokenCount\":100},\"modelVersion\":"
	    "\"gemini-3.5-flash-image\"}"},
	{"native audio (Gemini)", JSON, {150, 60, 0, 0, 0},
	    M(50 * .5 + 100 * 3 + 20 * 2 + 40 * 12),
	    "{\"usageMetadata\":{\"promptTokenCount\":150,"
	    "\"responseTokenCount\":60,\"promptTokensDetails\":[{\"modality\":"
	    "\"TEXT\",\"tokenCount\":50},{\"modality\":\"AUDIO\","
	    "\"tokenCount\":100}],\"responseTokensDetails\":[{\"modality\":"
	    "\"AUDIO\",\"tokenCount\":40}]},\"modelVersion\":"
	    "\"gemini-2.5-flash-native-audio-preview-12-2025\"}"},
	{"a later live model", JSON, {10, 100, 0, 0, 0}, M(10 * 2 + 100 * 12),
	    "{\"usageMetadata\":{\"promptTokenCount\":10,"
	    "\"candidatesTokenCount\":100},\"modelVersion\":"
	    "\"gemini-3.5-flash-live\"}"},
	{"a later Claude", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 15 + 100 * 75),
	    MSG("claude-nova-9", "\"input_tokens\":1000,\"output_tokens\":"
		"100")},
	{"a later version, which no row catches", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 15 + 100 * 75),
	    MSG("claude-fable-5-9", "\"input_tokens\":1000,"
		"\"output_tokens\":100")},
	{"a later GPT", JSON, {1000, 100, 0, 0, 0}, M(1000 * 30 + 100 * 180),
	    RESP("gpt-9-mini", "\"input_tokens\":1000,\"output_tokens\":100")},
	{"a later Gemini", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 2 + 100 * 12),
	    "{\"usageMetadata\":{\"promptTokenCount\":1000,"
	    "\"candidatesTokenCount\":100},\"modelVersion\":"
	    "\"gemini-9-pro\"}"},
	{"a model of no family", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 5 + 100 * 25),
	    CHAT("local-model", "\"prompt_tokens\":1000,"
		"\"completion_tokens\":100")},
	/* A cost that the provider states. */
	{"stated, and higher", JSON, {194, 2, 0, 0, 0}, .95,
	    CHAT("anthropic/claude-sonnet-4.6", "\"prompt_tokens\":194,"
		"\"completion_tokens\":2,\"cost\":0.95")},
	{"stated, and lower than the list", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 3 + 100 * 15),
	    CHAT("anthropic/claude-sonnet-4.6", "\"prompt_tokens\":1000,"
		"\"completion_tokens\":100,\"cost\":1e-9")},
	{"stated as 0", JSON, {1000, 100, 0, 0, 0}, M(1000 * 3 + 100 * 15),
	    CHAT("anthropic/claude-sonnet-4.6", "\"prompt_tokens\":1000,"
		"\"completion_tokens\":100,\"cost\":0")},
	{"stated as less than nothing", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 3 + 100 * 15),
	    CHAT("anthropic/claude-sonnet-4.6", "\"prompt_tokens\":1000,"
		"\"completion_tokens\":100,\"cost\":-5")},
	{"stated as more than there is", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 3 + 100 * 15),
	    CHAT("anthropic/claude-sonnet-4.6", "\"prompt_tokens\":1000,"
		"\"completion_tokens\":100,\"cost\":1e999")},
	/* In objects of their own, escaped, deep, and under other names. */
	{"Converse's tier", JSON, {100, 10, 0, 0, 0},
	    M((100 * .8 + 10 * 3.2) * 2.5),
	    "{\"model\":\"amazon.nova-pro-v1:0\",\"output\":{\"message\":{"
	    "\"role\":\"assistant\",\"content\":[{\"text\":\"ok\"}]}},"
	    "\"stopReason\":\"end_turn\",\"usage\":{\"inputTokens\":100,"
	    "\"outputTokens\":10},\"serviceTier\":{\"type\":\"priority\"}}"},
	{"Converse's latency", JSON, {100, 10, 0, 0, 0},
	    M((100 * .8 + 10 * 3.2) * 1.25),
	    "{\"model\":\"amazon.nova-pro-v1:0\",\"output\":{\"message\":{"
	    "\"role\":\"assistant\",\"content\":[{\"text\":\"ok\"}]}},"
	    "\"stopReason\":\"end_turn\",\"usage\":{\"inputTokens\":100,"
	    "\"outputTokens\":10},\"performanceConfig\":{\"latency\":"
	    "\"optimized\"}}"},
	{"escaped names and values", JSON, {5, 7, 0, 0, 0},
	    M(5 * 5 + 7 * 25),
	    "{\"m\\u006fdel\":\"anthropic\\/claude-opus-4.6\",\"choices\":[],"
	    "\"us\\u0061ge\":{\"prompt\\u005Ftokens\":5,"
	    "\"completion_tokens\":\"\\u0037\"},\"\\ud83d\\ude00\":1}"},
	{"after a tool's input that is nested deep", JSON,
	    {1000, 300, 0, 0, 0}, M(1000 * 3 + 300 * 15),
	    "{\"content\":[{\"type\":\"tool_use\",\"input\":"
	    DEEPEST("[\"a}]\\\"{\", {}]") "}],\"model\":\"claude-sonnet-4-6\","
	    "\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":1000,"
	    "\"output_tokens\":300}}"},
	{"Mistral's cached tokens", JSON, {36, 10, 64, 0, 0},
	    M(36 * .5 + 10 * 1.5 + 64 * .05),
	    CHAT("mistral-large-2512", "\"prompt_tokens\":100,"
		"\"completion_tokens\":10,\"total_tokens\":110,"
		"\"num_cached_tokens\":64")},
	{"reasoning and citations beside the rest (Perplexity)", JSON,
	    {20049, 81160, 0, 0, 0},
	    M(20049 * 5 + 81160 * 25) + 18 * .01,
	    CHAT("sonar-deep-research", "\"prompt_tokens\":33,"
		"\"completion_tokens\":7163,\"total_tokens\":7196,"
		"\"citation_tokens\":20016,\"reasoning_tokens\":73997,"
		"\"num_search_queries\":18")},
	{"searches (xAI)", JSON, {32, 9, 0, 0, 0},
	    M(32 * 3 + 9 * 15) + 4 * .025,
	    CHAT("grok-4", "\"prompt_tokens\":32,\"completion_tokens\":9,"
		"\"num_sources_used\":4")},
	{"records with a separator before each", "application/json-seq",
	    {11, 12, 0, 0, 0}, M(11 * .1 + 12 * .4),
	    "\x1e" CHAT("gpt-4.1-nano", "\"prompt_tokens\":11,"
		"\"completion_tokens\":12") "\n"},
	{"stated in an object (Perplexity)", JSON, {10, 20, 0, 0, 0}, .2,
	    CHAT("sonar-pro", "\"prompt_tokens\":10,\"completion_tokens\":20,"
		"\"cost\":{\"input_tokens_cost\":0.1,\"total_cost\":0.2}")},
	{"stated, and paid with a key of the user's own", JSON,
	    {10, 5, 0, 0, 0}, .5,
	    CHAT("anthropic/claude-opus-4.6", "\"prompt_tokens\":10,"
		"\"completion_tokens\":5,\"cost\":0.0001,\"is_byok\":true,"
		"\"cost_details\":{\"upstream_inference_cost\":0.5}")},
	/* Models of which the family is no guide. */
	{"a large model of an open family", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 2.4 + 100 * 2.4),
	    CHAT("meta.llama3-1-405b-instruct-v1:0", "\"prompt_tokens\":1000,"
		"\"completion_tokens\":100")},
	{"a large request to a Qwen", JSON, {300000, 100, 0, 0, 0},
	    M(300000 * 6 + 100 * 60),
	    CHAT("qwen/qwen3-coder-plus", "\"prompt_tokens\":300000,"
		"\"completion_tokens\":100")},
	{"a large request to a Grok", JSON, {250000, 100, 0, 0, 0},
	    M(250000 * 2.5 + 100 * 5),
	    CHAT("grok-4.20-reasoning", "\"prompt_tokens\":250000,"
		"\"completion_tokens\":100")},
	{"another medium model", JSON, {1000, 100, 0, 0, 0},
	    M(1000 * 1.5 + 100 * 7.5),
	    CHAT("mistralai/mistral-medium-3.5", "\"prompt_tokens\":1000,"
		"\"completion_tokens\":100")},
#undef DEEP
#undef DEEPEST
#undef JSON
#undef SSE
#undef EV
#undef D
#undef START
#undef DELTA
#undef CHUNK
#undef TEXT
#undef STOP
#undef CHAT
#undef MSG
#undef RESP
    /* clang-format on */
};

#endif
