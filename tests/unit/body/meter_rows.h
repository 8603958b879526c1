/* SPDX-License-Identifier: ISC */
/*
 * Answers as the providers send them, and the usage in each. `coded`: sent
 * compressed. Written by hand after the public references; the sums are those
 * of each transcript.
 */
#ifndef METER_ROWS_H
#define METER_ROWS_H

#include "mitmd/body/meter.h"

static const struct meter_row {
	const char *name;
	enum meter_format format;
	bool coded;
	struct meter_usage want;
	const char *text;
} meter_rows[] = {
/* clang-format off */
#define EV(name, data) "event: " name "\ndata: " data "\n\n"
#define D(data) "data: " data "\n\n"
	/* Anthropic */
	{"anthropic: events", METER_SSE, false,
	    {25, 311, 0, 0, 0, true, "claude-sonnet-4-6"},
	    EV("message_start", "{\"type\":\"message_start\",\"message\":{"
		"\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\","
		"\"model\":\"claude-sonnet-4-6\",\"content\":[],"
		"\"stop_reason\":null,\"usage\":{\"input_tokens\":25,"
		"\"output_tokens\":1}}}")
	    EV("ping", "{\"type\":\"ping\"}")
	    EV("content_block_delta", "{\"type\":\"content_block_delta\","
		"\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"
		"\"{\\\"usage\\\":{\\\"input_tokens\\\":9999}}\"}}")
	    EV("message_delta", "{\"type\":\"message_delta\",\"delta\":{"
		"\"stop_reason\":\"end_turn\"},\"usage\":{"
		"\"output_tokens\":311}}")
	    EV("message_stop", "{\"type\":\"message_stop\"}")},
	{"anthropic: cached", METER_SSE, false,
	    {4, 52, 18000, 2048, 0, true, "claude-opus-4-6"},
	    EV("message_start", "{\"message\":{\"model\":\"claude-opus-4-6\","
		"\"usage\":{\"input_tokens\":4,"
		"\"cache_creation_input_tokens\":2048,"
		"\"cache_read_input_tokens\":18000,\"cache_creation\":{"
		"\"ephemeral_5m_input_tokens\":2048,"
		"\"ephemeral_1h_input_tokens\":0},\"output_tokens\":3,"
		"\"service_tier\":\"standard\"}},\"type\":\"message_start\"}")
	    EV("message_delta", "{\"type\":\"message_delta\",\"usage\":{"
		"\"input_tokens\":4,\"cache_creation_input_tokens\":2048,"
		"\"cache_read_input_tokens\":18000,\"output_tokens\":52,"
		"\"server_tool_use\":{\"web_search_requests\":0}}}")},
	{"anthropic: JSON", METER_JSON, false,
	    {2095, 503, 100, 7, 0, true, "claude-haiku-4-5"},
	    "{\"content\":[{\"text\":\"Hi\",\"type\":\"text\"}],\"id\":\"m\","
	    "\"model\":\"claude-haiku-4-5\",\"role\":\"assistant\","
	    "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":2095,"
	    "\"cache_creation_input_tokens\":7,"
	    "\"cache_read_input_tokens\":100,\"output_tokens\":503}}"},
	{"anthropic: cut off", METER_SSE, false,
	    {1000, 1, 0, 0, 0, true, "claude-sonnet-4-6"},
	    EV("message_start", "{\"type\":\"message_start\",\"message\":{"
		"\"model\":\"claude-sonnet-4-6\",\"usage\":{"
		"\"input_tokens\":1000,\"output_tokens\":1}}}")
	    "event: content_block_delta\r\ndata: {\"type\":\"content_blo"},
	{"anthropic: gzip", METER_JSON, true,
	    {11, 22, 33, 44, 0, true, "claude-sonnet-4-6"},
	    "{\"model\":\"claude-sonnet-4-6\",\"usage\":{\"input_tokens\":11,"
	    "\"output_tokens\":22,\"cache_read_input_tokens\":33,"
	    "\"cache_creation_input_tokens\":44}}"},
	/* OpenAI, chat completions */
	{"chat: events", METER_SSE, false,
	    {19, 10, 0, 0, 0, true, "gpt-5.1"},
	    D("{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":"
		"\"gpt-5.1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
		"\"data: [DONE]\"}}],\"usage\":null}")
	    D("{\"id\":\"c\",\"model\":\"gpt-5.1\",\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":19,\"completion_tokens\":10,"
		"\"total_tokens\":29,\"prompt_tokens_details\":{"
		"\"cached_tokens\":0,\"audio_tokens\":0},"
		"\"completion_tokens_details\":{\"reasoning_tokens\":0}}}")
	    D("[DONE]")},
	{"chat: cached and reasoning", METER_SSE, false,
	    {976, 820, 1024, 0, 640, true, "gpt-5.1-2025-11-13"},
	    D("{\"model\":\"gpt-5.1-2025-11-13\",\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":2000,\"completion_tokens\":820,"
		"\"prompt_tokens_details\":{\"cached_tokens\":1024},"
		"\"completion_tokens_details\":{\"reasoning_tokens\":640,"
		"\"accepted_prediction_tokens\":0}}}")
	    D("[DONE]")},
	{"chat: JSON", METER_JSON, false,
	    {18, 10, 1, 0, 4, true, "gpt-4.1"},
	    "{\n  \"id\": \"c\",\n  \"model\": \"gpt-4.1\",\n  \"choices\": [{"
	    "\"message\": {\"content\": \"\\\"usage\\\": {}\"}}],\n"
	    "  \"usage\": {\n    \"prompt_tokens\": 19,\n"
	    "    \"completion_tokens\": 10,\n    \"prompt_tokens_details\": "
	    "{\"cached_tokens\": 1 },\n    \"completion_tokens_details\": "
	    "{\"reasoning_tokens\" : 4}\n  }\n}\n"},
	{"chat: cut off before its usage", METER_SSE, false,
	    {0, 0, 0, 0, 0, false, "gpt-5.1"},
	    D("{\"model\":\"gpt-5.1\",\"choices\":[{\"delta\":{}}]}")
	    "data: {\"model\":\"gpt-5.1\",\"choices\":[],\"usage\":{\"prom"},
	{"chat: gzip", METER_SSE, true,
	    {5, 6, 0, 0, 0, true, "gpt-5.1"},
	    D("{\"model\":\"gpt-5.1\",\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":5,\"completion_tokens\":6}}")},
	/* OpenAI, responses */
	{"responses: events", METER_SSE, false,
	    {36, 87, 0, 0, 0, true, "gpt-5.1-codex"},
	    EV("response.created", "{\"type\":\"response.created\","
		"\"response\":{\"id\":\"r\",\"model\":\"gpt-5.1-codex\","
		"\"usage\":null}}")
	    EV("response.output_text.delta", "{\"delta\":\"Hi\"}")
	    EV("response.completed", "{\"type\":\"response.completed\","
		"\"response\":{\"model\":\"gpt-5.1-codex\",\"usage\":{"
		"\"input_tokens\":36,\"output_tokens\":87,"
		"\"total_tokens\":123}}}")},
	{"responses: cached and reasoning", METER_SSE, false,
	    {500, 900, 9500, 0, 832, true, "gpt-5.1-codex-max"},
	    EV("response.completed", "{\"response\":{\"usage\":{"
		"\"input_tokens\":10000,\"input_tokens_details\":{"
		"\"cached_tokens\":9500},\"output_tokens\":900,"
		"\"output_tokens_details\":{\"reasoning_tokens\":832}},"
		"\"model\":\"gpt-5.1-codex-max\"},\"type\":\"x\"}")},
	{"responses: JSON", METER_JSON, false,
	    {75, 1186, 0, 0, 1024, true, "gpt-5.1"},
	    "{\"id\":\"r\",\"object\":\"response\",\"model\":\"gpt-5.1\","
	    "\"output\":[{\"type\":\"message\",\"content\":[]}],\"usage\":{"
	    "\"input_tokens\":75,\"input_tokens_details\":{\"cached_tokens\":"
	    "0},\"output_tokens\":1186,\"output_tokens_details\":{"
	    "\"reasoning_tokens\":1024},\"total_tokens\":1261}}"},
	{"responses: cut off, incomplete", METER_SSE, false,
	    {12, 16, 0, 0, 0, true, "gpt-5.1"},
	    EV("response.incomplete", "{\"type\":\"response.incomplete\","
		"\"response\":{\"model\":\"gpt-5.1\",\"usage\":{"
		"\"input_tokens\":12,\"output_tokens\":16}}}")
	    "event: respo"},
	{"responses: gzip", METER_JSON, true,
	    {1, 2, 0, 0, 0, true, "gpt-5.1"},
	    "{\"model\":\"gpt-5.1\",\"usage\":{\"input_tokens\":1,"
	    "\"output_tokens\":2}}"},
	/* Gemini */
	{"gemini: events", METER_SSE, false,
	    {8, 300, 0, 0, 0, true, "gemini-2.5-pro"},
	    D("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],"
		"\"usageMetadata\":{\"promptTokenCount\":8,"
		"\"candidatesTokenCount\":10,\"totalTokenCount\":18},"
		"\"modelVersion\":\"gemini-2.5-pro\"}")
	    "data: {\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":"
	    "8,\"candidatesTokenCount\":300,\"totalTokenCount\":308},"
	    "\"modelVersion\":\"gemini-2.5-pro\"}\r\n\r\n"},
	{"gemini: cached, thoughts, tools", METER_SSE, false,
	    {1050, 700, 4000, 0, 500, true, "gemini-3-pro-preview"},
	    D("{\"usageMetadata\":{\"promptTokenCount\":5000,"
		"\"cachedContentTokenCount\":4000,\"candidatesTokenCount\":200,"
		"\"thoughtsTokenCount\":500,\"toolUsePromptTokenCount\":50,"
		"\"promptTokensDetails\":[{\"modality\":\"TEXT\","
		"\"tokenCount\":5000}]},"
		"\"modelVersion\":\"gemini-3-pro-preview\"}")},
	{"gemini: JSON, a list", METER_JSON, false,
	    {8, 20, 0, 0, 0, true, "gemini-2.5-flash"},
	    "[{\"usageMetadata\":{\"promptTokenCount\":8}}\n,\r\n"
	    "{\"usageMetadata\":{\"promptTokenCount\":8,"
	    "\"candidatesTokenCount\":20},"
	    "\"modelVersion\":\"gemini-2.5-flash\"}]"},
	{"gemini: cut off", METER_SSE, false,
	    {8, 10, 0, 0, 0, true, "gemini-2.5-pro"},
	    D("{\"usageMetadata\":{\"promptTokenCount\":8,"
		"\"candidatesTokenCount\":10},"
		"\"modelVersion\":\"gemini-2.5-pro\"}")
	    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"te"},
	{"gemini: gzip, wrapped", METER_JSON, true,
	    {3, 4, 0, 0, 0, true, "gemini-2.5-pro"},
	    "{\"response\":{\"usageMetadata\":{\"promptTokenCount\":3,"
	    "\"candidatesTokenCount\":4},\"modelVersion\":\"gemini-2.5-pro\"}}"},
	/* OpenRouter */
	{"openrouter: chat events, comments", METER_SSE, false,
	    {194, 2, 0, 0, 0, true, "anthropic/claude-sonnet-4.6"},
	    ": OPENROUTER PROCESSING\n\n"
	    D("{\"model\":\"anthropic/claude-sonnet-4.6\",\"choices\":[{"
		"\"delta\":{\"role\":\"assistant\"}}]}")
	    D("{\"model\":\"anthropic/claude-sonnet-4.6\",\"choices\":[],"
		"\"usage\":{\"prompt_tokens\":194,\"completion_tokens\":2,"
		"\"cost\":0.95,\"cost_details\":{\"upstream\":19}}}")},
	{"openrouter: cached and reasoning", METER_SSE, false,
	    {94, 200, 100, 0, 150, true, "openai/gpt-5.1"},
	    D("{\"model\":\"openai/gpt-5.1\",\"usage\":{\"prompt_tokens\":194,"
		"\"completion_tokens\":200,\"prompt_tokens_details\":{"
		"\"cached_tokens\":100},\"completion_tokens_details\":{"
		"\"reasoning_tokens\":150}}}")},
	{"openrouter: messages", METER_SSE, false,
	    {10, 30, 20, 5, 0, true, "anthropic/claude-opus-4.6"},
	    D("{\"type\":\"message_start\",\"message\":{\"model\":"
		"\"anthropic/claude-opus-4.6\",\"usage\":{\"input_tokens\":0,"
		"\"output_tokens\":0}}}")
	    D("{\"type\":\"message_delta\",\"usage\":{\"input_tokens\":10,"
		"\"output_tokens\":30,\"cache_read_input_tokens\":20,"
		"\"cache_creation_input_tokens\":5}}")},
	{"openrouter: cut off", METER_SSE, false,
	    {0, 0, 0, 0, 0, false, ""}, ": OPENROUTER PROCESSING\n\n: OPENR"},
	{"openrouter: gzip", METER_JSON, true,
	    {7, 8, 0, 0, 0, true, "z-ai/glm-4.6"},
	    "{\"model\":\"z-ai/glm-4.6\",\"usage\":{\"prompt_tokens\":7,"
	    "\"completion_tokens\":8,\"input_tokens\":7}}"},
	/* without usage, nothing is counted */
	{"an error", METER_JSON, false, {0, 0, 0, 0, 0, false, ""},
	    "{\"type\":\"error\",\"error\":{\"usage\":{\"input_tokens\":5}}}"},
	{"no counts", METER_JSON, false, {0, 0, 0, 0, 0, false, "m"},
	    "{\"model\":\"m\",\"usage\":{\"input_tokens\":-5,"
	    "\"output_tokens\":1.5,\"prompt_tokens\":\"7x\","
	    "\"completion_tokens\":99999999999999999999}}"},
	{"no JSON", METER_JSON, false, {0, 0, 0, 0, 0, false, ""},
	    "<html>{\"usage\":{\"input_tokens\":5}}"},
	{"data over several lines, CR alone", METER_SSE, false,
	    {5, 6, 0, 0, 0, true, "m"},
	    "data: {\"model\":\"m\",\rdata:\"usage\":{\"input_tokens\":\r"
	    "data: 5,\"output_tokens\":6}\rdata: }\r\r"},
	{"lines that are not data", METER_SSE, false,
	    {0, 0, 0, 0, 0, false, ""},
	    "dat: {\"usage\":{\"input_tokens\":5}}\n\n"
	    "xdata: {\"usage\":{\"input_tokens\":5}}\n\n"
	    "DATA: {\"usage\":{\"input_tokens\":5}}\n\n"},
#undef EV
#undef D
    /* clang-format on */
};

#endif
