/* SPDX-License-Identifier: ISC */
/*
 * A provider file: its hosts, how its credential is written, which headers
 * pass, and every route that exists.  mitmd checks an agent's request against
 * its copy, keyd checks it again against its own; both read the same bytes
 * and compare their digest (STREAM_OPEN).  The file is ours or the user's,
 * not the agent's, and is still read as if it were hostile.
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
 * "hosts": [...] instead of "host": several, of one party; a route is of the
 * first unless its "host" says another.  "ask": true in a route: a person must
 * approve each request.  "digest": true: keyd is told the SHA-256 of the body
 * beforehand.  "reply": most bytes of an answer.  A file with "kind" is a
 * destination (dest.h): its routes are those of the kind.
 *
 * "sigv4": {"service": "bedrock", "region": "us-west-2"} in the credential:
 * one of two parts signs requests (sigv4.h); every route announces its body's
 * digest.  "alphabet": "bedrock" or "vertex", of the paths: one of plain words
 * is not enough there (provider/alphabet.c).
 *
 * "bare": true in a route: it goes without a credential.  "capture": LOGIN, on
 * a POST: the token endpoint of that login; keyd asks it in its own words and
 * answers with sentinels (keyd/login/capture.c).  Such routes stand in the login's
 * "capture" and are put among the others by icsupervisor, if the user wants
 * logins to begin in the box.
 *
 * "http2": false in the file: agents are offered HTTP/1.1 only.
 *
 * "logins" says how login files of the vendor's own programs are laid out and
 * renewed (provider/login.c, ironcurtain-config(5)).
 *
 * A path pattern is whole segments of [A-Za-z0-9._:-]; `*` stands for one
 * segment, or for the start of one ("*:generateContent").  A route with
 * "answer" is never sent: mitmd answers it with that status.  One with
 * "websocket": {"max": 33554432, "dialect": "responses"}, on a GET, is only
 * had by WebSocket; max and dialect are those of the agent's messages.
 * "read": true in a body says that a 2xx means the provider has read it; only
 * then is the connection used again.  "dialect" in a body names its shape for the body
 * filter and the meter (filter_rules.h); a route with one starts a model's
 * turn unless "turn" is false.
 */
#ifndef PROVIDER_H
#define PROVIDER_H

#include "common/buf.h"
#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "common/span.h"
#include "provider/filter_rules.h"
#include "wire/sigv4.h"

#define PROVIDER_MAX_FILE (1U << 20)
#define PROVIDER_MAX_ROUTES 1024U
#define PROVIDER_MAX_HEADERS 256U /* in an allow-list */
#define PROVIDER_MAX_KINDS 8U     /* ways to write the credential */
#define PROVIDER_MAX_LOGINS 8U
#define PROVIDER_MAX_ADDS 4U      /* headers of a login */
#define PROVIDER_MAX_DIRS 4U      /* variables that move one */
#define PROVIDER_MAX_CAPTURE 16384U /* body of a token request */
#define PROVIDER_MAX_PARAMS 32U   /* of a route */
#define PROVIDER_MAX_VALUES 16U   /* listed values of a parameter */
#define PROVIDER_MAX_TYPES 8U     /* content types of a route */
#define PROVIDER_MAX_SEGMENTS 16U
#define PROVIDER_MAX_PATH 2048U /* as in REQUEST */
#define PROVIDER_MAX_QUERY 2048U
#define PROVIDER_MAX_BODY (64U << 20)
#define PROVIDER_MAX_REPLY (1ULL << 40)
#define PROVIDER_DFLT_BODY (32U << 20)
#define PROVIDER_MAX_NAME 128U   /* of a header */
#define PROVIDER_MAX_VALUE 8192U /* of a header */
#define PROVIDER_MAX_BLOB 49152U /* headers of a REQUEST, packed */
/* The first entry of a REQUEST's headers: which kind the agent used. */
#define PROVIDER_CREDENTIAL ":credential"

/* Which bytes a segment of a path may hold: provider/alphabet.c. */
enum provider_alphabet {
	PROVIDER_WORDS,   /* [A-Za-z0-9._:-] */
	PROVIDER_BEDROCK, /* besides, %3A, and ARNs with their / as %2F */
	PROVIDER_VERTEX,  /* besides, one @ within */
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
	struct span *types;          /* lower-case media types */
	unsigned ntypes;             /* 0: no body */
	uint64_t max;                /* bytes of body */
	bool reads;                  /* a 2xx has read the body */
	enum filter_dialect dialect; /* of the body, for the filter */
	bool turn;                   /* a model answers: a step, and it costs */
	unsigned answer;             /* 0: goes to the provider */
	bool websocket;              /* by upgrade only; max: of a message */
	unsigned host;               /* of the provider's */
	uint64_t reply;              /* most bytes of an answer; 0: any */
	bool ask;                    /* a person must approve each */
	bool push;                   /* of git: its refs are shown, too */
	bool digest;                 /* REQUEST says the body's SHA-256 */
	bool bare;                   /* without a credential, and none comes */
	unsigned capture;            /* of the login + 1: keyd answers it */
};

/* A way to write the credential: header name (lower-case) and what precedes. */
struct provider_kind {
	struct span name;
	struct span prefix; /* "Bearer ", or empty */
};

/* A header that goes along with a login: constant, or out of its file. */
struct provider_add {
	struct span name;   /* lower-case */
	struct span value;  /* one more entry of that list */
	struct span member; /* or the text there instead of the agent's */
	struct span claim[2]; /* of the ID token: what `member` is made of */
};

enum provider_expires {
	PROVIDER_EXPIRES_MS,
	PROVIDER_EXPIRES_S,
	PROVIDER_EXPIRES_JWT, /* the access token's own "exp" */
	PROVIDER_EXPIRES_NONE, /* the file holds no token, but gets one */
};

/*
 * The login file of a vendor's program: where in it stands what ("a.b": member
 * b of member a), how it is renewed (RFC 6749 section 6), how it is used.
 */
struct provider_login {
	struct span name;
	unsigned kind;                /* of credential.headers */
	struct span access, refresh;  /* members of the file */
	struct span client_at, secret; /* where it says them; empty: not */
	struct span expires;          /* empty: JWT */
	struct span id, renewed;      /* empty: it has none */
	enum provider_expires unit;
	bool json; /* the request to the token endpoint; else a form */
	struct span client, scope;
	struct provider_add adds[PROVIDER_MAX_ADDS];
	unsigned nadds;
	bool captured;  /* it may begin in the box */
	struct span fake; /* ID token that the box is given; may be empty */
};

struct registry_rules; /* registry/rules.h */

struct provider_list {
	struct span *names; /* lower-case; the last byte may be * */
	unsigned n;
};

struct provider {
	struct span name;
	const struct dest_kind *dest; /* NULL: a model's provider */
	struct span hosts[PROTO_MAX_HOSTS]; /* lower-case */
	unsigned nhosts;
	struct span env;      /* usual variable of the credential */
	struct span sentinel; /* prefix of sentinel keys */
	struct provider_kind kinds[PROVIDER_MAX_KINDS];
	unsigned nkinds; /* 0: it has no credential */
	struct sigv4_scope sigv4; /* service empty: nothing is signed */
	enum provider_alphabet alphabet;
	bool keyless; /* keyd writes the credential; the agent shows none */
	struct span basic; /* user name that goes before it, in base64 */
	bool plain; /* refusals as text/plain: git shows nothing else */
	const struct dest_git *git; /* settings of that kind */
	struct provider_login logins[PROVIDER_MAX_LOGINS];
	unsigned nlogins;
	bool captures; /* one of them may begin in the box */
	struct provider_list request, response;
	const struct registry_rules *registry; /* of a registry, else NULL */
	struct filter_rules filter; /* what becomes of a body's reach */
	bool http1; /* HTTP/2 is not offered to agents */
	struct provider_route *routes;
	unsigned nroutes;
	uint8_t digest[32];      /* SHA-256 of the file */
	struct value_pool *pool; /* what all this points into */
};

/*
 * Parses the text of a file. NULL with errno EINVAL and "where: what is
 * wrong" in err[cap], or ENOMEM. The text is copied.
 */
struct provider *provider_parse(struct span text, char *err, size_t cap);
void provider_free(struct provider *);

enum provider_result {
	PROVIDER_OK,
	PROVIDER_BAD_PATH,  /* malformed: escape, dot segment, ... */
	PROVIDER_BAD_QUERY, /* malformed: escape, parameter twice, ... */
	PROVIDER_NO_ROUTE,  /* no such path */
	PROVIDER_NO_METHOD, /* path is there, for other methods */
	PROVIDER_NO_PARAM,  /* parameter or its value is not listed */
};

/*
 * Finds the route of a request to that host. query: without the `?`; p == NULL:
 * there was none (an empty one is malformed). *route is set on PROVIDER_OK
 * only.  Where several routes fit, the first one that asks a person is taken,
 * or else the first one.
 */
enum provider_result provider_match(const struct provider *, unsigned host,
    struct span method, struct span path, struct span query, unsigned *route);
/*
 * Check that this route, of this host, is the one that provider_match() finds:
 * keyd's check of a REQUEST. query may be "".
 */
enum provider_result provider_match_route(const struct provider *,
    unsigned route, unsigned host, struct span path, struct span query);
/* May its route's body not be sent before its digest is known? */
static inline bool
provider_is_digested(const struct provider_route *r)
{
	return r->digest || r->ask;
}
/* May a path hold this segment? */
bool provider_segment_ok(const struct provider *, struct span);
/* What is wrong with a path that is PROVIDER_BAD_PATH: constant text. */
const char *provider_path_why(const struct provider *);
/* "bedrock", "vertex"; -1: no such alphabet. */
int provider_alphabet_find(struct span);
/* May this content type (value as received) go there? p == NULL: none given. */
bool provider_type_ok(const struct provider_route *, struct span type);

/* Is the name (lower-case) on the list? */
bool provider_listed(const struct provider_list *, struct span name);
/* Index of the kind that uses this header (lower-case), or -1. */
int provider_kind(const struct provider *, struct span name);
/*
 * Could a header of this name (any case) carry a credential, some provider's?
 * `_` counts as `-`. Cookie is not among them: it is always dropped.
 */
bool provider_secretive(struct span name);
/* [a-z0-9_-]{1,128} starting with a letter or digit. */
bool provider_name_ok(struct span name);
/* At most 8192 of 0x20-0x7e and HT. */
bool provider_value_ok(struct span value);

/* One more entry of a packed list. -1 when too long or the buffer is full. */
int provider_pack(struct buf *, struct span name, struct span value);
/* Takes the next entry off: 1, 0 at the end, -1 EBADMSG. */
int provider_unpack(struct span *rest, struct span *name, struct span *value);
/*
 * keyd's check of a REQUEST's headers: ":credential" first, where there is one
 * (none on a bare route),
 * then names on the request list, in the right class, none twice. *kind: index
 * into kinds.
 */
int provider_headers_ok(const struct provider *, bool bare, struct span blob,
    unsigned *kind);

#endif
