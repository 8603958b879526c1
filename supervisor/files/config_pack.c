/* SPDX-License-Identifier: ISC */
/*
 * The members of `struct config` that config_parse() sets. Each of them has a
 * row here, or icsupervisor does not get it: tests/unit/config/test_pack.c
 * finds one that has none.
 */
#include "files/config_pack.h"

#include "files/pack_rows.h"
#include "files/providers/destinations.h"

/* clang-format off */
static const struct pack_row pack_upstream[] = {
	BOOL(config_upstream, set), BOOL(config_upstream, tls),
	NUMBER(config_upstream, port, UINT16_MAX),
	TEXT(config_upstream, host), TEXT(config_upstream, prefix),
};

static const struct pack_row pack_command[] = {
	STRINGS(config_command, argv), STRINGS(config_command, variables),
	BOOL(config_command, shell),
};

/* The structure of config_provider's `upstreams` has no name of its own. */
#define UPSTREAMS ((struct config_provider *)NULL)->upstreams[0]
static const struct pack_row pack_moved[] = {
	{.kind = PACK_STRING,
	    .at = offsetof(struct config_provider, upstreams[0].host) -
		offsetof(struct config_provider, upstreams[0]),
	    .size = sizeof(UPSTREAMS.host)},
	{.kind = PACK_PART,
	    .at = offsetof(struct config_provider, upstreams[0].at) -
		offsetof(struct config_provider, upstreams[0]),
	    .size = sizeof(UPSTREAMS.at),
	    .rows = pack_upstream, .nrows = nitems(pack_upstream)},
};

const struct pack_row config_provider_rows[CONFIG_PROVIDER_ROWS] = {
	STRING(config_provider, name), BOOL(config_provider, listed),
	{.kind = PACK_STRING, EACH(config_provider, params)},
	NUMBER(config_provider, kind, CREDENTIAL_CAPTURE),
	STRING(config_provider, value), STRING(config_provider, login_file),
	PART(config_provider, command, pack_command),
	PART(config_provider, revoke, pack_command),
	BOOL(config_provider, reuse),
	NUMBER(config_provider, nupstreams, PROTO_MAX_HOSTS),
	LIST(config_provider, upstreams, nupstreams, pack_moved),
	JSON(config_provider, filter), BOOL(config_provider, http2),
	PART(config_provider, token, pack_upstream),
	STRING(config_provider, ca),
};

static const struct pack_row pack_approve[] = {
	BOOL(config_approve, on), STRING(config_approve, provider),
	STRING(config_approve, model),
};

static const struct pack_row pack_approvers[] = {
	STRING(config_approvers, file), NUMBER(config_approvers, needed, 8),
};

static const struct pack_row pack_proxy[] = {
	TEXT(config_proxy, host), NUMBER(config_proxy, port, UINT16_MAX),
	STRING(config_proxy, direct), PART(config_proxy, auth, config_provider_rows),
	STRING(config_proxy, ca),
};

static const struct pack_row pack_require[] = {
	NUMBER(require, flags, UINT32_MAX), NUMBER(require, landlock, UINT32_MAX),
};

static const struct pack_row pack_agent[] = {
	STRING(config_agent, name), STRING(config_agent, path),
	STRING(config_agent, image), STRING(config_agent, model),
	BOOL(config_agent, no_home_files),
};

static const struct pack_row pack_service[] = {
	TEXT(config_service, name), NUMBER(config_service, port, UINT16_MAX),
	TEXT(config_service, host), NUMBER(config_service, to, UINT16_MAX),
	JSON(config_service, own), TEXT(config_service, user),
	TEXT(config_service, database),
	NUMBER(config_service, login, PROTO_LOGIN_ALL),
};

static const struct pack_row pack_budget[] = {
	{.kind = PACK_BOOL, EACH(budget_limits, on)},
	{.kind = PACK_DOUBLE, EACH(budget_limits, max)},
	NUMBER(budget_limits, warn, 100),
};

/* `group` is not of the file. */
static const struct pack_row pack_limits[] = {
	NUMBER(limits, memory_mb, UINT64_MAX),
	NUMBER(limits, server_mb, UINT64_MAX),
	NUMBER(limits, processes, UINT64_MAX), NUMBER(limits, files, UINT64_MAX),
	NUMBER(limits, tmp_mb, UINT64_MAX), NUMBER(limits, shm_mb, UINT64_MAX),
	NUMBER(limits, home_mb, UINT64_MAX), NUMBER(limits, free_mb, UINT64_MAX),
	NUMBER(limits, cpus, UINT32_MAX), BOOL(limits, memory_forced),
	BOOL(limits, processes_forced), BOOL(limits, cpus_forced),
	BOOL(limits, server_forced), BOOL(limits, group_cpus),
};

static const struct pack_row pack_undo[] = {
	BOOL(config_undo, on), STRINGS(config_undo, leave),
	STRINGS(config_undo, include), NUMBER(config_undo, file_mb, UINT32_MAX),
	NUMBER(config_undo, turn_mb, UINT32_MAX),
	NUMBER(config_undo, store_mb, UINT32_MAX),
	NUMBER(config_undo, files, UINT32_MAX),
	NUMBER(config_undo, free, UINT32_MAX),
	NUMBER(config_undo, keep, UINT32_MAX),
	NUMBER(config_undo, days, UINT32_MAX),
};

static const char *const pack_runtimes[] = {"bwrap", "docker", "podman", NULL};

/* `kind` comes as a name, behind everything else: config_put(). */
static const struct pack_row pack_destination[] = {
	PART(config_destination, as, config_provider_rows),
	STRINGS(config_destination, hosts), JSON(config_destination, file),
};

const struct pack_row config_rows[] = {
	STRING(config, file), BYTES(config, hash),
	NUMBER(config, nproviders, PROTO_MAX_PROVIDERS),
	LIST(config, providers, nproviders, config_provider_rows),
	PART(config, proxy, pack_proxy), PART(config, require, pack_require),
	NUMBER(config, ndestinations, CONFIG_MAX_DESTINATIONS),
	LIST(config, destinations, ndestinations, pack_destination),
	BOOL(config, package_off), SIGNED(config, package_days),
	JSON(config, package_allow), JSON(config, package_deny),
	PART(config, approve, pack_approve),
	PART(config, approvers, pack_approvers), BOOL(config, proxy_tools),
	BOOL(config, hosts_off),
	NUMBER(config, nmirrors, CONFIG_MAX_DESTINATIONS),
	LIST(config, mirrors, nmirrors, config_provider_rows),
	NUMBER(config, nagents, CONFIG_MAX_AGENTS),
	LIST(config, agents, nagents, pack_agent),
	STRING(config, servers_file), JSON(config, servers),
	JSON(config, server_env), STRING(config, policy),
	STRINGS(config, trusted), STRING(config, told),
	STRINGS(config, narrow), PART(config, notify, pack_command),
	NUMBER(config, notify_on, UINT32_MAX),
	NUMBER(config, quiet_from, UINT32_MAX),
	NUMBER(config, quiet_to, UINT32_MAX),
	NUMBER(config, answer_key, UINT8_MAX),
	NUMBER(config, hold_ms, UINT32_MAX),
	BOOL(config, expiry_ends),
	NUMBER(config, max_sessions, UINT32_MAX),
	PART(config, budget, pack_budget), PART(config, policy_budget, pack_budget),
	PART(config, limits, pack_limits), NUMBER(config, held_mb, UINT32_MAX),
	NAME(config, runtime, pack_runtimes), BOOL(config, tcp),
	STRING(config, image), {.kind = PACK_STRING, EACH(config, caches)},
	STRINGS(config, shown), NUMBER(config, nservices, PROTO_MAX_SERVICES),
	LIST(config, services, nservices, pack_service), JSON(config, env),
	BOOL(config, sync), STRING(config, anchor),
	NUMBER(config, log_size, UINT64_MAX), BOOL(config, log_strict),
	BOOL(config, redact), NUMBER(config, tool_kib, UINT32_MAX),
	NUMBER(config, server_kib, UINT32_MAX),
	NUMBER(config, list_kib, UINT32_MAX), BOOL(config, strict), BOOL(config, hold_packages),
	NUMBER(config, unknown, PROTO_UNKNOWN_LAST),
	PART(config, undo, pack_undo), TEXT(config, ignored),
};
/* clang-format on */

const size_t config_nrows = nitems(config_rows);

/* Take the names of the kinds. */
static int
take_kinds(struct config *c, struct span *s)
{
	const uint8_t *end;

	for (size_t i = 0; i < c->ndestinations; i++) {
		end = s->len == 0 ? NULL : memchr(s->p, '\0', s->len);
		if (end == NULL || (c->destinations[i].kind = destination_kind(
					(const char *)s->p)) == NULL)
			return -1;
		*s = span_of(end + 1, s->len - (size_t)(end + 1 - s->p));
	}
	return s->len == 0 ? 0 : -1;
}

/* Returns true if what the rest of icsupervisor takes for granted is there. */
static bool
config_whole(const struct config *c)
{
	for (size_t i = 0; i < c->nproviders; i++)
		if (c->providers[i].name == NULL)
			return false;
	for (size_t i = 0; i < c->ndestinations; i++)
		if (c->destinations[i].as.name == NULL ||
		    c->destinations[i].hosts == NULL)
			return false;
	for (size_t i = 0; i < c->nmirrors; i++)
		if (c->mirrors[i].name == NULL)
			return false;
	for (size_t i = 0; i < c->nagents; i++)
		if (c->agents[i].name == NULL)
			return false;
	return c->runtime != NULL && c->file != NULL &&
	       (!c->approve.on ||
		   (c->approve.provider != NULL && c->approve.model != NULL));
}

int
config_take(struct config *c, struct span s)
{
	config_clear(c);
	if (pack_take(&s, config_rows, config_nrows, c) == 0 &&
	    take_kinds(c, &s) == 0 && config_whole(c))
		return 0;
	config_free(c);
	return -1;
}
