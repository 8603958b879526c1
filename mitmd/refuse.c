/* SPDX-License-Identifier: ISC */
/*
 * The answers to requests that are not sent: a row for each reason. The texts
 * are constant. Details are keyd's description of a failure, or name a host or
 * a repository whose letters were checked; they are written as printable ASCII.
 */
#include "refuse.h"

#include <stdio.h>
#include <string.h>

#define RETRY_NO " Do not retry."
#define RESERVED                                                               \
	"Other requests that are being answered have reserved the rest of the " \
	"session's budget. Send this one again when they have ended."

/* clang-format off */
static const struct refusal_text refuse_table[REFUSE_COUNT] = {
	[REFUSE_NONE] = {500, "none",
	    "Internal error."},
	[REFUSE_MALFORMED] = {400, "malformed",
	    "The request is not well-formed HTTP as this proxy takes it: "
	    "one Host, a plain path without escapes, one way to tell the "
	    "body's length. Correct the request." RETRY_NO},
	[REFUSE_EARLY] = {400, "early",
	    "Bytes came after the CONNECT request and before its answer. "
	    "Wait for 200, then begin TLS." RETRY_NO},
	[REFUSE_PROXY] = {405, "connect-only",
	    "This proxy takes CONNECT to port 443 of the hosts on the list "
	    "only; there is no plain HTTP. Use https." RETRY_NO},
	[REFUSE_LOOPBACK] = {403, "loopback",
	    "This address is the sandbox itself, and this proxy leads out of "
	    "it. A server in the sandbox is reached without the proxy: as "
	    "http://localhost:PORT or http://127.0.0.1:PORT, which NO_PROXY "
	    "names, or with the client's own option for no proxy." RETRY_NO},
	[REFUSE_HOST] = {403, "host",
	    "This host or port is not on the session's list. The user can "
	    "add a provider or a destination to config.json, for the next "
	    "session." RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_HOST_ASK] = {403, "host",
	    "This host or port is not on the session's list. Ask for the host "
	    "with the tool proxy__add_proxy_domain of the session's MCP "
	    "server: the user decides, and it can then be read (GET, HEAD). "
	    "For more, the user can add a destination to config.json. Until "
	    "then:" RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_HOST_UNASKED] = {403, "host-unasked",
	    "The agent's program asks for this host by itself, so the user "
	    "was not asked." RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_WANTED] = {503, "host-asked",
	    "is not open to this session yet: the user was asked and has not "
	    "answered. Try again in a minute; meanwhile go on with other "
	    "work, or tell the user what the host is needed for.",
	    .whole = true, .spoken = true},
	[REFUSE_WANTED_DENIED] = {403, "host-denied",
	    "stays closed: the user was asked to open it to this session and "
	    "said no. Go on without it." RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_WANTED_EXPIRED] = {403, "host-expired",
	    "stays closed: the user was asked to open it to this session and "
	    "did not answer in time. It was not denied; the user may not be "
	    "there. Go on without it, and say so." RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_WANTED_BUSY] = {503, "host-busy",
	    "is not open to this session: 3 other hosts wait for the user's "
	    "answer already. Try again when those are answered.",
	    .whole = true, .spoken = true},
	[REFUSE_WANTED_FULL] = {403, "host-limit",
	    "stays closed: 16 hosts were opened in this session, which is the "
	    "limit (closed ones count). The user can add it to "
	    "\"destinations\" in config.json, for the next session." RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_WANTED_OFTEN] = {403, "host-limit",
	    "stays closed: the user was asked about 64 hosts in this session, "
	    "which is the limit. The user can add it to \"destinations\" in "
	    "config.json, for the next session." RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_WANTED_PACKAGES] = {403, "host-packages",
	    "is a package registry, and config.json has none "
	    "(packageInstall.enabled is false). Go on without it." RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_WANTED_CLOSED] = {403, "host-closed",
	    "was open to this session and has been closed again. Go on "
	    "without it." RETRY_NO,
	    .whole = true, .spoken = true},
	[REFUSE_WANTED_FAILED] = {503, "host-failed",
	    "could not be opened to this session. Tell the user to look at "
	    "`icctl status` and `icctl logs`.",
	    .whole = true, .spoken = true},
	[REFUSE_METHOD] = {405, "method",
	    "This path does not take this method." RETRY_NO},
	[REFUSE_ENDPOINT] = {403, "endpoint",
	    "This endpoint is not on the session's list. The user can add it "
	    "to the provider's file." RETRY_NO},
	[REFUSE_REPOSITORY] = {403, "endpoint",
	    "This is not a request that git makes to a repository on the "
	    "session's list. The user can change \"destinations\" in "
	    "config.json, for the next session." RETRY_NO,
	    .whole = true},
	[REFUSE_FORGE] = {403, "forge",
	    "This is not a request that a session may make to this forge. The "
	    "user can change \"destinations\" in config.json, for the next "
	    "session." RETRY_NO,
	    .whole = true},
	[REFUSE_QUERY] = {403, "query",
	    "A query parameter or its value is not on this endpoint's list. "
	    "Leave it out, or the user can add it to the provider's file."
	    RETRY_NO},
	[REFUSE_OFFERED] = {404, "not-offered",
	    "This endpoint is not offered in this session." RETRY_NO},
	[REFUSE_NO_KEY] = {403, "no-key",
	    "The request carries no key. Send the key that the environment "
	    "of this session names; nothing is forwarded without it."
	    RETRY_NO},
	[REFUSE_WRONG_KEY] = {403, "wrong-key",
	    "The key is not this session's key for this provider. Only the "
	    "key in this session's environment is accepted; real keys have "
	    "no place here." RETRY_NO},
	[REFUSE_FOREIGN_KEY] = {403, "foreign-key",
	    "A header that carries credentials is not this provider's. Leave "
	    "it out." RETRY_NO},
	[REFUSE_TWO_KEYS] = {403, "two-keys",
	    "The key was given more than once. Give it in one header."
	    RETRY_NO},
	[REFUSE_LOGIN] = {403, "login",
	    "The request carries no key of this session. Log in with the "
	    "agent's own login, here in the session; or the user can: icctl "
	    "login. Real keys have no place here." RETRY_NO},
	[REFUSE_BARE] = {403, "bare",
	    "This endpoint takes no key. Send the request without one."
	    RETRY_NO},
	[REFUSE_TYPE] = {415, "type",
	    "This endpoint does not take this content type." RETRY_NO},
	[REFUSE_ENCODING] = {415, "encoding",
	    "Of encoded bodies only gzip and zstd are taken. Send the body "
	    "as it is, without Content-Encoding." RETRY_NO},
	[REFUSE_BODY] = {400, "no-body",
	    "This endpoint takes no body." RETRY_NO},
	[REFUSE_LENGTH] = {413, "too-large",
	    "The body is larger than this endpoint takes." RETRY_NO},
	[REFUSE_HEADERS] = {431, "headers",
	    "The headers are too large, or one of them holds bytes that may "
	    "not be forwarded." RETRY_NO},
	[REFUSE_EXPECT] = {417, "expect",
	    "Only Expect: 100-continue is understood, with a body. Leave the "
	    "header out." RETRY_NO},
	[REFUSE_UPGRADE] = {426, "upgrade",
	    "WebSocket and other upgrades are not offered here. Use plain "
	    "requests; server-sent events are streamed." RETRY_NO},
	[REFUSE_TIMEOUT] = {408, "timeout",
	    "The request did not arrive in time. Send it again on a new "
	    "connection."},
	[REFUSE_BUSY] = {503, "busy",
	    "Too many connections are open in this session. Close some, then "
	    "try again."},
	[REFUSE_HELD] = {503, "held",
	    "Too many or too large bodies are under way at once. Try again "
	    "later."},
	[REFUSE_AUDIT] = {503, "audit",
	    "The audit log cannot be written, so nothing is sent any more. "
	    "Tell the user to look at `icctl status` and to free disk space."},
	[REFUSE_GONE] = {503, "gone",
	    "The process that holds this provider's credential is not there. "
	    "Tell the user to look at `icctl status`."},
	[REFUSE_CODED] = {400, "coded-body",
	    "The body is not one whole text of the coding that "
	    "Content-Encoding names." RETRY_NO},
	[REFUSE_JSON] = {400, "json",
	    "The body must be one strict JSON object (RFC 8259, UTF-8, no "
	    "member name twice), since it is checked before it is sent."
	    RETRY_NO},
	[REFUSE_REACH_TOOLS] = {403, "provider-tools",
	    "The request asks for a tool that the provider runs itself, "
	    "which this session does not allow. Leave it out, or the user "
	    "may set filter.tools for this provider in config.json."
	    RETRY_NO},
	[REFUSE_REACH_MCP] = {403, "provider-mcp",
	    "The request names an MCP server for the provider to connect "
	    "to, which this session does not allow. Leave it out, or the "
	    "user may set filter.mcp for this provider in config.json."
	    RETRY_NO},
	[REFUSE_REACH_URLS] = {403, "provider-urls",
	    "The request names a URL for the provider to fetch, which this "
	    "session does not allow. Send the content itself, or the user "
	    "may set filter.urls for this provider in config.json."
	    RETRY_NO},
	[REFUSE_REACH_STORE] = {403, "provider-store",
	    "The request lets the provider store what it answers, which "
	    "this session does not allow. Send \"store\": false, or the "
	    "user may set filter.store for this provider in config.json."
	    RETRY_NO},
	[REFUSE_REACH_KEPT] = {403, "provider-store",
	    "The request names something that is kept in the account, where "
	    "this session keeps nothing. Send the whole input itself, or the "
	    "user may set filter.store for this provider in config.json."
	    RETRY_NO,
	    .whole = true},
	[REFUSE_REACH_BACKGROUND] = {403, "provider-background",
	    "The request asks for work in the background, which this "
	    "session does not allow. Leave it out, or the user may set "
	    "filter.background for this provider in config.json." RETRY_NO},
	[REFUSE_BUDGET] = {400, "budget",
	    "The session's budget is used up." RETRY_NO,
	    "{\"type\":\"error\",\"error\":{\"type\":\"billing_error\","
	    "\"message\":\"IronCurtain: "},
	[REFUSE_BUDGET_OPENAI] = {400, "budget",
	    "The session's budget is used up." RETRY_NO,
	    "{\"error\":{\"type\":\"insufficient_quota\",\"code\":"
	    "\"insufficient_quota\",\"param\":null,"
	    "\"message\":\"IronCurtain: "},
	[REFUSE_BUDGET_GEMINI] = {400, "budget",
	    "The session's budget is used up." RETRY_NO,
	    "{\"error\":{\"code\":400,\"status\":\"FAILED_PRECONDITION\","
	    "\"message\":\"IronCurtain: "},
	[REFUSE_RESERVED] = {429, "budget-reserved",
	    RESERVED,
	    "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\","
	    "\"message\":\"IronCurtain: ",
	    .whole = true},
	[REFUSE_RESERVED_OPENAI] = {429, "budget-reserved",
	    RESERVED,
	    "{\"error\":{\"type\":\"requests\",\"code\":"
	    "\"rate_limit_exceeded\",\"param\":null,"
	    "\"message\":\"IronCurtain: ",
	    .whole = true},
	[REFUSE_RESERVED_GEMINI] = {429, "budget-reserved",
	    RESERVED,
	    "{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\","
	    "\"message\":\"IronCurtain: ",
	    .whole = true},
	[REFUSE_CREDENTIAL] = {403, "credential",
	    "This provider cannot be used now." RETRY_NO},
	[REFUSE_PUSH] = {400, "push",
	    "The push cannot be shown to the user as it is, so it is not "
	    "sent. Push plain branches or tags, a few at a time." RETRY_NO},
	[REFUSE_ASKS] = {503, "asks",
	    "Too many requests wait for the user's approval already. Try "
	    "again when some are answered."},
	[REFUSE_ASK_DENIED] = {403, "denied",
	    "The user was asked about this request and denied it. Go on "
	    "without it." RETRY_NO},
	[REFUSE_ASK_EXPIRED] = {403, "expired",
	    "The user was asked about this request and did not answer in "
	    "time. It was not denied; the user may not be there. Go on "
	    "without it, and say so." RETRY_NO},
	[REFUSE_ASK_HEADLESS] = {403, "nobody-to-ask",
	    "This request needs the user's approval, and in this session "
	    "nobody is asked. Leave it out, or tell the user." RETRY_NO},
	[REFUSE_ASK_LARGE] = {413, "too-large-to-show",
	    "This request needs the user's approval, and is too long to be "
	    "shown whole. Shorten it, or send it in parts." RETRY_NO},
	[REFUSE_ASK_ELSEWHERE] = {403, "elsewhere",
	    "An id in this request belongs to something that is not in the "
	    "repositories on the session's list, or it could not be looked "
	    "up, so the request was not sent." RETRY_NO},
	[REFUSE_PACKAGE] = {403, "package",
	    "This may not be installed in this session." RETRY_NO,
	    .flat = true},
	[REFUSE_PROVIDER] = {502, "provider",
	    "The provider could not be reached or did not answer properly.",
	    .whole = true},
};

static const struct {
	unsigned status;
	const char *phrase;
} refuse_phrases[] = {
	{200, "OK"}, {201, "Created"}, {202, "Accepted"}, {204, "No Content"},
	{206, "Partial Content"}, {304, "Not Modified"}, {400, "Bad Request"},
	{401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
	{405, "Method Not Allowed"}, {408, "Request Timeout"},
	{409, "Conflict"}, {410, "Gone"}, {413, "Content Too Large"},
	{415, "Unsupported Media Type"}, {417, "Expectation Failed"},
	{422, "Unprocessable Content"}, {426, "Upgrade Required"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{500, "Internal Server Error"}, {502, "Bad Gateway"},
	{503, "Service Unavailable"}, {504, "Gateway Timeout"},
	{529, "Overloaded"},
};
/* clang-format on */

const struct refusal_text *
refuse_text(enum refusal r)
{
	if ((unsigned)r >= REFUSE_COUNT)
		r = REFUSE_NONE;
	return &refuse_table[r];
}

enum refusal
refuse_budget(enum filter_dialect d, bool reserved)
{
	switch (d) {
	case FILTER_CHAT:
	case FILTER_RESPONSES:
		return reserved ? REFUSE_RESERVED_OPENAI : REFUSE_BUDGET_OPENAI;
	case FILTER_GEMINI:
		return reserved ? REFUSE_RESERVED_GEMINI : REFUSE_BUDGET_GEMINI;
	case FILTER_NONE:
	case FILTER_ANTHROPIC:
	case FILTER_BEDROCK:
	case FILTER_CONVERSE:
	case FILTER_DIALECTS:
		break;
	}
	return reserved ? REFUSE_RESERVED : REFUSE_BUDGET;
}

bool
refuse_is_budget(enum refusal r)
{
	return r >= REFUSE_BUDGET && r <= REFUSE_RESERVED_GEMINI;
}

const char *
refuse_why(const char *why, char *dst, size_t cap)
{
	if (why == NULL)
		return NULL;
	snprintf(dst, cap, "What is wrong: %s.", why);
	return dst;
}

const char *
refuse_phrase(unsigned status)
{
	size_t n = nitems(refuse_phrases);

	for (size_t i = 0; i < n; i++) {
		if (refuse_phrases[i].status == status)
			return refuse_phrases[i].phrase;
	}
	return "Status";
}

/* Append text; unless `plain`, escaped for a JSON string. */
static void
refuse_add(struct buf *b, const char *s, bool plain)
{
	for (; *s != '\0'; s++) {
		if (*s < 0x20 || *s > 0x7e)
			buf_addc(b, '?');
		else if (!plain && (*s == '"' || *s == '\\'))
			buf_addc(b, '\'');
		else
			buf_addc(b, (uint8_t)*s);
	}
}

static void
refuse_before(
    struct buf *b, const struct refusal_text *t, enum refuse_form form)
{
	switch (form) {
	case REFUSE_AS_TEXT:
		break;
	case REFUSE_AS_AWS:
	case REFUSE_AS_LFS:
		buf_adds(b, "{\"message\":\"");
		break;
	case REFUSE_AS_GRAPHQL:
		buf_adds(b, "{\"errors\":[{\"type\":\"FORBIDDEN\","
			    "\"message\":\"");
		break;
	case REFUSE_AS_JSON:
		if (t->before != NULL) {
			buf_adds(b, t->before);
			return;
		}
		if (t->flat)
			buf_adds(b, "{\"error\":\"");
		else
			buf_printf(b,
			    "{\"type\":\"error\",\"error\":{\"type\":"
			    "\"ironcurtain_refused\",\"code\":\"%s\","
			    "\"message\":\"",
			    t->code);
		break;
	}
	buf_adds(b, "IronCurtain: ");
}

static const char *
refuse_after(const struct refusal_text *t, enum refuse_form form)
{
	if (form == REFUSE_AS_TEXT)
		return "\n";
	if (form == REFUSE_AS_GRAPHQL)
		return "\"}]}\n";
	return form != REFUSE_AS_JSON || t->flat ? "\"}\n" : "\"}}\n";
}

int
refuse_body(struct buf *b, enum refusal r, uint32_t id, const char *detail,
    enum refuse_form form)
{
	const struct refusal_text *t = refuse_text(r);
	bool plain = form == REFUSE_AS_TEXT, said;

	refuse_before(b, t, form);
	said = detail != NULL && *detail != '\0';
	if (!said || !t->whole)
		refuse_add(b, t->text, plain);
	if (said && !t->whole)
		buf_addc(b, ' ');
	if (said)
		refuse_add(b, detail, plain);
	buf_printf(b, " (request %08x)%s", id, refuse_after(t, form));
	return b->failed ? -1 : 0;
}

const char *
refuse_type(enum refuse_form form)
{
	return form == REFUSE_AS_TEXT ? "text/plain" : "application/json";
}

const char *
refuse_aws_type(unsigned status)
{
	switch (status) {
	case 403:
		return "AccessDeniedException";
	case 404:
		return "ResourceNotFoundException";
	case 408:
		return "RequestTimeoutException";
	case 429:
		return "ThrottlingException";
	case 500:
		return "InternalServerException";
	default:
		return status > 500 ? "ServiceUnavailableException"
				    : "ValidationException";
	}
}

bool
refuse_retries(unsigned status)
{
	return status >= 500 || status == 408 || status == 429;
}

/* Append the header fields that depend on the status. */
static void
refuse_fields(struct buf *b, unsigned status, enum refuse_form form, bool close)
{
	if (form == REFUSE_AS_AWS)
		buf_printf(
		    b, "x-amzn-errortype: %s\r\n", refuse_aws_type(status));
	/* OpenAI's and Anthropic's SDKs both honour it. */
	if (!refuse_retries(status))
		buf_adds(b, "x-should-retry: false\r\n");
	if (status == 429)
		buf_adds(b, "retry-after: " REFUSE_RETRY_AFTER "\r\n");
	if (status == 426)
		buf_adds(b, "Upgrade: HTTP/1.1\r\nConnection: Upgrade");
	else
		buf_printf(b, "Connection: %s", close ? "close" : "keep-alive");
	if (status == 426 && close)
		buf_adds(b, ", close");
	buf_adds(b, "\r\n\r\n");
}

/* Write the reason phrase: pip and npm show no more of a refusal than this. */
static void
refuse_reason(struct buf *b, const struct refusal_text *t, unsigned status,
    const char *detail)
{
	const char *end;
	char first[512];
	size_t n;

	if (detail == NULL || *detail == '\0' || (!t->flat && !t->spoken)) {
		buf_adds(b, refuse_phrase(status));
	} else if (t->flat) {
		refuse_add(b, detail, false);
	} else {
		end = strstr(detail, ". ");
		n = end != NULL ? (size_t)(end - detail) : strlen(detail);
		if (n >= sizeof(first))
			n = sizeof(first) - 1;
		memcpy(first, detail, n);
		first[n] = '\0';
		refuse_add(b, first, false);
	}
}

int
refuse_compose(struct buf *b, enum refusal r, unsigned status, uint32_t id,
    const char *detail, enum refuse_form form, bool close)
{
	const struct refusal_text *t = refuse_text(r);
	struct buf body;
	int ret;

	if (status == 0)
		status = t->status;
	buf_init(&body, 16384);
	refuse_body(&body, r, id, detail, form);
	buf_printf(b, "HTTP/1.1 %u ", status);
	refuse_reason(b, t, status, detail);
	buf_printf(b,
	    "\r\nContent-Type: %s\r\n"
	    "Content-Length: %zu\r\n",
	    refuse_type(form), body.len);
	refuse_fields(b, status, form, close);
	buf_addspan(b, buf_span(&body));
	ret = body.failed || b->failed ? -1 : 0;
	buf_free(&body);
	return ret;
}
