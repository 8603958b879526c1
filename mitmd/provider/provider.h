/* SPDX-License-Identifier: ISC */
/*
 * A provider file: its hosts, how its credential is written, which headers
 * pass, and every route that exists. mitmd checks an agent's request against
 * its copy, and keyd checks it again against its own; both read the same bytes
 * and compare their digests (STREAM_OPEN). The file comes from IronCurtain or
 * the user, never from the agent, but is parsed as if it were hostile.
 *
 * {"name": "anthropic", "host": "api.anthropic.com",
 *  "credential": {"env": "ANTHROPIC_API_KEY", "sentinel": "sk-ant-...-",
 *    "headers": [{"name": "authorization", "prefix": "Bearer "}]},
 *  "requestHeaders": ["accept", "x-stainless-*"], "responseHeaders": [...],
 *  "routes": [{"method": "POST", "path": "/v1/messages",
 *    "query": {"beta": ["true"], "limit": "number", "after": "token"},
 *    "body": {"types": ["application/json"], "max": 33554432}},
 *    {"method": "GET", "path": "/v1/gone", "answer": 404}]}
 *
 * "hosts": [...] replaces "host" where one party has several; a route belongs
 * to the first unless its "host" names another. In a route, "ask": true means
 * that a person must approve each request, "digest": true that REQUEST carries
 * the SHA-256 of the body, and "reply" limits the size of an answer. A file
 * with "kind" is a destination (dest.h) and has the routes of its kind.
 *
 * "sigv4": {"service": "bedrock", "region": "us-west-2"} in the credential: a
 * credential of two parts signs requests (sigv4.h), and every route announces
 * the digest of its body. "alphabet": "bedrock" or "vertex" permits more in
 * paths than plain words (provider/alphabet.c).
 *
 * "bare": true in a route: its requests carry no credential. "capture": LOGIN,
 * on a POST: the token endpoint of that login; keyd makes its own request there
 * and answers with placeholders (keyd/capture.c). Such routes come from
 * the login's "capture"; icsupervisor adds them if the user lets logins begin
 * in the sandbox.
 *
 * "http2": false in the file: agents are offered HTTP/1.1 only. "statedCost":
 * true: answers state their cost in USD, as the member "cost" of their usage.
 *
 * "sendHeaders": {"x-team": "shop"}: headers that keyd sends with each request
 * that has the credential, in place of an agent's own of that name.
 *
 * "logins" describes the login files of the vendor's own programs and how they
 * are renewed (provider/login.c, ironcurtain-config(5)).
 *
 * A path pattern consists of whole segments of [A-Za-z0-9._:-]; `*` matches one
 * segment, or the start of one ("*:generateContent"). mitmd answers a route
 * that has "answer" itself, with that status. A route with "websocket": {"max":
 * 33554432, "dialect": "responses"}, on a GET, can only be used as a WebSocket;
 * max and dialect apply to the agent's messages. "read": true in a body means
 * that a 2xx proves that the provider has read the body; only then is the
 * connection reused. "dialect" in a body names its shape for the body filter
 * and the meter (filter_rules.h); such a route starts a turn of a model unless
 * "turn" is false.
 */
#ifndef PROVIDER_H
#define PROVIDER_H

#include "common/buf.h"
#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "common/span.h"
#include "provider/check.h"
#include "provider/filter_rules.h"
#include "wire/sigv4.h"

#define PROVIDER_MAX_FILE (1U << 20)
#define PROVIDER_MAX_ROUTES 1024U
#define PROVIDER_MAX_HEADERS 256U   /* in an allow-list */
#define PROVIDER_MAX_KINDS 8U       /* ways to write the credential */
#define PROVIDER_MAX_ADDS 4U        /* headers that a login adds */
#define PROVIDER_MAX_SENDS 8U       /* headers of every request */
#define PROVIDER_MAX_CAPTURE 16384U /* body of a token request */
#define PROVIDER_MAX_PARAMS 32U     /* parameters of a route */
#define PROVIDER_MAX_VALUES 16U     /* listed values of a parameter */
#define PROVIDER_MAX_TYPES 8U       /* content types of a route */
#define PROVIDER_MAX_SEGMENTS 16U
#define PROVIDER_MAX_PATH 2048U /* as in REQUEST */
#define PROVIDER_MAX_QUERY 2048U
#define PROVIDER_MAX_BODY (64U << 20)
#define PROVIDER_MAX_REPLY (1ULL << 40)
#define PROVIDER_DFLT_BODY (32U << 20)
#define PROVIDER_MAX_NAME 128U   /* bytes of a header's name */
#define PROVIDER_MAX_VALUE 8192U /* bytes of a header's value */
#define PROVIDER_MAX_BLOB 49152U /* headers of a REQUEST, packed */
/*
 * The first entry of a REQUEST's headers: the kind of credential header that
 * the agent used.
 */
#define PROVIDER_CREDENTIAL ":credential"

/* The bytes that a path segment may contain: provider/alphabet.c. */
enum provider_alphabet {
	PROVIDER_WORDS,   /* [A-Za-z0-9._:-] */
	PROVIDER_BEDROCK, /* also %3A, and ARNs with their / as %2F */
	PROVIDER_VERTEX,  /* also one @ inside */
};

enum provider_class {
	PROVIDER_LISTED, /* one of the values */
	PROVIDER_NUMBER, /* 1-10 digits */
	PROVIDER_TOKEN,  /* 1-128 of [A-Za-z0-9._:-] */
};

struct provider_param {
	struct span name;
	enum provider_class class;
	struct span *values;
	unsigned nvalues;
};

struct provider_route {
	struct span method;
	struct span path; /* the pattern */
	struct provider_param *params;
	unsigned nparams;
	struct span *types;          /* media types, lower-case */
	unsigned ntypes;             /* 0: the route takes no body */
	uint64_t max;                /* largest body, in bytes */
	bool reads;                  /* a 2xx proves that the body was read */
	enum filter_dialect dialect; /* shape of the body, for the filter */
	bool turn;        /* a turn of a model: a step that costs tokens */
	unsigned answer;  /* mitmd's own answer; 0: to the provider */
	bool websocket;   /* `max` is that of a message */
	unsigned host;    /* index into the provider's hosts */
	uint64_t reply;   /* largest answer, in bytes; 0: no limit */
	bool ask;         /* a person must approve each request */
	bool push;        /* git push: approval shows the refs */
	bool lfs;         /* keyd reads the answer, and composes its own */
	bool call;        /* to a forge: policyd composes the body, too */
	bool stay;        /* a redirect is an error */
	bool digest;      /* REQUEST has the body's SHA-256 */
	bool bare;        /* no credential, not even the agent's */
	unsigned capture; /* token endpoint: index of the login + 1 */
};

/*
 * A way to write the credential: header name (lower-case) and the text before
 * it.
 */
struct provider_kind {
	struct span name;
	struct span prefix; /* "Bearer ", or empty */
};

/*
 * A header that accompanies a login: a constant, or taken from the login file.
 */
struct provider_add {
	struct span name;     /* lower-case */
	struct span value;    /* a constant to add to the list */
	struct span member;   /* or the login's member to send instead */
	struct span claim[2]; /* ID token's claim for `member` */
};

enum provider_expires {
	PROVIDER_EXPIRES_MS,
	PROVIDER_EXPIRES_S,
	PROVIDER_EXPIRES_JWT,  /* from the access token's own "exp" */
	PROVIDER_EXPIRES_NONE, /* no token in the file */
};

/*
 * The login file of a vendor's program: where its values are ("a.b": member b
 * of member a), how it is renewed (RFC 6749 section 6), and how it is used.
 */
struct provider_login {
	struct span name;
	struct provider_place place;   /* for icsupervisor */
	unsigned kind;                 /* index into the provider's kinds */
	struct span access, refresh;   /* members of the file */
	struct span client_at, secret; /* members; may be empty */
	/*
	 * Members with the resource (RFC 8707), with how the client proves
	 * itself, and with the token endpoint, which alone gets the refresh
	 * token; may be empty.
	 */
	struct span resource, auth, endpoint;
	/*
	 * Member with the time at which the token endpoint ended the login, or
	 * 0; may be empty.
	 */
	struct span ended;
	struct span expires;     /* empty: see the JWT */
	struct span id, renewed; /* may be empty */
	enum provider_expires unit;
	bool json; /* the token endpoint takes JSON; otherwise a form */
	struct span client, scope;
	struct provider_add adds[PROVIDER_MAX_ADDS];
	unsigned nadds;
	bool captured;    /* it may begin in the sandbox */
	struct span fake; /* ID token given to the sandbox; may be empty */
};

struct registry_rules; /* registry/rules.h */
struct forge_grant;    /* common/forge/forge.h */

struct provider_list {
	struct span *names; /* lower-case; the last byte may be * */
	unsigned n;
};

struct provider {
	struct span name;
	const struct dest_kind *dest;       /* NULL: a model provider */
	struct span hosts[PROTO_MAX_HOSTS]; /* lower-case */
	unsigned nhosts;
	struct span env;      /* the credential's usual variable */
	struct span sentinel; /* prefix of placeholder keys */
	struct span *parts;   /* for icsupervisor: see check.h */
	struct provider_kind kinds[PROVIDER_MAX_KINDS];
	unsigned nkinds;          /* 0: the provider has no credential */
	struct sigv4_scope sigv4; /* service empty: requests are not signed */
	enum provider_alphabet alphabet;
	bool keyless;      /* keyd adds the credential; the agent shows none */
	struct span basic; /* user name for Basic (RFC 7617) */
	bool plain;        /* refuse with text/plain: git shows nothing else */
	const struct dest_git *git;      /* settings of a git server */
	const struct dest_mcp *mcp;      /* NULL: not a remote MCP server */
	const struct forge_grant *forge; /* NULL: not the API of a forge */
	struct provider_login logins[PROVIDER_MAX_LOGINS];
	unsigned nlogins;
	bool captures; /* one of the logins may begin in the sandbox */
	struct provider_list request, response;
	struct provider_add sends[PROVIDER_MAX_SENDS]; /* name and value */
	unsigned nsends;
	const struct registry_rules *registry; /* NULL: not a registry */
	struct filter_rules filter; /* how to treat reach in a body */
	bool http1;                 /* do not offer HTTP/2 to agents */
	bool stated_cost;           /* answers state what they cost */
	struct provider_route *routes;
	unsigned nroutes;
	uint8_t digest[32];      /* SHA-256 of the file */
	struct value_pool *pool; /* owns everything above */
};

/*
 * Parse the text of a provider file; the text is copied. Returns NULL with
 * errno EINVAL and "where: what is wrong" in err[cap], or ENOMEM.
 */
struct provider *provider_parse(struct span text, char *err, size_t cap);
void provider_free(struct provider *);

enum provider_result {
	PROVIDER_OK,
	PROVIDER_BAD_PATH,  /* malformed: an escape, a dot segment, ... */
	PROVIDER_BAD_QUERY, /* malformed: an escape, a duplicate, ... */
	PROVIDER_NO_ROUTE,  /* no such path */
	PROVIDER_NO_METHOD, /* the path exists, for other methods */
	PROVIDER_NO_PARAM,  /* a parameter or its value is not listed */
};

/*
 * Find the route of a request to this host. `query` excludes the `?`; p == NULL
 * means that there was none (an empty one is malformed). Sets `*route` only for
 * PROVIDER_OK. If several routes fit, the first one that asks a person is
 * taken, or else the first one.
 */
enum provider_result provider_match(const struct provider *, unsigned host,
    struct span method, struct span path, struct span query, unsigned *route);
/*
 * Check that this route of this host is the one that provider_match() finds:
 * keyd's check of a REQUEST. The query may be "".
 */
enum provider_result provider_match_route(const struct provider *,
    unsigned route, unsigned host, struct span path, struct span query);
/* Returns true if the body must not be sent before its digest is known. */
static inline bool
provider_is_digested(const struct provider_route *r)
{
	return r->digest || r->ask;
}
/* Returns true if a path may contain this segment. */
bool provider_segment_ok(const struct provider *, struct span);
/* Returns the reason for PROVIDER_BAD_PATH as constant text. */
const char *provider_path_why(const struct provider *);
/* Map "bedrock" or "vertex" to its alphabet. Returns -1 if unknown. */
int provider_alphabet_find(struct span);
/*
 * Say in a sentence which repository of a git server a request may not reach,
 * and which key of config.json would allow it. Returns NULL if the path is not
 * one of git's.
 */
const char *provider_git_why(const struct provider *, struct span path,
    struct span query, char *dst, size_t cap);
/*
 * Returns true if the route takes this content type (as received); p == NULL:
 * none given.
 */
bool provider_type_ok(const struct provider_route *, struct span type);

/* Returns true if the list has this name (lower-case). */
bool provider_listed(const struct provider_list *, struct span name);
/* Returns the index of the kind that uses this header (lower-case), or -1. */
int provider_kind(const struct provider *, struct span name);
/*
 * Returns true if a header of this name (any case) could carry a credential for
 * some provider. `_` counts as `-`. Cookie is not included: it is always
 * dropped.
 */
bool provider_secretive(struct span name);
/* [a-z0-9_-]{1,128} starting with a letter or digit. */
bool provider_name_ok(struct span name);
/* At most 8192 of 0x20-0x7e and HT. */
bool provider_value_ok(struct span value);

/*
 * Append an entry to a packed list. Returns 0, or -1 if it is too long or the
 * buffer is full.
 */
int provider_pack(struct buf *, struct span name, struct span value);
/*
 * Take the next entry off a packed list. Returns 1, 0 at the end, or -1 with
 * EBADMSG.
 */
int provider_unpack(struct span *rest, struct span *name, struct span *value);
/*
 * keyd's check of a REQUEST's headers: ":credential" comes first (none on a
 * bare route), followed by names on the request list, with valid values and
 * without repetition. Sets `*kind` to an index into kinds.
 */
int provider_headers_ok(
    const struct provider *, bool bare, struct span blob, unsigned *kind);

#endif
