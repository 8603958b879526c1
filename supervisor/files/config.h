/* SPDX-License-Identifier: ISC */
/*
 * config.json, the user's settings. Of the keys that only the TypeScript
 * IronCurtain has, those of its own models, memory and modes are named in
 * session.log and ignored; those with an API key or a base URL are refused
 * with what to write instead (config.c lists both). All other unknown keys are
 * errors.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <json-c/json.h>
#include <stddef.h>
#include <string.h>

#include "base/fault.h"
#include "budget/budget.h"
#include "common/ipc/proto.h"
#include "files/limits.h"
#include "files/require.h"

enum credential_kind {
	CREDENTIAL_DEFAULT, /* the provider's usual variable */
	CREDENTIAL_ENV,
	CREDENTIAL_FILE,
	CREDENTIAL_COMMAND,
	CREDENTIAL_SYSTEMD,
	CREDENTIAL_SERVICE, /* secret-service, through its own program */
	CREDENTIAL_LOGIN,   /* a login of a vendor's program */
	CREDENTIAL_CAPTURE, /* the same, begun in the sandbox, kept by
			       IronCurtain */
};

struct config_upstream {
	bool set;
	bool tls;
	uint16_t port;
	char host[254];
	char prefix[1025]; /* "" or "/..." without a slash at its end */
};

/* A command of the user's that runs on the host; see host/command.h. */
struct config_command {
	char **argv;      /* NULL: none */
	char **variables; /* names of further ones that it gets; or NULL */
	bool shell;       /* may be an interpreter with its program's text */
};

/* The parameters of a provider file. */
enum providers_param {
	PARAM_REGION,
	PARAM_PROJECT,
	PROVIDERS_PARAMS
};

struct config_provider {
	char *name;
	bool listed;                    /* has an entry in "credentials" */
	char *params[PROVIDERS_PARAMS]; /* or NULL */
	enum credential_kind kind;
	char *value; /* variable, path, systemd name, or vendor of the login */
	char *login_file; /* NULL: its usual place */
	struct config_command command;
	struct config_command revoke; /* takes a session's key back */
	bool reuse;
	/* Servers to use instead of the provider's hosts. */
	struct {
		char *host; /* NULL: the first, or only one */
		struct config_upstream at;
	} upstreams[PROTO_MAX_HOSTS];
	unsigned nupstreams;
	struct json_object *filter; /* on top of the provider file's, or NULL */
	bool http2;                 /* may be offered to agents */
	struct config_upstream token; /* server that renews a login, if set */
	char *ca; /* PEM file that replaces the system's, or NULL */
};

/* "autoApprove": the approver. */
struct config_approve {
	bool on;
	char *provider, *model; /* set if it is on */
};

/* "approvers": those whose signatures an approval needs. */
struct config_approvers {
	char *file;      /* in the form of ssh's allowed_signers; or NULL */
	uint32_t needed; /* so many of them must sign */
};

/* A corporate proxy between this machine and the internet. */
struct config_proxy {
	char host[254];
	uint16_t port; /* 0: use the environment's proxy */
	char *direct;  /* hosts not to proxy, each followed by a newline; NULL:
			  use no_proxy */
	struct config_provider auth; /* CREDENTIAL_DEFAULT: none here */
	char *ca;                    /* PEM file with more roots, or NULL */
};

struct destination_kind;

/* Further hosts; see destinations.h. */
struct config_destination {
	struct config_provider as; /* its name, credential, upstreams, CA */
	const struct destination_kind *kind;
	char **hosts;             /* lower case */
	struct json_object *file; /* its provider file without the hosts */
};

struct config_agent {
	char *name;
	char *path;
	char *image; /* for containers, or NULL */
	char *model; /* the value of {model} in the agent's file, or NULL */
	bool no_home_files;
};

/* A service that the agent may use; see services.c. */
struct config_service {
	char name[33];
	uint16_t port; /* on the sandbox's own loopback */
	/*
	 * An address of this machine or its network, as egress_host() writes
	 * it; or the name, if the service is the session's own.
	 */
	char host[64];
	uint16_t to; /* the port there */
	/* Its program or image, and the like: the session's own; or NULL. */
	struct json_object *own;
	/* The agent is this user in this database; "": it logs in itself. */
	char user[PROTO_MAX_LOGIN + 1], database[PROTO_MAX_LOGIN + 1];
	uint8_t login; /* enum proto_login */
};

#define CONFIG_MAX_AGENTS 16U
#define CONFIG_MAX_VARIABLES 64U
#define CONFIG_MAX_DESTINATIONS 16U
/* The sessions that `icctl start` runs at once, unless config.json says more.
 */
#define CONFIG_SESSIONS 5U
#define CONFIG_HELD_MB 128U
#define CONFIG_MAX_SHOWN 32U

/* The package caches that agents can share; the order of caches.c's table. */
enum {
	CACHE_CARGO,
	CACHE_GO,
	CACHE_NPM,
	CACHE_PIP,
	CONFIG_CACHES
};
/* The cache is where the tool puts it by itself. */
#define CONFIG_CACHE_USUAL ""

/* "notifyOn": what the notify command tells a person of. */
#define CONFIG_NOTIFY_WAITING 1U
#define CONFIG_NOTIFY_TURN 2U
#define CONFIG_NOTIFY_LIMIT 4U

/* "undo": checkpoints of the workspace. */
#define CONFIG_MAX_UNDO 64U
struct config_undo {
	bool on;
	char **leave, **include; /* names, or paths in the workspace; or NULL */
	uint32_t file_mb, turn_mb, store_mb; /* MiB */
	uint32_t files;                      /* entries of a checkpoint */
	uint32_t free;                       /* percent of the disk */
	uint32_t keep, days; /* checkpoints that stay, and for how long */
};

/* "projectInstructions": lines, and bytes of all. */
#define CONFIG_MAX_TOLD 40U
#define CONFIG_TOLD 2048U

struct config {
	char *file;       /* NULL if there is none */
	uint8_t hash[32]; /* SHA-256 of the file; zero without one */
	struct config_proxy proxy;
	struct require require; /* "confinement" */
	/* packageInstall: defaults for registries. */
	bool package_off;
	int64_t package_days;                             /* -1: no default */
	struct json_object *package_allow, *package_deny; /* or NULL */
	struct config_approve approve;
	bool proxy_tools; /* the agent may ask for further hosts */
	bool hosts_off;   /* "openHosts" is "off" */
	/*
	 * A CONNECT to a host on no list asks for it; not in the file, because
	 * it depends on how the session is started.
	 */
	bool asks_hosts;
	struct config_agent agents[CONFIG_MAX_AGENTS];
	size_t nagents;
	char *servers_file;             /* "mcpServers": path; absolute */
	struct json_object *servers;    /* "mcpServers": {...} */
	struct json_object *server_env; /* "serverCredentials" */
	char *policy;   /* a name, or an absolute directory; or NULL */
	char **trusted; /* servers; or NULL */
	char *told;     /* the project's words to the agent, quoted; or NULL */
	char **narrow;  /* as common/narrow.h has them; or NULL */
	struct config_approvers approvers;
	struct config_command notify;
	uint32_t notify_on; /* CONFIG_NOTIFY_ bits */
	/* "notifyQuiet": minutes of the local day; the same: never. */
	uint32_t quiet_from, quiet_to;
	uint8_t answer_key; /* as answer_key.h has it */
	uint32_t hold_ms;
	bool expiry_ends;      /* a call that nobody answers ends the session */
	unsigned max_sessions; /* that `icctl start` starts; 0: no limit */
	struct budget_limits budget;
	struct budget_limits policy_budget; /* for compiling one */
	struct limits limits;
	unsigned held_mb;    /* MiB of bodies that mitmd may hold at once */
	const char *runtime; /* "bwrap", "docker" or "podman" */
	bool tcp;            /* "transport" is "tcp", not "unix" */
	char *image;         /* for containers, or NULL */
	/* Directories on the host, or NULL: absolute, or CONFIG_CACHE_USUAL. */
	char *caches[CONFIG_CACHES];
	char **shown; /* "agentView": absolute paths; or NULL */
	struct config_service services[PROTO_MAX_SERVICES];
	unsigned nservices;
	struct json_object *env; /* the agent's variables: texts; or NULL */
	bool sync;
	char *anchor;      /* "journal", a file, or NULL */
	uint64_t log_size; /* bytes of a file of the log; 0: no limit */
	bool log_strict;   /* end the session if its earlier log is broken */
	bool redact;
	/* KiB of definitions: of a tool, of a server, of the whole list */
	uint32_t tool_kib, server_kib, list_kib;
	bool strict;                /* policy.strict: refuse what has drifted */
	bool hold_packages;         /* "pins": {"packages": "hold"} */
	enum proto_unknown unknown; /* policy.unknownTools */
	struct config_undo undo;
	/* keys without effect, and what to write instead, or "" */
	char ignored[2048];
	size_t nproviders, ndestinations, nmirrors;
	/*
	 * These are half a megabyte, of which most is never used. They are not
	 * cleared with the rest, but entry by entry, as each is added.
	 */
	struct config_provider providers[PROTO_MAX_PROVIDERS];
	struct config_destination destinations[CONFIG_MAX_DESTINATIONS];
	/* Servers to use instead of such hosts; each is named like the host. */
	struct config_provider mirrors[CONFIG_MAX_DESTINATIONS];
};

/* Make it empty, without freeing anything. */
static inline void
config_clear(struct config *cfg)
{
	memset(cfg, 0, offsetof(struct config, providers));
}

/*
 * Load the configuration. `file` comes from --config and must exist; if NULL,
 * it is home/config.json, which may be absent. `user_home` is the value of ~.
 * `profile` is a name, or NULL. Returns 0, or -1 with the fault set;
 * config_free() is needed only after success.
 */
int config_load(struct config *, const char *file, const char *home,
    const char *user_home, const char *profile, struct fault *);
/*
 * config_file.c: The same with another parser, which gets the text; without a
 * file, it gets an empty object.
 */
typedef int config_parse_fn(struct config *, const char *file,
    const char *user_home, const char *profile, struct span text,
    struct fault *);
int config_file(struct config *, config_parse_fn *, const char *file,
    const char *home, const char *user_home, const char *profile,
    struct fault *);
/* config_ask.c: Have ic-reader parse the text. */
config_parse_fn config_ask;
/* Parse text that came from `file`; for config_load() and tests. */
int config_parse(struct config *, const char *file, const char *user_home,
    const char *profile, struct span text, struct fault *);
void config_free(struct config *);
/* Returns true if the server is in "policy.trustedServers". */
bool config_trusts(const struct config *, const char *server);

/*
 * runtime.c: Returns true if this can name an image, and never looks like an
 * option.
 */
bool config_is_image(const char *);
/* Returns true if this can be a model's name, and never looks like an option.
 */
bool config_is_model(const char *);
/* Returns NULL if config.json does not mention the provider. */
const struct config_provider *config_provider(
    const struct config *, const char *name);
/*
 * Returns the server to use instead of the provider's nth host, or NULL. `p`
 * may be NULL.
 */
const struct config_upstream *config_upstream_of(
    const struct config_provider *p, unsigned n, const char *host);
const struct config_agent *config_agent(
    const struct config *, const char *name);

/*
 * Expand a path in a file: ~ and ~/x are in the user's home, others are
 * relative to the directory of `file`. The caller frees it. Returns NULL with
 * ENOMEM.
 */
char *config_path(const char *file, const char *user_home, const char *path);
/*
 * Parse https://host[:port][/prefix]; http is allowed for loopback only.
 * Returns 0, or -1 with a reason in `*why` that does not repeat the URL.
 */
int config_url(const char *url, struct config_upstream *, const char **why);

#endif
