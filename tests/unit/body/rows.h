/* SPDX-License-Identifier: ISC */
/*
 * Bodies, and the filter's result for each. `act` has one letter for each of
 * tools, mcp, urls, store, background: s(trip), d(eny), a(llow); NULL is the
 * default. `out`: NULL means unchanged, "!kind" refused for that kind, "?" not
 * strict.
 */
#ifndef BODY_ROWS_H
#define BODY_ROWS_H

#include "mitmd/body/filter.h"

static const struct body_row {
	enum filter_dialect dialect;
	const char *act;
	const char *in;
	const char *out;
} body_rows[] = {
#define A FILTER_ANTHROPIC
#define B FILTER_BEDROCK
#define C FILTER_CHAT
#define V FILTER_CONVERSE
#define R FILTER_RESPONSES
#define G FILTER_GEMINI
    /* nothing to find */
    {A, NULL, "{}", NULL},
    {A, NULL, "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}", NULL},
    {A, NULL, "{\"tools\":[{\"name\":\"a\",\"input_schema\":{}}]}", NULL},
    {A, NULL,
	"{\"tools\":[{\"type\":\"custom\",\"name\":\"a\"},"
	"{\"type\":\"bash_20250124\",\"name\":\"bash\"},"
	"{\"type\":\"text_editor_20250728\",\"name\":\"e\"}]}",
	NULL},
    {A, NULL, "{\"tools\":[{\"type\":null,\"name\":\"a\"}]}", NULL},
    /* Anthropic: the provider's own tools */
    {A, NULL,
	"{\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"w\"},"
	"{\"name\":\"a\"}]}",
	"{\"tools\":[{\"name\":\"a\"}]}"},
    {A, NULL,
	"{\"tools\":[{\"name\":\"a\"},{\"name\":\"w\",\"type\":"
	"\"web_fetch_20250910\"}]}",
	"{\"tools\":[{\"name\":\"a\"}]}"},
    {A, NULL,
	"{\"tools\":[{\"name\":\"a\"},{\"type\":\"code_execution_20250522\"},"
	"{\"type\":\"web_search_20250305\"},{\"name\":\"b\"} , "
	"{\"type\":\"web_fetch_20250910\"} ]}",
	"{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}  ]}"},
    {A, NULL,
	"{\"model\":\"m\",\"tools\":[{\"type\":\"web_search_20250305\"}],"
	"\"max_tokens\":5}",
	"{\"model\":\"m\",\"max_tokens\":5}"},
    {A, NULL, "{\"tools\":[{\"type\":\"web_search_20250305\"}]}", "{}"},
    {A, NULL,
	"{\"model\":\"m\",\"tool_choice\":{\"type\":\"any\"},"
	"\"tools\":[{\"type\":\"web_search_20250305\"}]}",
	"{\"model\":\"m\"}"},
    {A, NULL,
	"{\"tool_choice\":{\"type\":\"tool\",\"name\":\"w\"},"
	"\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"w\"},"
	"{\"name\":\"a\"}],\"model\":\"m\"}",
	"{\"tools\":[{\"name\":\"a\"}],\"model\":\"m\"}"},
    {A, NULL,
	"{\"tool_choice\":{\"type\":\"tool\",\"name\":\"a\"},"
	"\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"w\"},"
	"{\"name\":\"a\"}],\"model\":\"m\"}",
	"{\"tool_choice\":{\"type\":\"tool\",\"name\":\"a\"},"
	"\"tools\":[{\"name\":\"a\"}],\"model\":\"m\"}"},
    {A, NULL,
	"{\"tools\":[{\"type\":\"web\\u005fsearch_20250305\"},{\"type\":[]},"
	"{\"type\":7},{\"type\":\"some_new_kind\"},{\"name\":\"a\"}]}",
	"{\"tools\":[{\"name\":\"a\"}]}"},
    {A, NULL, "{\"t\\u006fols\":[{\"type\":\"web_search_20250305\"}]}",
	"{}"},
    {A, NULL, "{\"Tools\":[{\"type\":\"web_search_20250305\"}]}", "{}"},
    {A, "dssss", "{\"tools\":[{\"type\":\"web_search_20250305\"}]}",
	"!tools"},
    {A, "assss", "{\"tools\":[{\"type\":\"web_search_20250305\"}]}", NULL},
    {A, NULL, "{\"container\":{\"skills\":[]},\"model\":\"m\"}",
	"{\"model\":\"m\"}"},
    /* arguments of tools are not inspected */
    {A, NULL,
	"{\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":"
	"\"tool_use\",\"input\":{\"tools\":[{\"type\":\"web_search\"}],"
	"\"source\":{\"type\":\"url\",\"url\":\"http://x\"}}}]}]}",
	NULL},
    {A, NULL,
	"{\"tools\":[{\"name\":\"a\",\"input_schema\":{\"type\":\"object\","
	"\"properties\":{\"type\":{\"type\":\"string\"}}}}]}",
	NULL},
    /* remote MCP */
    {A, NULL,
	"{\"mcp_servers\":[{\"type\":\"url\",\"url\":\"https://x\"}],"
	"\"tools\":[{\"type\":\"mcp_toolset\",\"mcp_server_name\":\"x\"}]}",
	"{}"},
    {A, "sdsss", "{\"mcp_servers\":[]}", "!mcp"},
    {A, "sdsss", "{\"tools\":[{\"type\":\"mcp_toolset\"}]}", "!mcp"},
    {A, NULL, "{\"mcp_servers\":null}", NULL},
    /* URL sources */
    {A, NULL,
	"{\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":"
	"{\"type\":\"url\",\"url\":\"https://x/a.png\"}}]}]}",
	"!urls"},
    {A, NULL,
	"{\"messages\":[{\"content\":[{\"type\":\"tool_result\",\"content\":["
	"{\"type\":\"document\",\"source\":{\"url\":\"https://x\"}}]}]}]}",
	"!urls"},
    {A, NULL,
	"{\"system\":[{\"type\":\"document\",\"source\":{\"type\":\"content\","
	"\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"url\","
	"\"url\":\"https://x\"}}]}}]}",
	"!urls"},
    {A, NULL,
	"{\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":"
	"{\"type\":\"base64\",\"data\":\"AAAA\"}},{\"type\":\"search_result\","
	"\"source\":\"https://x\"}]}]}",
	NULL},
    {A, "sssss",
	"{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
	"{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"h\"}}]}]}",
	"{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
	"{\"type\":\"text\",\"text\":\"(filtered)\"}]}]}"},
    {A, "ssass",
	"{\"messages\":[{\"content\":[{\"source\":{\"url\":\"h\"}}]}]}", NULL},
    {A, "sssss", "{\"messages\":[{\"content\":{\"source\":{\"url\":1}}}]}",
	"!urls"},
    /* OpenAI chat */
    {C, NULL,
	"{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"function\":{"
	"\"name\":\"a\"}}],\"messages\":[]}",
	NULL},
    {C, NULL,
	"{\"model\":\"m\",\"web_search_options\":{},\"tools\":[{\"type\":"
	"\"web_search_preview\"}],\"tool_choice\":\"auto\","
	"\"parallel_tool_calls\":true,\"messages\":[]}",
	"{\"model\":\"m\",\"messages\":[]}"},
    /* The provider searches, by members of other makers. */
    {C, NULL,
	"{\"model\":\"m\",\"search_parameters\":{\"mode\":\"on\"},"
	"\"enable_search\":true,\"search_options\":{\"forced_search\":true},"
	"\"data_sources\":[{\"type\":\"azure_search\"}],"
	"\"search_settings\":{},\"web_search\":true,\"messages\":[]}",
	"{\"model\":\"m\",\"messages\":[]}"},
    {C, NULL,
	"{\"model\":\"a/b:online\",\"models\":[\"c:online\",\"d\"],"
	"\"plugins\":[{\"id\":\"web\"}],\"messages\":[]}",
	"{\"model\":\"a/b\",\"models\":[\"c\",\"d\"],\"messages\":[]}"},
    {C, NULL,
	"{\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{"
	"\"url\":\"data:image/png;base64,AA\"}},{\"image_url\":\"DATA:,x\"},"
	"{\"type\":\"file\",\"file\":{\"file_data\":\"data:x\"}},"
	"{\"file\":{\"file_data\":\"AA\\/+=\"}}]}]}",
	NULL},
    {C, NULL,
	"{\"messages\":[{\"content\":[{\"image_url\":{\"url\":"
	"\"https://x\"}}]}]}",
	"!urls"},
    {C, NULL, "{\"messages\":[{\"content\":[{\"image_url\":\"//x\"}]}]}",
	"!urls"},
    {C, NULL,
	"{\"messages\":[{\"content\":[{\"file\":{\"file_data\":"
	"\"https://x\"}}]}]}",
	"!urls"},
    {C, NULL,
	"{\"messages\":[{\"content\":[{\"file\":{\"file_data\":"
	"\"https\\u003a//x\"}}]}]}",
	"!urls"},
    {C, NULL,
	"{\"messages\":[{\"content\":[{\"video_url\":{\"url\":\"h:x\"}}]}]}",
	"!urls"},
    {C, "sssss",
	"{\"messages\":[{\"content\":[{\"imageUrl\":{\"url\":\"h:x\"}},1]}]}",
	"{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":"
	"\"(filtered)\"},1]}]}"},
    {C, NULL, "{\"store\":true,\"model\":\"m\"}", "{\"model\":\"m\"}"},
    {C, NULL, "{\"model\":\"m\",\"store\":false}", NULL},
    {C, "sssds", "{\"model\":\"m\",\"store\":true}", "!store"},
    {C, NULL,
	"{\"tools\":[{\"type\":\"mcp\"},{\"type\":\"function\"}],"
	"\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{}}}",
	"{\"tools\":[{\"type\":\"function\"}],"
	"\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{}}}"},
    /* OpenAI responses */
    {R, NULL, "{\"model\":\"m\",\"input\":\"x\",\"store\":false}", NULL},
    {R, NULL, "{\"model\":\"m\",\"input\":\"x\",\"store\":true}",
	"{\"model\":\"m\",\"input\":\"x\",\"store\":false}"},
    {R, NULL, "{\"model\":\"m\",\"input\":\"x\"}",
	"{\"store\":false,\"model\":\"m\",\"input\":\"x\"}"},
    {R, "sssas", "{\"model\":\"m\",\"input\":\"x\"}", NULL},
    {R, "sssds", "{\"model\":\"m\",\"input\":\"x\"}", "!store"},
    {R, NULL, "{\"background\":true,\"input\":\"x\",\"store\":false}",
	"{\"input\":\"x\",\"store\":false}"},
    {R, "ssssd", "{\"background\":true,\"input\":\"x\",\"store\":false}",
	"!background"},
    {R, NULL,
	"{\"store\":false,\"tools\":[{\"type\":\"web_search\"},"
	"{\"type\":\"function\",\"name\":\"f\"},{\"type\":\"local_shell\"},"
	"{\"type\":\"image_generation\"},{\"type\":\"file_search\"},"
	"{\"type\":\"code_interpreter\",\"container\":{\"type\":\"auto\"}},"
	"{\"type\":\"mcp\",\"server_url\":\"https://x\"},"
	"{\"type\":\"shell\",\"environment\":{\"type\":\"container_auto\"}},"
	"{\"type\":\"shell\",\"environment\":{\"type\":\"local\"}},"
	"{\"type\":\"tool_search\",\"execution\":\"client\"},"
	"{\"type\":\"tool_search\"},"
	"{\"type\":\"custom\",\"name\":\"c\"}]}",
	"{\"store\":false,\"tools\":["
	"{\"type\":\"function\",\"name\":\"f\"},{\"type\":\"local_shell\"},"
	"{\"type\":\"shell\",\"environment\":{\"type\":\"local\"}},"
	"{\"type\":\"tool_search\",\"execution\":\"client\"},"
	"{\"type\":\"tool_search\"},"
	"{\"type\":\"custom\",\"name\":\"c\"}]}"},
    {R, NULL,
	"{\"store\":false,\"tools\":[{\"type\":\"namespace\",\"tools\":["
	"{\"type\":\"function\"},{\"type\":\"web_search\"}]}]}",
	"{\"store\":false,\"tools\":[{\"type\":\"namespace\",\"tools\":["
	"{\"type\":\"function\"}]}]}"},
    {R, NULL,
	"{\"store\":false,\"tool_choice\":{\"type\":\"web_search\"},"
	"\"tools\":[{\"type\":\"function\"}]}",
	"{\"store\":false,\"tools\":[{\"type\":\"function\"}]}"},
    {R, NULL,
	"{\"store\":false,\"tool_choice\":{\"type\":\"allowed_tools\","
	"\"tools\":[{\"type\":\"mcp\"},{\"type\":\"function\"}]},"
	"\"tools\":[{\"type\":\"function\"}]}",
	"{\"store\":false,\"tool_choice\":{\"type\":\"allowed_tools\","
	"\"tools\":[{\"type\":\"function\"}]},"
	"\"tools\":[{\"type\":\"function\"}]}"},
    {R, NULL,
	"{\"store\":false,\"input\":[{\"role\":\"user\",\"content\":[{\"type\":"
	"\"input_image\",\"image_url\":\"https://x\"}]}]}",
	"!urls"},
    {R, NULL,
	"{\"store\":false,\"input\":[{\"type\":\"function_call_output\","
	"\"output\":[{\"type\":\"input_file\",\"file_url\":\"https://x\"}]}]}",
	"!urls"},
    {R, "sssas",
	"{\"store\":false,\"prompt\":{\"variables\":{\"v\":{"
	"\"type\":\"input_image\",\"image_url\":\"https://x\"}}}}",
	"!urls"},
    {R, NULL,
	"{\"store\":false,\"prompt\":{\"variables\":{\"v\":{"
	"\"type\":\"input_image\",\"image_url\":\"https://x\"}}}}",
	"!urls"},
    {R, NULL,
	"{\"store\":false,\"input\":[{\"content\":[{\"type\":\"input_image\","
	"\"image_url\":\"data:image/png;base64,AA\"},{\"type\":\"output_text\","
	"\"annotations\":[{\"type\":\"url_citation\",\"url\":\"https://x\"}]}"
	"]}]}",
	NULL},
    {R, "sssss",
	"{\"store\":false,\"input\":[{\"content\":[{\"image_url\":\"h\"}]}]}",
	"{\"store\":false,\"input\":[{\"content\":[{\"type\":\"input_text\","
	"\"text\":\"(filtered)\"}]}]}"},
    /* names of things in the account, in each dialect */
#define KEPT(d, text) {d, NULL, text, "!store"}, {d, "sssas", text, NULL}
    KEPT(R, "{\"store\":false,\"previous_response_id\":\"r\",\"input\":\"x\"}"),
    KEPT(R, "{\"store\":false,\"previousResponseId\":\"r\",\"input\":\"x\"}"),
    KEPT(R, "{\"store\":false,\"conversation\":{\"id\":\"c\"},\"input\":\"x\"}"),
    KEPT(R, "{\"store\":false,\"conversation\":\"c\",\"input\":\"x\"}"),
    KEPT(R, "{\"store\":false,\"prompt\":{\"id\":\"p\",\"version\":\"2\"}}"),
    KEPT(R, "{\"store\":false,\"input\":[{\"type\":\"item_reference\","
	"\"id\":\"m\"}]}"),
    KEPT(R, "{\"store\":false,\"input\":[{\"type\":\"item\\u005freference\","
	"\"id\":\"m\"}]}"),
    KEPT(R, "{\"store\":false,\"input\":[{\"id\":\"m\"}]}"),
    KEPT(R, "{\"store\":false,\"input\":[{\"type\":null,\"id\":\"m\"}]}"),
    KEPT(R, "{\"store\":false,\"input\":[{\"role\":\"user\",\"content\":[{"
	"\"type\":\"input_file\",\"file_id\":\"f\"}]}]}"),
    KEPT(R, "{\"store\":false,\"prompt\":{\"variables\":{\"v\":{\"type\":"
	"\"input_file\",\"file_id\":\"f\"}}}}"),
    KEPT(R, "{\"store\":false,\"model\":\"@preset/x\",\"input\":\"x\"}"),
    {R, NULL,
	"{\"store\":false,\"previous_response_id\":null,\"conversation\":null,"
	"\"input\":[{\"id\":\"m\",\"type\":\"message\",\"role\":\"user\"},"
	"{\"id\":\"r\",\"type\":\"reasoning\",\"summary\":[]},"
	"{\"id\":\"n\",\"role\":\"user\",\"content\":\"item_reference\"}]}",
	NULL},
    KEPT(C, "{\"previous_response_id\":\"r\"}"),
    KEPT(C, "{\"preset\":\"p\"}"),
    KEPT(C, "{\"model\":\"openai/gpt-5@preset/x\"}"),
    KEPT(C, "{\"messages\":[{\"audio\":{\"id\":\"a\"}}]}"),
    KEPT(C, "{\"messages\":[{\"content\":[{\"type\":\"file\",\"file\":{"
	"\"file_id\":\"f\"}}]}]}"),
    {C, NULL, "{\"audio\":{\"voice\":\"v\",\"id\":\"x\"}}", NULL},
    KEPT(A, "{\"messages\":[{\"content\":[{\"type\":\"document\",\"source\":{"
	"\"type\":\"file\",\"file_id\":\"f\"}}]}]}"),
    KEPT(A, "{\"messages\":[{\"content\":[{\"type\":\"container_upload\","
	"\"file_id\":\"f\"}]}]}"),
    {A, NULL,
	"{\"messages\":[{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\","
	"\"input\":{\"file_id\":\"f\",\"previous_response_id\":\"r\"}}]}]}",
	NULL},
    KEPT(G, "{\"cachedContent\":\"cachedContents/x\",\"contents\":[]}"),
    KEPT(B, "{\"messages\":[{\"content\":[{\"source\":{\"type\":\"file\","
	"\"file_id\":\"f\"}}]}]}"),
    KEPT(V, "{\"promptVariables\":{\"a\":{\"text\":\"b\"}}}"),
#undef KEPT
    /* Tools that search the request's own tools */
    {A, NULL,
	"{\"tools\":[{\"type\":\"tool_search_tool_bm25_20251119\",\"name\":"
	"\"tool_search_tool_bm25\"},{\"name\":\"a\",\"defer_loading\":true}]}",
	NULL},
    {A, NULL,
	"{\"tools\":[{\"type\":\"tool_search_tool_regex_20251119\",\"name\":"
	"\"tool_search_tool_regex\"},{\"type\":\"tool_search_tool_bm25\"}]}",
	NULL},
    {B, NULL, "{\"tools\":[{\"type\":\"tool_search_tool_regex\"}]}", NULL},
    {V, NULL,
	"{\"additionalModelRequestFields\":{\"tools\":[{\"type\":"
	"\"tool_search_tool_bm25_20251119\"}]}}",
	NULL},
    {C, NULL,
	"{\"tools\":[{\"type\":\"tool_search_tool_bm25_20251119\"},"
	"{\"type\":\"tool_search\"}]}",
	NULL},
    /* ... and their WebSocket messages */
    {R, NULL,
	"{\"type\":\"response.create\",\"input\":[],\"tools\":[{\"type\":"
	"\"web_search\"}]}",
	"{\"store\":false,\"type\":\"response.create\",\"input\":[]}"},
    {R, NULL,
	"{\"type\":\"response.create\",\"response\":{\"tools\":[{\"type\":"
	"\"mcp\"}],\"x\":1}}",
	"{\"type\":\"response.create\",\"response\":{\"tools\":[],\"x\":1}}"},
    {R, NULL, "{\"type\":\"response.append\",\"input\":[]}", NULL},
    /* Gemini */
    {G, NULL,
	"{\"contents\":[{\"parts\":[{\"text\":\"x\"}]}],\"tools\":[{"
	"\"functionDeclarations\":[{\"name\":\"googleSearch\"}]}]}",
	NULL},
    {G, NULL,
	"{\"contents\":[],\"tools\":[{\"googleSearch\":{}},"
	"{\"functionDeclarations\":[],\"codeExecution\":{}},"
	"{\"url_context\":{}}]}",
	"{\"contents\":[],\"tools\":[{\"functionDeclarations\":[]}]}"},
    {G, NULL, "{\"contents\":[],\"tools\":[{\"google_search\":{}}]}",
	"{\"contents\":[]}"},
    {G, "dssss", "{\"tools\":[{\"urlContext\":{}}]}", "!tools"},
    {G, NULL,
	"{\"request\":{\"tools\":[{\"google_search\":{}}],\"x\":1},\"y\":2}",
	"{\"request\":{\"tools\":[],\"x\":1},\"y\":2}"},
    {G, NULL,
	"{\"contents\":[{\"parts\":[{\"fileData\":{\"fileUri\":\"gs://\"}}]}]}",
	"!urls"},
    {G, NULL,
	"{\"contents\":{\"parts\":{\"file_data\":{\"file_uri\":\"h\"}}}}",
	"!urls"},
    {G, NULL,
	"{\"systemInstruction\":{\"parts\":[{\"functionResponse\":{\"parts\":["
	"{\"fileData\":{}}]}}]}}",
	"!urls"},
    {G, "sssss",
	"{\"contents\":[{\"parts\":[{\"fileData\":{\"fileUri\":\"h\"}}]}]}",
	"{\"contents\":[{\"parts\":[{\"text\":\"(filtered)\"}]}]}"},
    {G, NULL,
	"{\"contents\":[{\"parts\":[{\"inlineData\":{\"data\":\"AA\"}},"
	"{\"functionCall\":{\"args\":{\"fileData\":{}}}}]}]}",
	NULL},
    /* chat completions that stream always request their usage */
    {C, NULL, "{\"stream\":false,\"messages\":[]}", NULL},
    {C, NULL, "{\"stream\":null}", NULL},
    {C, NULL,
	"{\"stream\":true,\"stream_options\":{\"include_usage\":true}}", NULL},
    {C, NULL, " {\"stream\":true}",
	" {\"stream_options\":{\"include_usage\":true},\"stream\":true}"},
    {C, NULL, "{\"stream\":1,\"tools\":[{\"type\":\"x\"}]}",
	"{\"stream_options\":{\"include_usage\":true},\"stream\":1}"},
    {C, NULL, "{\"stream_options\":{},\"stream\":true}",
	"{\"stream_options\":{\"include_usage\":true},\"stream\":true}"},
    {C, NULL, "{\"stream_options\":null,\"Stream\":\"yes\"}",
	"{\"stream_options\":{\"include_usage\":true},\"Stream\":\"yes\"}"},
    {C, NULL, "{\"stream\":true,\"stream_options\":[{\"include_usage\":1}]}",
	"{\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
    {C, NULL,
	"{\"stream\":true,\"stream_options\":{\"include_usage\":false}}",
	"{\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
    {C, NULL,
	"{\"stream_options\":{\"include_obfuscation\":false,"
	"\"include_usage\":false, \"x\":1},\"stream\":true}",
	"{\"stream_options\":{\"include_usage\":true,"
	"\"include_obfuscation\":false, \"x\":1},\"stream\":true}"},
    {C, NULL,
	"{\"stream\":true,\"streamOptions\":{\"include_usage\":true},\"x\":1}",
	"{\"stream_options\":{\"include_usage\":true},\"stream\":true,\"x\":1}"},
    {C, NULL,
	"{\"stream_options\":{\"a\":1},\"Stream_Options\":[0],\"stream\":true}",
	"{\"stream_options\":{\"include_usage\":true,\"a\":1},\"stream\":true}"},
    {C, NULL,
	"{\"stream\":true,\"stream_options\":{\"includeUsage\":true,"
	"\"include_usage\":true}}",
	"{\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
    {C, NULL,
	"{\"stream\":true,\"str\\u0065am_options\":{\"include_usage\":true}}",
	NULL},
    {C, NULL, "{\"messages\":[{\"stream\":true}]}", NULL},
    {R, NULL, "{\"store\":false,\"stream\":true}", NULL},
    {A, NULL, "{\"stream\":true}", NULL},
    /* not strict */
    {A, NULL, "", "?"},
    {A, NULL, "[]", "?"},
    {A, NULL, "\"x\"", "?"},
    {A, NULL, "{\"a\":1,\"a\":2}", "?"},
    {A, NULL, "{\"a\":1,\"\\u0061\":2}", "?"},
    {A, NULL, "{\"x\":[{\"b\":{\"a\":1},\"a\":2,\"a\":3}]}", "?"},
    {A, NULL, "{\"a\":1,}", "?"},
    {A, NULL, "{\"a\":[1,]}", "?"},
    {A, NULL, "{\"a\":[1}", "?"},
    {A, NULL, "{\"a\":1} x", "?"},
    {A, NULL, "{\"a\":1}{}", "?"},
    {A, NULL, "{\"a\":01}", "?"},
    {A, NULL, "{\"a\":NaN}", "?"},
    {A, NULL, "{\"a\":tru}", "?"},
    {A, NULL, "{\"a\":\"\\ud800\"}", "?"},
    {A, NULL, "{\"a\":\"\xff\"}", "?"},
    {A, NULL, "{\"a\":\"\n\"}", "?"},
    {A, NULL, "{'a':1}", "?"},
    {A, NULL, "\xef\xbb\xbf{}", "?"},
    {A, NULL, "{\"a\" 1}", "?"},
    {A, NULL, "{\"a\":", "?"},
    {A, NULL, "{\"a\"", "?"},
    {A, NULL, "{", "?"},
    {A, NULL, "{/**/}", "?"},
    /* Bedrock: the model vendor's body, and Converse */
    {B, NULL,
	"{\"anthropic_version\":\"bedrock-2023-05-31\",\"max_tokens\":5,"
	"\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"tools\":["
	"{\"name\":\"a\",\"input_schema\":{}}]}",
	NULL},
    {B, NULL,
	"{\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"w\"},"
	"{\"name\":\"a\"}]}",
	"{\"tools\":[{\"name\":\"a\"}]}"},
    {B, NULL, "{\"tools\":[{\"type\":\"bash_20250124\",\"name\":\"b\"}]}",
	NULL},
    {B, NULL,
	"{\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":"
	"{\"type\":\"url\",\"url\":\"https://x\"}}]}]}",
	"!urls"},
    {B, "sssss",
	"{\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":"
	"{\"type\":\"url\",\"url\":\"https://x\"}}]}]}",
	"{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":"
	"\"(filtered)\"}]}]}"},
    {B, NULL, "{\"mcp_servers\":[],\"messages\":[]}", "{\"messages\":[]}"},
    {B, NULL,
	"{\"messages\":[{\"content\":[{\"image_url\":{\"url\":"
	"\"https://x\"}}]}]}",
	"!urls"},
    {V, NULL,
	"{\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"a\"}},"
	"{\"cachePoint\":{\"type\":\"default\"}}],\"toolChoice\":{\"any\":{}}}}",
	NULL},
    {V, NULL,
	"{\"messages\":[],\"toolConfig\":{\"tools\":[{\"systemTool\":{"
	"\"name\":\"nova_grounding\"}},{\"toolSpec\":{}}]}}",
	"{\"messages\":[],\"toolConfig\":{\"tools\":[{\"toolSpec\":{}}]}}"},
    {V, NULL,
	"{\"messages\":[],\"toolConfig\":{\"toolChoice\":{\"auto\":{}},\"tools\":["
	"{\"systemTool\":{\"name\":\"nova_grounding\"}}]},\"system\":[]}",
	"{\"messages\":[],\"system\":[]}"},
    {V, "dssss", "{\"toolConfig\":{\"tools\":[{\"systemTool\":{}}]}}",
	"!tools"},
    {V, "adsss", "{\"toolConfig\":{\"tools\":[{\"systemTool\":{}}]}}", NULL},
    {V, NULL,
	"{\"additionalModelRequestFields\":{\"tools\":[{\"type\":"
	"\"web_search_20250305\",\"name\":\"w\"}]},\"messages\":[]}",
	"{\"additionalModelRequestFields\":{\"tools\":[]},\"messages\":[]}"},
    {V, NULL,
	"{\"messages\":[{\"content\":[{\"document\":{\"source\":{"
	"\"s3Location\":{\"uri\":\"s3://x/y\"}}}}]}]}",
	"!urls"},
    {V, NULL,
	"{\"messages\":[{\"content\":[{\"toolResult\":{\"content\":["
	"{\"video\":{\"source\":{\"s3Location\":{\"uri\":\"s3://x\"}}}}]}}]}]}",
	"!urls"},
    {V, "sssss",
	"{\"messages\":[{\"content\":[{\"image\":{\"source\":{"
	"\"s3Location\":{\"uri\":\"s3://x/y\"}}}}]}]}",
	"{\"messages\":[{\"content\":[{\"text\":\"(filtered)\"}]}]}"},
    {V, NULL,
	"{\"messages\":[{\"content\":[{\"image\":{\"format\":\"png\","
	"\"source\":{\"bytes\":\"aGk=\"}}}]}]}",
	NULL},
    {V, NULL,
	"{\"input\":{\"converse\":{\"toolConfig\":{\"tools\":[{"
	"\"systemTool\":{}}]}}}}",
	"{\"input\":{\"converse\":{}}}"},
    {V, NULL, "{\"input\":{\"invokeModel\":{\"body\":\"e30=\"}}}", "!urls"},
    {V, "ssass", "{\"input\":{\"invokeModel\":{\"body\":\"e30=\"}}}", NULL},
    {V, NULL, "{\"messages\":[],\"messages\":[]}", "?"},
#undef A
#undef B
#undef V
#undef C
#undef R
#undef G
};

#endif
