/* SPDX-License-Identifier: ISC */
/* The rows of test_compose.c. */
#ifndef COMPOSE_ROWS_H
#define COMPOSE_ROWS_H

#include "docker/model/model.h"

#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define REPLACED "\xef\xbf\xbd"

/* clang-format off */
static const struct {
	enum model_dialect dialect;
	const char *path, *want;
} compose_rows[] = {
	{MODEL_ANTHROPIC, "/v1/messages",
	    "{\"model\":\"m\",\"max_tokens\":9,\"stream\":true,"
	    "\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\"" MARK "}],"
	    "\"tools\":[{\"name\":\"look\",\"description\":\"Looks.\","
	    "\"input_schema\":{\"type\":\"object\"}}],"
	    "\"messages\":["
	    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"}]},"
	    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"I look.\"},"
	    "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{\"p\":1}},"
	    "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"look\",\"input\":{}}]},"
	    "{\"role\":\"user\",\"content\":["
	    "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"seen \\\"it\\\"\\n\"},"
	    "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":\"bad\",\"is_error\":true},"
	    "{\"type\":\"text\",\"text\":\"two " REPLACED "\"" MARK "}]},"
	    "{\"role\":\"assistant\",\"content\":[{\"signature\":\"S\",\"type\":\"thinking\"}]},"
	    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"three\"" MARK "}]}]}"},
	{MODEL_RESPONSES, "/v1/responses",
	    "{\"model\":\"m\",\"stream\":true,\"store\":false,\"max_output_tokens\":9,"
	    "\"instructions\":\"Be brief.\","
	    "\"tools\":[{\"type\":\"function\",\"strict\":false,\"name\":\"look\","
	    "\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\"}}],"
	    "\"input\":["
	    "{\"type\":\"message\",\"role\":\"user\",\"content\":\"one\"},"
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"I look.\"},"
	    "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"look\","
	    "\"arguments\":\"{\\\"p\\\":1}\"},"
	    "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"look\",\"arguments\":\"{}\"},"
	    "{\"type\":\"function_call_output\",\"call_id\":\"c1\","
	    "\"output\":\"seen \\\"it\\\"\\n\"},"
	    "{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":\"bad\"},"
	    "{\"type\":\"message\",\"role\":\"user\",\"content\":\"two " REPLACED "\"},"
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Thought.\"},"
	    "{\"type\":\"message\",\"role\":\"user\",\"content\":\"three\"}]}"},
	{MODEL_CHAT, "/v1/chat/completions",
	    "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
	    "\"max_completion_tokens\":9,"
	    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\","
	    "\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\"}}}],"
	    "\"messages\":["
	    "{\"role\":\"system\",\"content\":\"Be brief.\"},"
	    "{\"role\":\"user\",\"content\":\"one\"},"
	    "{\"role\":\"assistant\",\"content\":\"I look.\",\"tool_calls\":["
	    "{\"type\":\"function\",\"id\":\"c1\",\"function\":{\"name\":\"look\","
	    "\"arguments\":\"{\\\"p\\\":1}\"}},"
	    "{\"type\":\"function\",\"id\":\"c2\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}]},"
	    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"seen \\\"it\\\"\\n\"},"
	    "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"bad\"},"
	    "{\"role\":\"user\",\"content\":\"two " REPLACED "\"},"
	    "{\"role\":\"assistant\",\"content\":\"Thought.\"},"
	    "{\"role\":\"user\",\"content\":\"three\"}]}"},
	{MODEL_GEMINI, "/v1beta/models/m:streamGenerateContent?alt=sse",
	    "{\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]},"
	    "\"generationConfig\":{\"maxOutputTokens\":9},"
	    "\"tools\":[{\"functionDeclarations\":[{\"name\":\"look\",\"description\":\"Looks.\","
	    "\"parametersJsonSchema\":{\"type\":\"object\"}}]}],"
	    "\"contents\":["
	    "{\"role\":\"user\",\"parts\":[{\"text\":\"one\"}]},"
	    "{\"role\":\"model\",\"parts\":[{\"text\":\"I look.\"},"
	    "{\"functionCall\":{\"id\":\"c1\",\"name\":\"look\",\"args\":{\"p\":1}}},"
	    "{\"functionCall\":{\"id\":\"c2\",\"name\":\"look\",\"args\":{}}}]},"
	    "{\"role\":\"user\",\"parts\":["
	    "{\"functionResponse\":{\"id\":\"c1\",\"name\":\"look\","
	    "\"response\":{\"output\":\"seen \\\"it\\\"\\n\"}}},"
	    "{\"functionResponse\":{\"id\":\"c2\",\"name\":\"look\",\"response\":{\"error\":\"bad\"}}},"
	    "{\"text\":\"two " REPLACED "\"}]},"
	    "{\"role\":\"model\",\"parts\":[{\"text\":\"Thought.\"}]},"
	    "{\"role\":\"user\",\"parts\":[{\"text\":\"three\"}]}]}"},
};
/* clang-format on */

#endif
