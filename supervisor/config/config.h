/* SPDX-License-Identifier: ISC */
/*
 * config.json: what the user set.  Keys of the founding system are accepted;
 * those that we do not implement are ignored by name, everything else that is
 * unknown is refused.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <json-c/json.h>

#include "budget.h"
#include "common/ipc/proto.h"
#include "config/fault.h"
#include "config/require.h"

enum credential_kind {
	CREDENTIAL_DEFAULT, /* the provider's usual variable */
	CREDENTIAL_ENV,
	CREDENTIAL_FILE,
	CREDENTIAL_COMMAND,
	CREDENTIAL_SYSTEMD,
	CREDENTIAL_SERVICE, /* secret-service, through its own program */
	CREDENTIAL_LOGIN,   /* of a vendor's program */
	CREDENTIAL_CAPTURE, /* the same, begun in the box, and kept by us */
};

struct config_upstream {
	bool set;
	bool tls;
	uint16_t port;
	char host[254];
	char prefix[1025]; /* "" or "/..." without a slash at its end */
};

/* What a provider file leaves open. */
enum providers_param { PARAM_REGION, PARAM_PROJECT, PROVIDERS_PARAMS };

struct config_provider {
	char *name;
	bool listed; /* has an entry in "credentials" */
	char *params[PROVIDERS_PARAMS]; /* or NULL */
	enum credential_kind kind;
	char *value; /* variable, path, systemd name, or whose login */
	char *login_file; /* or NULL: where it usually is */
	char **command;
	bool reuse;
	/* Elsewhere than the hosts themselves. */
	struct {
		char *host; /* NULL: the first, or only one */
		struct config_upstream at;
	} upstreams[PROTO_MAX_HOSTS];
	unsigned nupstreams;
	struct json_object *filter; /* over the provider file's, or NULL */
	bool http2; /* may be offered to agents */
	struct config_upstream token; /* where a login is renewed, if set */
	char *ca; /* PEM file instead of the system's, or NULL */
};

/* A corporate proxy in front of us. */
struct config_proxy {
	char host[254];
	uint16_t port; /* 0: what the environment says */
	char *direct;  /* rows, a newline behind each; NULL: no_proxy's */
	struct config_provider auth; /* CREDENTIAL_DEFAULT: none here */
	char *ca;                    /* PEM file, more roots, or NULL */
};

struct destination_kind;

/* Further hosts: destinations.h. */
struct config_destination {
	struct config_provider as; /* its name, credential, upstreams, CA */
	const struct destination_kind *kind;
	char **hosts;             /* lower case */
	struct json_object *file; /* what the locks are told, but for hosts */
};

struct config_agent {
	char *name;
	char *path;
};

#define CONFIG_MAX_AGENTS 16U
#define CONFIG_MAX_DESTINATIONS 16U
#define CONFIG_HELD_MB 128U

struct config {
	char *file;       /* NULL: there is none */
	uint8_t hash[32]; /* SHA-256 of its bytes; zeros without */
	struct config_provider providers[PROTO_MAX_PROVIDERS];
	size_t nproviders;
	struct config_proxy proxy;
	struct require require; /* "confinement" */
	struct config_destination destinations[CONFIG_MAX_DESTINATIONS];
	size_t ndestinations;
	/* packageInstall: what registries do not say themselves */
	bool package_off;
	int64_t package_days; /* -1: nothing */
	struct json_object *package_allow, *package_deny; /* or NULL */
	bool proxy_tools; /* the agent may ask for further hosts */
	/* Where those are instead: as a provider that is called like the host. */
	struct config_provider mirrors[CONFIG_MAX_DESTINATIONS];
	size_t nmirrors;
	struct config_agent agents[CONFIG_MAX_AGENTS];
	size_t nagents;
	char *servers_file;             /* "mcpServers": path; absolute */
	struct json_object *servers;    /* "mcpServers": {...} */
	struct json_object *server_env; /* "serverCredentials" */
	char *policy; /* a name, or an absolute directory; or NULL */
	char **trusted; /* servers; or NULL */
	char **notify;
	uint32_t hold_ms;
	struct budget_limits budget;
	unsigned held_mb; /* bodies that mitmd may hold at once */
	bool sync;
	char *anchor; /* "journal", a file, or NULL */
	bool redact;
	bool strict; /* what drifted is refused */
	enum proto_unknown unknown; /* tools that no policy knows */
	char ignored[512]; /* names of keys without effect, or "" */
};

/*
 * file: as --config gave it, must exist; or NULL: home/config.json, if any.
 * user_home: what ~ means. profile: its name, or NULL.
 */
int config_load(struct config *, const char *file, const char *home,
    const char *user_home, const char *profile, struct fault *);
/* The same from text that came from `file`; for config_load and tests. */
int config_parse(struct config *, const char *file, const char *user_home,
    const char *profile, struct span text, struct fault *);
void config_free(struct config *);
/* Is it among "policy.trustedServers"? */
bool config_trusts(const struct config *, const char *server);

/* NULL when config.json does not mention it. */
const struct config_provider *config_provider(
    const struct config *, const char *name);
/* Where the provider's nth host is instead, or NULL. Takes p == NULL. */
const struct config_upstream *config_upstream_of(
    const struct config_provider *p, unsigned n, const char *host);
const struct config_agent *config_agent(
    const struct config *, const char *name);

/*
 * A path of a file: ~ and ~/x are the user's home, others are relative to the
 * directory of `file`. Fresh memory; NULL with ENOMEM.
 */
char *config_path(const char *file, const char *user_home, const char *path);
/* https://host[:port][/prefix], http only for loopback. -1 with why. */
int config_url(const char *url, struct config_upstream *, const char **why);

#endif
