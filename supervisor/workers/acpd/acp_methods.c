/* SPDX-License-Identifier: ISC */
/*
 * Tables of everything that may cross: the editor's methods with their members,
 * and the kinds of session/update. Anything else is not passed on. The agent
 * has its credentials from IronCurtain, so authentication is not among them:
 * editors run programs that an agent names for that.
 */
#include "workers/acpd/acp_priv.h"

/* clang-format off */
static const struct acp_member none[] = {{NULL, ACP_COPY}};
static const struct acp_member initialize[] = {
	/* composed in acp_initialize.c */
	{NULL, ACP_COPY}};
static const struct acp_member begin[] = {
	{"additionalDirectories", ACP_EXTRA}, {"cwd", ACP_CWD},
	{"mcpServers", ACP_SERVERS}, {"sessionId", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member begun[] = {
	{"configOptions", ACP_COPY}, {"models", ACP_COPY}, {"modes", ACP_COPY},
	{"sessionId", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member list[] = {
	{"cursor", ACP_COPY}, {"cwd", ACP_CWD}, {NULL, ACP_COPY}};
static const struct acp_member listed[] = {
	{"nextCursor", ACP_COPY}, {"sessions", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member prompt[] = {
	{"messageId", ACP_COPY}, {"prompt", ACP_COPY}, {"sessionId", ACP_COPY},
	{NULL, ACP_COPY}};
static const struct acp_member prompted[] = {
	{"stopReason", ACP_COPY}, {"usage", ACP_COPY},
	{"userMessageId", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member set[] = {
	{"configId", ACP_COPY}, {"modeId", ACP_COPY}, {"modelId", ACP_COPY},
	{"sessionId", ACP_COPY}, {"type", ACP_COPY}, {"value", ACP_COPY},
	{NULL, ACP_COPY}};
static const struct acp_member was_set[] = {
	{"configOptions", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member session[] = {
	{"sessionId", ACP_COPY}, {NULL, ACP_COPY}};

static const struct acp_method methods[] = {
	{"initialize",			false,	initialize,	initialize},
	{"session/cancel",		true,	session,	NULL},
	{"session/close",		false,	session,	none},
	{"session/delete",		false,	session,	none},
	{"session/fork",		false,	begin,		begun},
	{"session/list",		false,	list,		listed},
	{"session/load",		false,	begin,		begun},
	{"session/new",			false,	begin,		begun},
	{"session/prompt",		false,	prompt,		prompted},
	{"session/resume",		false,	begin,		begun},
	{"session/set_config_option",	false,	set,		was_set},
	{"session/set_mode",		false,	set,		was_set},
	{"session/set_model",		false,	set,		was_set},
};

static const struct acp_member chunk[] = {
	{"content", ACP_COPY}, {"messageId", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member tool_call[] = {
	{"content", ACP_COPY}, {"kind", ACP_COPY}, {"locations", ACP_COPY},
	{"rawInput", ACP_COPY}, {"rawOutput", ACP_COPY}, {"status", ACP_COPY},
	{"title", ACP_COPY}, {"toolCallId", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member plan[] = {
	{"entries", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member commands[] = {
	{"availableCommands", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member mode[] = {
	{"currentModeId", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member info[] = {
	{"title", ACP_COPY}, {"updatedAt", ACP_COPY}, {NULL, ACP_COPY}};
static const struct acp_member usage[] = {
	{"cost", ACP_COPY}, {"size", ACP_COPY}, {"used", ACP_COPY},
	{NULL, ACP_COPY}};

static const struct {
	const char *kind;
	const struct acp_member *members;
} updates[] = {
	{"agent_message_chunk",		chunk},
	{"agent_thought_chunk",		chunk},
	{"available_commands_update",	commands},
	{"config_option_update",	was_set},
	{"current_mode_update",		mode},
	{"plan",			plan},
	{"session_info_update",		info},
	{"tool_call",			tool_call},
	{"tool_call_update",		tool_call},
	{"usage_update",		usage},
	{"user_message_chunk",		chunk},
};
/* clang-format on */

const struct acp_method *
acp_method_find(struct span name)
{
	for (size_t i = 0; i < nitems(methods); i++)
		if (span_is(name, methods[i].name))
			return &methods[i];
	return NULL;
}

const struct acp_member *
acp_update_find(struct span kind)
{
	for (size_t i = 0; i < nitems(updates); i++)
		if (span_is(kind, updates[i].kind))
			return updates[i].members;
	return NULL;
}
