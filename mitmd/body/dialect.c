/* SPDX-License-Identifier: ISC */
/*
 * The tables of body/dialect.h, made from the public API references of the
 * providers. A member without a row is opaque: arguments of tools, schemas,
 * metadata, history that the provider wrote. Names of tools and of members that
 * make the provider fetch something are listed for every provider that might
 * take them, since gateways accept each other's.
 */
#include "body/dialect.h"

struct dialect_row {
	enum dialect_ctx in;
	const char *key; /* folded; "" matches any name */
	enum dialect_ctx is;
};

/* clang-format off */
static const struct dialect_row anthropic_rows[] = {
	{CTX_ROOT, "messages", CTX_MESSAGE},
	{CTX_ROOT, "system", CTX_PART},
	{CTX_ROOT, "tools", CTX_TOOLS},
	{CTX_ROOT, "toolchoice", CTX_CHOICE},
	{CTX_ROOT, "mcpservers", CTX_REACH_MCP},
	/* Containers in which the provider executes code. */
	{CTX_ROOT, "container", CTX_REACH_TOOLS},
	{CTX_ROOT, "plugins", CTX_REACH_TOOLS},
	{CTX_ROOT, "preset", CTX_KEPT},
	{CTX_ROOT, "speed", CTX_SPEED},
	{CTX_ROOT, "maxtokens", CTX_MOST},
	{CTX_ROOT, "servicetier", CTX_TIER},
	{CTX_ROOT, "model", CTX_MODEL},
	{CTX_ROOT, "models", CTX_MODEL},
	{CTX_MESSAGE, "content", CTX_PART},
	{CTX_PART, "fileid", CTX_KEPT},
	{CTX_PART, "content", CTX_PART},
	{CTX_PART, "source", CTX_SOURCE},
	{CTX_PART, "imageurl", CTX_URL},
	{CTX_SOURCE, "content", CTX_PART},
	{CTX_SOURCE, "fileid", CTX_KEPT},
	{CTX_SOURCE, "url", CTX_FETCHED},
	{CTX_TOOLS, "type", CTX_TYPE},
	{CTX_TOOLS, "name", CTX_NAME},
	{CTX_CHOICE, "name", CTX_NAME},
};

/* Members by which a provider searches, of xAI, Qwen, Groq, Azure and others. */
#define DIALECT_SEARCHES						\
	{CTX_ROOT, "websearchoptions", CTX_REACH_TOOLS},		\
	{CTX_ROOT, "searchparameters", CTX_REACH_TOOLS},		\
	{CTX_ROOT, "enablesearch", CTX_REACH_TOOLS},			\
	{CTX_ROOT, "searchoptions", CTX_REACH_TOOLS},			\
	{CTX_ROOT, "searchsettings", CTX_REACH_TOOLS},			\
	{CTX_ROOT, "websearch", CTX_REACH_TOOLS},			\
	{CTX_ROOT, "enablewebsearch", CTX_REACH_TOOLS},			\
	{CTX_ROOT, "datasources", CTX_REACH_TOOLS},			\
	{CTX_ROOT, "plugins", CTX_REACH_TOOLS}

static const struct dialect_row chat_rows[] = {
	{CTX_ROOT, "messages", CTX_MESSAGE},
	{CTX_ROOT, "prediction", CTX_MESSAGE},
	{CTX_ROOT, "tools", CTX_TOOLS},
	{CTX_ROOT, "toolchoice", CTX_CHOICE},
	{CTX_ROOT, "paralleltoolcalls", CTX_WITH_TOOLS},
	{CTX_ROOT, "stream", CTX_STREAM},
	{CTX_ROOT, "streamoptions", CTX_OPTIONS},
	{CTX_OPTIONS, "includeusage", CTX_USAGE},
	DIALECT_SEARCHES,
	{CTX_ROOT, "mcpservers", CTX_REACH_MCP},
	{CTX_ROOT, "store", CTX_STORE},
	{CTX_ROOT, "background", CTX_BACKGROUND},
	{CTX_ROOT, "previousresponseid", CTX_PREVIOUS},
	{CTX_ROOT, "conversation", CTX_KEPT},
	{CTX_ROOT, "conversationid", CTX_KEPT},
	{CTX_ROOT, "promptid", CTX_KEPT},
	{CTX_ROOT, "vectorstoreids", CTX_KEPT},
	{CTX_ROOT, "preset", CTX_KEPT},
	{CTX_ROOT, "speed", CTX_SPEED},
	{CTX_ROOT, "maxtokens", CTX_MOST},
	{CTX_ROOT, "maxcompletiontokens", CTX_MOST},
	{CTX_ROOT, "n", CTX_TIMES},
	{CTX_ROOT, "bestof", CTX_TIMES},
	{CTX_ROOT, "servicetier", CTX_TIER},
	{CTX_ROOT, "model", CTX_MODEL},
	{CTX_ROOT, "models", CTX_MODEL},
	{CTX_MESSAGE, "content", CTX_PART},
	{CTX_MESSAGE, "audio", CTX_NAMED},
	{CTX_NAMED, "id", CTX_KEPT},
	{CTX_MESSAGE, "images", CTX_PART},
	{CTX_PART, "fileid", CTX_KEPT},
	{CTX_PART, "content", CTX_PART},
	{CTX_PART, "imageurl", CTX_URL},
	{CTX_PART, "videourl", CTX_URL},
	{CTX_PART, "audiourl", CTX_URL},
	{CTX_PART, "documenturl", CTX_URL},
	{CTX_PART, "fileurl", CTX_URL},
	{CTX_PART, "url", CTX_URL},
	{CTX_PART, "file", CTX_FILE},
	{CTX_PART, "inputaudio", CTX_FILE},
	{CTX_PART, "inputvideo", CTX_FILE},
	{CTX_PART, "source", CTX_SOURCE},
	{CTX_SOURCE, "url", CTX_FETCHED},
	{CTX_URL, "url", CTX_URL},
	{CTX_FILE, "fileid", CTX_KEPT},
	{CTX_FILE, "filedata", CTX_DATA},
	{CTX_FILE, "data", CTX_DATA},
	{CTX_FILE, "fileurl", CTX_URL},
	{CTX_FILE, "url", CTX_URL},
	{CTX_TOOLS, "type", CTX_TYPE},
	{CTX_TOOLS, "tools", CTX_TOOLS},
	{CTX_CHOICE, "type", CTX_TYPE},
	{CTX_CHOICE, "tools", CTX_TOOLS},
};

static const struct dialect_row responses_rows[] = {
	{CTX_ROOT, "input", CTX_PART},
	{CTX_ROOT, "instructions", CTX_PART},
	{CTX_ROOT, "prompt", CTX_NAMED},
	{CTX_ROOT, "tools", CTX_TOOLS},
	{CTX_ROOT, "toolchoice", CTX_CHOICE},
	{CTX_ROOT, "paralleltoolcalls", CTX_WITH_TOOLS},
	{CTX_ROOT, "maxtoolcalls", CTX_WITH_TOOLS},
	DIALECT_SEARCHES,
	{CTX_ROOT, "mcpservers", CTX_REACH_MCP},
	{CTX_ROOT, "store", CTX_STORE},
	{CTX_ROOT, "background", CTX_BACKGROUND},
	{CTX_ROOT, "previousresponseid", CTX_PREVIOUS},
	{CTX_ROOT, "conversation", CTX_KEPT},
	{CTX_ROOT, "conversationid", CTX_KEPT},
	{CTX_ROOT, "promptid", CTX_KEPT},
	{CTX_ROOT, "vectorstoreids", CTX_KEPT},
	{CTX_ROOT, "preset", CTX_KEPT},
	{CTX_ROOT, "speed", CTX_SPEED},
	{CTX_ROOT, "maxoutputtokens", CTX_MOST},
	{CTX_ROOT, "servicetier", CTX_TIER},
	{CTX_ROOT, "model", CTX_MODEL},
	{CTX_ROOT, "models", CTX_MODEL},
	{CTX_ROOT, "response", CTX_ROOT},
	{CTX_ROOT, "item", CTX_PART},
	{CTX_ROOT, "type", CTX_START},
	{CTX_PART, "type", CTX_ITEM},
	{CTX_PART, "id", CTX_ID},
	{CTX_PART, "fileid", CTX_KEPT},
	{CTX_PART, "content", CTX_PART},
	{CTX_PART, "output", CTX_PART},
	{CTX_PART, "imageurl", CTX_URL},
	{CTX_PART, "videourl", CTX_URL},
	{CTX_PART, "audiourl", CTX_URL},
	{CTX_PART, "fileurl", CTX_URL},
	{CTX_PART, "url", CTX_URL},
	{CTX_PART, "filedata", CTX_DATA},
	{CTX_PART, "file", CTX_FILE},
	{CTX_PART, "inputaudio", CTX_FILE},
	{CTX_PART, "tools", CTX_TOOLS},
	{CTX_URL, "url", CTX_URL},
	{CTX_FILE, "fileid", CTX_KEPT},
	{CTX_FILE, "filedata", CTX_DATA},
	{CTX_FILE, "data", CTX_DATA},
	{CTX_FILE, "fileurl", CTX_URL},
	{CTX_FILE, "url", CTX_URL},
	{CTX_NAMED, "id", CTX_KEPT},
	{CTX_NAMED, "promptid", CTX_KEPT},
	{CTX_NAMED, "variables", CTX_VARS},
	{CTX_VARS, "fileid", CTX_KEPT},
	{CTX_VARS, "imageurl", CTX_URL},
	{CTX_VARS, "fileurl", CTX_URL},
	{CTX_VARS, "filedata", CTX_DATA},
	{CTX_VARS, "", CTX_VARS},
	{CTX_TOOLS, "type", CTX_TYPE},
	{CTX_TOOLS, "tools", CTX_TOOLS},
	{CTX_TOOLS, "environment", CTX_ENV},
	{CTX_TOOLS, "execution", CTX_LOCAL},
	{CTX_ENV, "type", CTX_LOCAL},
	{CTX_CHOICE, "type", CTX_TYPE},
	{CTX_CHOICE, "tools", CTX_TOOLS},
};

static const struct dialect_row gemini_rows[] = {
	{CTX_ROOT, "contents", CTX_MESSAGE},
	{CTX_ROOT, "systeminstruction", CTX_MESSAGE},
	{CTX_ROOT, "tools", CTX_GTOOLS},
	{CTX_ROOT, "cachedcontent", CTX_KEPT},
	{CTX_ROOT, "generationconfig", CTX_CONFIG},
	{CTX_CONFIG, "maxoutputtokens", CTX_MOST},
	{CTX_CONFIG, "candidatecount", CTX_TIMES},
	{CTX_ROOT, "servicetier", CTX_TIER},
	{CTX_ROOT, "generatecontentrequest", CTX_ROOT},
	{CTX_ROOT, "request", CTX_ROOT}, /* Code Assist wraps the request */
	{CTX_MESSAGE, "parts", CTX_PART},
	{CTX_PART, "filedata", CTX_FETCHED},
	{CTX_PART, "functionresponse", CTX_MESSAGE},
	{CTX_GTOOLS, "functiondeclarations", CTX_GTOOL},
	{CTX_GTOOLS, "computeruse", CTX_GTOOL}, /* the agent's own computer */
	{CTX_GTOOLS, "mcpservers", CTX_REACH_MCP},
	{CTX_GTOOLS, "", CTX_REACH_TOOLS},
};

/*
 * Amazon Bedrock: InvokeModel takes the model vendor's own body (Anthropic's,
 * or one like Converse's); Converse has one form for all. A provider's tool
 * inside "additionalModelRequestFields" counts as well. The body of CountTokens
 * may hold a whole request in base64, which the filter cannot read and
 * therefore treats as reach.
 */
static const struct dialect_row bedrock_rows[] = {
	{CTX_ROOT, "messages", CTX_MESSAGE},
	{CTX_ROOT, "system", CTX_PART},
	{CTX_ROOT, "tools", CTX_TOOLS},
	{CTX_ROOT, "toolchoice", CTX_CHOICE},
	{CTX_ROOT, "mcpservers", CTX_REACH_MCP},
	{CTX_ROOT, "container", CTX_REACH_TOOLS},
	{CTX_ROOT, "plugins", CTX_REACH_TOOLS},
	{CTX_ROOT, "websearchoptions", CTX_REACH_TOOLS},
	{CTX_ROOT, "promptvariables", CTX_KEPT},
	{CTX_ROOT, "speed", CTX_SPEED},
	{CTX_ROOT, "maxtokens", CTX_MOST},
	{CTX_ROOT, "inferenceconfig", CTX_CONFIG},
	{CTX_CONFIG, "maxtokens", CTX_MOST},
	{CTX_ROOT, "servicetier", CTX_TIER},
	{CTX_TIER, "type", CTX_TIER},
	{CTX_ROOT, "performanceconfig", CTX_SPEED},
	{CTX_SPEED, "latency", CTX_SPEED},
	{CTX_ROOT, "model", CTX_MODEL},
	{CTX_ROOT, "toolconfig", CTX_CONFIG},
	{CTX_ROOT, "additionalmodelrequestfields", CTX_ROOT},
	{CTX_ROOT, "input", CTX_ROOT},
	{CTX_ROOT, "converse", CTX_ROOT},
	{CTX_ROOT, "invokemodel", CTX_FETCHED},
	{CTX_MESSAGE, "content", CTX_PART},
	{CTX_PART, "fileid", CTX_KEPT},
	{CTX_PART, "content", CTX_PART},
	{CTX_PART, "toolresult", CTX_MESSAGE},
	{CTX_PART, "image", CTX_FILE},
	{CTX_PART, "document", CTX_FILE},
	{CTX_PART, "video", CTX_FILE},
	{CTX_PART, "audio", CTX_FILE},
	{CTX_PART, "source", CTX_SOURCE},
	{CTX_PART, "imageurl", CTX_URL},
	{CTX_URL, "url", CTX_URL},
	{CTX_FILE, "source", CTX_SOURCE},
	{CTX_SOURCE, "fileid", CTX_KEPT},
	{CTX_SOURCE, "content", CTX_PART},
	{CTX_SOURCE, "url", CTX_FETCHED},
	{CTX_SOURCE, "s3location", CTX_FETCHED},
	{CTX_TOOLS, "type", CTX_TYPE},
	{CTX_TOOLS, "name", CTX_NAME},
	{CTX_CHOICE, "name", CTX_NAME},
	{CTX_CONFIG, "tools", CTX_GTOOLS},
	{CTX_GTOOLS, "toolspec", CTX_GTOOL},
	{CTX_GTOOLS, "cachepoint", CTX_GTOOL},
	{CTX_GTOOLS, "", CTX_REACH_TOOLS},
};

static const struct {
	const struct dialect_row *rows;
	size_t n;
	const char *filtered;
} dialect_table[FILTER_DIALECTS] = {
#define ROWS(r) r, nitems(r)
	[FILTER_NONE] = {NULL, 0, ""},
	[FILTER_ANTHROPIC] = {ROWS(anthropic_rows),
	    "{\"type\":\"text\",\"text\":\"(filtered)\"}"},
	[FILTER_CHAT] = {ROWS(chat_rows),
	    "{\"type\":\"text\",\"text\":\"(filtered)\"}"},
	[FILTER_RESPONSES] = {ROWS(responses_rows),
	    "{\"type\":\"input_text\",\"text\":\"(filtered)\"}"},
	[FILTER_GEMINI] = {ROWS(gemini_rows), "{\"text\":\"(filtered)\"}"},
	[FILTER_BEDROCK] = {ROWS(bedrock_rows),
	    "{\"type\":\"text\",\"text\":\"(filtered)\"}"},
	[FILTER_CONVERSE] = {ROWS(bedrock_rows), "{\"text\":\"(filtered)\"}"},
#undef ROWS
};

/* A trailing * matches any rest. */
static const struct {
	enum filter_dialect dialect;
	const char *type;
	enum dialect_tool is;
} dialect_tools[] = {
	{FILTER_ANTHROPIC, "custom", TOOL_KEPT},
	{FILTER_ANTHROPIC, "function", TOOL_KEPT},
	/* Defined by the provider, run by the agent. */
	{FILTER_ANTHROPIC, "bash_*", TOOL_KEPT},
	{FILTER_ANTHROPIC, "computer_*", TOOL_KEPT},
	{FILTER_ANTHROPIC, "memory_*", TOOL_KEPT},
	{FILTER_ANTHROPIC, "text_editor_*", TOOL_KEPT},
	/* It searches the tools of the request itself. */
	{FILTER_ANTHROPIC, "tool_search_tool_*", TOOL_KEPT},
	{FILTER_ANTHROPIC, "mcp_toolset", TOOL_MCP},
	{FILTER_CHAT, "function", TOOL_KEPT},
	{FILTER_CHAT, "custom", TOOL_KEPT},
	{FILTER_CHAT, "allowed_tools", TOOL_KEPT},
	{FILTER_CHAT, "tool_search", TOOL_KEPT},
	{FILTER_CHAT, "tool_search_tool_*", TOOL_KEPT},
	{FILTER_CHAT, "mcp", TOOL_MCP},
	{FILTER_RESPONSES, "function", TOOL_KEPT},
	{FILTER_RESPONSES, "custom", TOOL_KEPT},
	{FILTER_RESPONSES, "allowed_tools", TOOL_KEPT},
	{FILTER_RESPONSES, "namespace", TOOL_KEPT},
	{FILTER_RESPONSES, "local_shell", TOOL_KEPT},
	{FILTER_RESPONSES, "apply_patch", TOOL_KEPT},
	{FILTER_RESPONSES, "computer", TOOL_KEPT},
	{FILTER_RESPONSES, "computer_use_preview", TOOL_KEPT},
	{FILTER_RESPONSES, "shell", TOOL_LOCAL},
	{FILTER_RESPONSES, "tool_search", TOOL_KEPT},
	{FILTER_RESPONSES, "tool_search_tool_*", TOOL_KEPT},
	{FILTER_RESPONSES, "mcp", TOOL_MCP},
};
/* clang-format on */

/*
 * Fold a member name: unescape it, drop case, underscores and dashes. Returns
 * its length, or -1 if it cannot be a name in the tables.
 */
static int
dialect_fold(struct span key, char dst[32])
{
	uint8_t plain[64];
	int n, len = 0;

	if ((n = body_json_unescape(key, plain, sizeof(plain))) == -1)
		return -1;
	for (int i = 0; i < n; i++) {
		uint8_t c = plain[i];

		if (c == '_' || c == '-')
			continue;
		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		if (c == '\0' || len == 31)
			return -1;
		dst[len++] = (char)c;
	}
	dst[len] = '\0';
	return len;
}

enum dialect_ctx
dialect_member(enum filter_dialect d, enum dialect_ctx in, struct span key)
{
	const struct dialect_row *rows = dialect_table[d].rows;
	char name[32];
	bool known = dialect_fold(key, name) > 0;

	if (in == CTX_OPAQUE)
		return CTX_OPAQUE;
	for (size_t i = 0; i < dialect_table[d].n; i++) {
		if (rows[i].in == in &&
		    (rows[i].key[0] == '\0' ||
			(known && strcmp(rows[i].key, name) == 0)))
			return rows[i].is;
	}
	return CTX_OPAQUE;
}

enum dialect_tool
dialect_tool(enum filter_dialect d, struct span type)
{
	uint8_t plain[64];
	struct span row, s;
	bool prefix;
	int n;

	if ((n = body_json_unescape(type, plain, sizeof(plain))) == -1)
		return TOOL_GONE;
	if (d == FILTER_BEDROCK || d == FILTER_CONVERSE)
		d = FILTER_ANTHROPIC;
	s = span_of(plain, (size_t)n);
	for (size_t i = 0; i < nitems(dialect_tools); i++) {
		row = span_str(dialect_tools[i].type);
		prefix = row.p[row.len - 1] == '*';
		row.len -= prefix;
		if (dialect_tools[i].dialect == d &&
		    (prefix ? span_starts(s, row) : span_eq(s, row)))
			return dialect_tools[i].is;
	}
	return TOOL_GONE;
}

bool
dialect_exact(struct span key, const char *name)
{
	uint8_t plain[64];
	int n;

	return (n = body_json_unescape(key, plain, sizeof(plain))) != -1 &&
	       span_is(span_of(plain, (size_t)n), name);
}

const char *
dialect_filtered(enum filter_dialect d)
{
	return dialect_table[d].filtered;
}
