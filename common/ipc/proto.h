/* SPDX-License-Identifier: ISC */
/*
 * The protocol: every message that two of our processes may exchange, in one
 * table.  Structs, numbers, encoder, decoder, role and phase checks, the hash
 * in HELLO, hostile tests, fuzz seeds and man page rows derive from it.
 *
 * A row: name, number, sender, receiver, phase, descriptors.  Its fields: kind,
 * name, maximum (the value of an integer, otherwise bytes).  Kinds: u8 u16 u32
 * u64, str (no NUL), blob, big (bytes; travels in a sealed memfd when the
 * message would exceed one datagram; at most one, last).
 *
 * The owner of the channel is the sender; no message names its sender.  Spans
 * of a decoded message are valid until its handler returns.
 */
#ifndef PROTO_H
#define PROTO_H

#include "common/gate_ways.h"
#include "common/span.h"
/* clang-format off */
enum role {
	ROLE_SUP,	/* icsupervisor */
	ROLE_PROXY,	/* mcp-proxyd */
	ROLE_POLICY,	/* policyd */
	ROLE_AUDIT,	/* auditd */
	ROLE_BACK,	/* mcp-backd, one per MCP server */
	ROLE_MITM,	/* mitmd */
	ROLE_KEY,	/* keyd, one per credential */
	ROLE_DIAL,	/* dialerd */
	ROLE_EGRESS,	/* egressd, one per MCP server with network, and one
			   for services */
	ROLE_TUNNEL,	/* tunneld, only with a corporate proxy */
	ROLE_TERM,	/* termd, only if icsupervisor runs the agent */
	ROLE_PORT,	/* portd, only if ports of the sandbox are published */
	ROLE_ACP,	/* acpd, instead of termd if an editor is served */
	ROLE_GATE,	/* gated, only if the sandbox's sockets travel over TCP */
	ROLE_APPROVE,	/* approver, only if config.json says so */
	ROLE_FOLLOW,	/* followd, only if there is a forge */
	ROLE_VIEWER,	/* icctl, as the viewer of what termd sends */
	ROLE_WEB,	/* icwebd, which `icctl web` starts: ROLE_SUP is icctl */
	/* These belong to `icctl mcp login`: ROLE_SUP is that icctl. */
	ROLE_META,	/* mcp-logind */
	ROLE_GRANT,	/* mcp-grantd */
	ROLE_CALLBACK,	/* mcp-callbackd */
	ROLE_COUNT,
};

#define R(role) (1U << ROLE_##role)
#define R_WORKER							\
	(R(PROXY) | R(POLICY) | R(AUDIT) | R(BACK) | R(MITM) | R(KEY) |	\
	    R(DIAL) | R(EGRESS) | R(TUNNEL) | R(TERM) | R(PORT) | R(ACP) |	\
	    R(GATE) | R(APPROVE) | R(FOLLOW))
/* Programs of icctl's own, which belong to no session. */
#define R_ICCTL		(R(WEB) | R(META) | R(GRANT) | R(CALLBACK))

/* SETUP: before START.  RUN: after it.  BOTH: at any time. */
enum proto_phase { PHASE_SETUP = 1, PHASE_RUN = 2, PHASE_BOTH = 3 };

/* Limits that more than one process applies. */
#define PROTO_MAX_DATAGRAM	65536U
#define PROTO_MAX_INSTANCES	8U /* servers started for one call */
#define PROTO_FIRST_INSTANCE	32U		/* below: configured servers */
#define PROTO_MAX_SERVERS	(PROTO_FIRST_INSTANCE + PROTO_MAX_INSTANCES)
/* the virtual server, if any */
#define PROTO_VIRTUAL		(PROTO_FIRST_INSTANCE - 1)
#define PROTO_MAX_OBJECTS	8U		/* given to one call */
/* The egressd of the agent's services has an index behind those of servers. */
#define PROTO_SERVICES		PROTO_MAX_SERVERS
#define PROTO_DOORS		(PROTO_SERVICES + 1U)
/* dialerd's list of the hosts that followd may be connected to */
#define PROTO_FOLLOWS		PROTO_DOORS
#define PROTO_MAX_LOCATION	4096U	/* path and query of a redirect */
#define PROTO_MAX_SERVICES	16U
#define PROTO_MAX_STREAMS	256U	/* to all services at once */
#define PROTO_MAX_STREAMS_EACH	64U	/* to one of them */
#define PROTO_MAX_LOGIN		63U	/* a name or value in a login */
#define PROTO_MAX_LOGIN_STATUS	4096U	/* LOGGED_IN.parameters */
/*
 * Streams that mitmd has at once: no two of them are the same modulo this
 * number.
 */
#define PROTO_MAX_MITM_STREAMS	1280U
#define PROTO_MAX_PROVIDERS	48U		/* one keyd each */
#define PROTO_FIRST_ADDED	32U		/* below: configured ones */
#define PROTO_MAX_HOSTS		4U		/* per provider */
#define PROTO_MAX_AVOID		512U		/* text of addresses */
#define PROTO_MAX_PEERS		48U		/* per role */
#define PROTO_MAX_CALLS		256U		/* in flight, per session */
/* In flight, per server; one that has ended counts until CREDIT says so. */
#define PROTO_MAX_SERVER_CALLS	128U
#define PROTO_MAX_DONES		32U		/* in one DONES */
#define PROTO_DONE_SIZE		22U		/* bytes of a DONE */
#define PROTO_MAX_SERVER_BYTES	(16U << 20)	/* arguments in flight */
#define PROTO_MAX_HOLDS		64U
#define PROTO_HOLD_MS		86400000U /* as long as a call may wait */
#define PROTO_MAX_TIMES		20U	/* calls of a counted grant */
#define PROTO_GRANT_MS		3600000U	/* how long it lasts */
/* text of what a grant is bound to */
#define PROTO_MAX_BOUND		4096U
#define PROTO_UNCOUNTED		UINT8_MAX	/* RELEASE.left */
#define PROTO_MAX_REFS		8192U		/* text of the refs of a push */
#define PROTO_MAX_FORGE_TREE	(512U << 10)	/* a request to a forge */
#define PROTO_MAX_PIECE		61440U		/* at once, of its tree */
#define PROTO_MAX_FOUND		(16U << 10)	/* the thing of an id in it */
/* set in the numbers of streams of keyd's own, for looking an id up */
#define PROTO_LOOKUP_STREAM	(1U << 30)
/* set in the numbers of streams that the approver opens */
#define PROTO_APPROVER_STREAM	(1U << 31)
#define PROTO_MAX_SAID		4096U	/* the person's message */
#define PROTO_MAX_CONSIDERED	4096U	/* CONSIDER.resources */
#define PROTO_MAX_OPINION	16384U	/* the body of the approver's request */
#define PROTO_MAX_ASKS		8U /* requests waiting for approval */
#define PROTO_ASK_ID		(1ULL << 63) /* set in a hold's id: a request */
/* set: a login; low byte: index of keyd */
#define PROTO_LOGIN_ID		(1ULL << 62)
/* set: a question about a limit of the budget; low byte: enum budget_key */
#define PROTO_BUDGET_ID		(1ULL << 61)
/* set: an approval of an earlier run; the rest: the number of its record */
#define PROTO_KEPT_ID		(1ULL << 60)
/* set beside PROTO_ASK_ID: a host that a person may open */
#define PROTO_HOST_ID		(1ULL << 59)
/* set beside PROTO_ASK_ID: a question of an MCP server to the person */
#define PROTO_QUESTION_ID	(1ULL << 58)
#define PROTO_MAX_QUESTIONS	PROTO_FIRST_INSTANCE /* waiting: one a server */
#define PROTO_MAX_QUESTION	65536U	/* ASKED.tree */
#define PROTO_MAX_ANSWER	8192U	/* the values of a form, as JSON */
#define PROTO_CALL_MS		300000U	/* the time that a call may take */
#define PROTO_ID_KINDS (PROTO_ASK_ID | PROTO_LOGIN_ID | PROTO_BUDGET_ID)
#define PROTO_MAX_HOST_ASKS	3U	/* hosts that wait for a person */
#define PROTO_MAX_UNASKED	2048U	/* names of those that are not asked for */
#define PROTO_MAX_OPENED	16U	/* hosts opened so in a session */
#define PROTO_MAX_LIMITS	8U /* questions about limits at once */
#define PROTO_MAX_TOKENS	4000000000000ULL	/* per answer */
#define PROTO_MAX_COST		1000000000000000ULL /* 10^-9 USD, per answer */
#define PROTO_SAID_LAST		PROTO_SAID_SILENT
#define PROTO_MAX_SETTLED	256U	/* in one SETTLED */
#define PROTO_SETTLED_SIZE	12U	/* bytes of one */
/*
 * Reserved for a request: a token for so many bytes, the tokens of a template,
 * at most so many of both, and those of an answer of unknown length.
 */
#define PROTO_TOKEN_BYTES	3U
#define PROTO_TEMPLATE_TOKENS	16U
#define PROTO_RESERVED_IN	200000U
#define PROTO_RESERVED_OUT	4096U
#define PROTO_TIER_LAST		PROTO_TIER_PRIORITY
#define PROTO_MAX_TREE		(4U << 20)
#define PROTO_MAX_HELD		(12U << 20) /* arguments and their meaning */
#define PROTO_MAX_LINE		(4U << 20)	/* JSON-RPC line, either side */
#define PROTO_NO_SERVER		0xffffU
#define PROTO_MAX_ROWS		300U		/* the agent's screen */
#define PROTO_MAX_COLS		500U
#define PROTO_MAX_TRANSCRIPT (256U << 20) /* bytes of the file */
#define PROTO_MAX_CELLS		60000U		/* bytes; see term/cells.h */
#define PROTO_MAX_TYPED		4096U		/* bytes per message */
#define PROTO_TYPED_ROOM	65536U /* bytes that termd can buffer */
#define PROTO_MAX_VIEWERS	8U
#define PROTO_MAX_OFFER		49152U	/* OFFER.text */
#define PROTO_MAX_TEXT		16384U	/* text per message of a conversation */
#define PROTO_MAX_MATCH		128U
#define PROTO_MAX_RETRY		(366U * 86400U) /* seconds */
#define PROTO_MAX_SEEN		512U	/* SERVER_VIEW.text */
#define PROTO_MAX_ORIENT	8192U	/* ORIENTATION.text */
#define PROTO_MAX_TOLD		8192U	/* TOOLS_TOLD.text */
#define PROTO_MAX_TOOL_NAME	128U	/* as MCP has it */
/* Definitions of one tool, one server and all: unless configured, and at most. */
#define PROTO_TOOL_BYTES	(128U << 10)
#define PROTO_SERVER_BYTES	(512U << 10)
#define PROTO_LIST_BYTES	(2U << 20)
#define PROTO_MAX_TOOL_BYTES	(1U << 20)
#define PROTO_MAX_SERVER_LIST	(4U << 20)
#define PROTO_MAX_LIST_BYTES	(7U << 20)
/* Parts of MCP beside tools that a server says it has: a mask. */
#define PROTO_PART_RESOURCES	1U
#define PROTO_PART_PROMPTS	2U
#define PROTO_PART_COMPLETION	4U
#define PROTO_PART_LOGGING	8U
#define PROTO_PART_SUBSCRIBE	16U	/* to resources */
#define PROTO_PARTS		31U
#define PROTO_MAX_PATTERNS	64U	/* TOOLS_ONLY of one server */
#define PROTO_MAX_PARTS		(2U << 20)	/* PARTS.text */
#define PROTO_MAX_WORDS		2048U	/* INIT_RESULT.instructions */
#define PROTO_MAX_NOTICE	4096U	/* NOTICE.text */
#define PROTO_MAX_TTL		3600000U	/* ms for which a list is good */
/* Bits of DISCOVERED.listen: the server tells of changes of these. */
#define PROTO_LISTEN_TOOLS	1U
#define PROTO_LISTEN_RESOURCES	2U
#define PROTO_LISTEN_PROMPTS	4U
#define PROTO_LISTEN_ALL	7U
#define PROTO_MAX_ROUNDS	8U	/* questions of a server about one call */
#define PROTO_MAX_STATE		64U	/* CALL.state */
#define PROTO_MAX_EVENT		256U	/* EVENTS_END.last */
/*
 * A request to a server has the call's number as its id, with the round in the
 * bits from here on: each id is new, and a number that JavaScript can have.
 */
#define PROTO_ROUND_SHIFT	48U
#define PROTO_MAX_NOTED		131072U	/* TOOLS_NOTED.text */
#define PROTO_MAX_TURN_RULES	24U
#define PROTO_MAX_PORTS		8U	/* published */
#define PROTO_GATE_TOKEN	44U	/* base64url of 256 bits, and a newline */
#define PROTO_MAX_SITE		2048U	/* names of the web page's host */
#define PROTO_MAX_PAGE		(16U << 20) /* an answer to the web page */
#define PROTO_MAX_URL		2048U
#define PROTO_MAX_PLACE		1024U	/* path and query of an endpoint */
#define PROTO_MAX_ISSUERS	8192U
#define PROTO_MAX_SCOPES	8192U
#define PROTO_MAX_CLIENT	2048U	/* the id of an OAuth client */
#define PROTO_MAX_CODE		4096U
#define PROTO_MAX_PASTED	16384U
#define PROTO_MAX_IMAGE		16U	/* its name: relay/inbox.h */
/* Indices that mcp-logind and mcp-grantd have for dialerd. */
#define PROTO_META_INDEX	PROTO_FIRST_ADDED
#define PROTO_GRANT_INDEX	(PROTO_FIRST_ADDED + 1U)


/*
 * A message that auditd records and passes on under another name, `as`, which
 * has the same fields and the next number: one row for both halves.  `fds` come
 * with the first half, and stay in auditd.
 */
#define VIA_AUDIT(M, name, number, from, to, fds, as)				\
	M(name, number, from, R(AUDIT), RUN, fds)				\
	M(as, (number) + 1, R(AUDIT), to, RUN, 0)

/*	name		number	from		to		phase	fds */
#define PROTO_MSGS(M)								\
	/* start-up and end */							\
	M(HELLO,	0x0101,	R_WORKER|R_ICCTL, R(SUP),	SETUP,	0)	\
	M(PEER,		0x0102,	R(SUP),	R_WORKER|R_ICCTL, BOTH,	1)	\
	M(START,	0x0103,	R(SUP),	R_WORKER|R_ICCTL, SETUP,	0)	\
	M(STOP,		0x0104,	R(SUP),	R_WORKER|R_ICCTL, BOTH,	0)	\
	M(LISTEN,	0x0105,	R(SUP),	R(PROXY)|R(MITM)|R(EGRESS)|R(TERM)|R(PORT)|R(ACP), SETUP, 1) \
	/* audit log */								\
	M(LOG,		0x0201,	R(SUP),		R(AUDIT),	SETUP,	1)	\
	M(EVENT,	0x0202,	R(SUP),		R(AUDIT),	BOTH,	0)	\
	M(AUDIT_FAIL,	0x0203,	R(AUDIT),	R(SUP),		BOTH,	0)	\
	M(LOGGED,	0x0208,	R(AUDIT),	R(SUP),		BOTH,	0)	\
	M(COUNTS_GET,	0x0204,	R(SUP),		R(AUDIT),	RUN,	0)	\
	M(COUNTS,	0x0205,	R(AUDIT),	R(SUP),		RUN,	0)	\
	M(LOG_FULL,	0x020b,	R(AUDIT),	R(SUP),		BOTH,	0)	\
	M(LOG_NEXT,	0x020c,	R(SUP),		R(AUDIT),	BOTH,	1)	\
	M(LOG_TAKEN,	0x020d,	R(AUDIT),	R(SUP),		BOTH,	0)	\
	M(ALARM,	0x0206,	R(KEY)|R(MITM)|R(SUP)|R(ACP)|R(EGRESS), R(AUDIT), RUN, 0)	\
	M(ALARM_SHOW,	0x0207,	R(AUDIT),	R(SUP),		RUN,	0)	\
	M(CALL_SHOW,	0x0209,	R(AUDIT),	R(SUP),		RUN,	0)	\
	M(RESULT_SHOW,	0x020a,	R(AUDIT),	R(SUP),		RUN,	0)	\
	/* policy and MCP servers: configuration */				\
	M(RULES,	0x0301,	R(SUP),		R(POLICY),	BOTH,	0)	\
	M(SETTINGS,	0x0302,	R(SUP),		R(POLICY),	SETUP,	0)	\
	M(KNOWN,	0x0323,	R(SUP),	R(POLICY)|R(BACK),	SETUP,	0)	\
	M(PROTECT,	0x0303,	R(SUP),		R(POLICY),	SETUP,	0)	\
	M(NARROW,	0x0326,	R(SUP),		R(POLICY),	SETUP,	0)	\
	M(SERVER,	0x0304,	R(SUP),	R(PROXY)|R(POLICY)|R(AUDIT), SETUP, 0)	\
	M(VIEW,		0x0305,	R(SUP),		R(POLICY),	SETUP,	1)	\
	M(MOUNTS,	0x0322,	R(SUP),		R(POLICY),	SETUP,	1)	\
	M(SERVER_STDIN,	0x0306,	R(SUP),		R(AUDIT),	BOTH,	1)	\
	M(SERVER_VIEW,	0x0320,	R(SUP),		R(PROXY),	SETUP,	0)	\
	M(ORIENTATION,	0x0321,	R(SUP),		R(PROXY),	SETUP,	0)	\
	M(SERVER_OUT,	0x0307,	R(SUP),		R(BACK),	BOTH,	1)	\
	/* a remote server: its keyd takes what auditd would write to stdin */	\
	M(SERVER_IN,	0x0324,	R(SUP),		R(KEY),		BOTH,	1)	\
	M(SERVER_AFAR,	0x0325,	R(SUP),		R(BACK),	BOTH,	0)	\
	M(SERVER_FAIL,	0x0308,	R(SUP),		R(POLICY),	BOTH,	0)	\
	M(RULES_BAD,	0x0309,	R(POLICY),	R(SUP),		BOTH,	0)	\
	M(RULES_OK,	0x030a,	R(POLICY),	R(SUP),		BOTH,	0)	\
	/* evaluating calls for `icctl policy`, never in a session */	\
	M(EVAL,		0x030b,	R(SUP),		R(POLICY),	RUN,	0)	\
	M(EVALUATED,	0x030c,	R(POLICY),	R(SUP),		RUN,	0)	\
	M(RULES_SWAP,	0x030d,	R(SUP),		R(POLICY),	RUN,	0)	\
	M(PIN,		0x030e,	R(SUP),		R(POLICY),	SETUP,	0)	\
	M(RULES_NOW,	0x030f,	R(POLICY),	R(AUDIT),	RUN,	0)	\
	/* the budget of a session: policyd counts calls */			\
	M(BUDGET_CALLS,	0x0310,	R(SUP),		R(POLICY),	BOTH,	0)	\
	M(CALLS_SPENT,	0x0311,	R(POLICY),	R(SUP),		RUN,	0)	\
	/* a tool call */							\
	M(CALL,		0x0401,	R(PROXY),	R(POLICY),	RUN,	0)	\
	M(CANCEL,	0x0402,	R(PROXY),	R(POLICY),	RUN,	0)	\
	M(CALL_HELD,	0x0403,	R(POLICY),	R(PROXY),	RUN,	0)	\
	M(RELEASE,	0x0404,	R(POLICY),	R(AUDIT),	RUN,	0)	\
	M(ANSWER,	0x0405,	R(AUDIT),	R(PROXY),	RUN,	0)	\
	M(ENDED,	0x0406,	R(AUDIT),	R(POLICY),	RUN,	0)	\
	M(RESULT,	0x0407,	R(BACK),	R(PROXY),	RUN,	0)	\
	M(DONE,		0x0408,	R(BACK),	R(AUDIT),	RUN,	0)	\
	M(PROGRESS,	0x0409,	R(BACK),	R(PROXY),	RUN,	0)	\
	M(CREDIT,	0x040a,	R(POLICY),	R(PROXY),	RUN,	0)	\
	M(MOVED,	0x040b,	R(PROXY),	R(POLICY),	RUN,	0)	\
	M(UNASKED,	0x040e,	R(AUDIT),	R(BACK),	RUN,	0)	\
	M(DONES,	0x0410,	R(BACK),	R(AUDIT),	RUN,	0)	\
	M(CALL_HELD_AS,	0x040f,	R(SUP),		R(PROXY),	RUN,	0)	\
	/* a call to the virtual server, which icsupervisor answers */		\
	M(VIRTUAL,	0x040c,	R(AUDIT),	R(SUP),		RUN,	0)	\
	M(VIRTUAL_DONE,	0x040d,	R(SUP),		R(AUDIT),	RUN,	0)	\
	/* a server's session */						\
	M(SESSION,	0x0501,	R(POLICY),	R(AUDIT),	RUN,	0)	\
	M(INIT_RESULT,	0x0502,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(TOOLS_PAGE,	0x0503,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(LIST_CHANGED,	0x0504,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(SERVER_REQUEST, 0x0505, R(BACK),	R(POLICY),	RUN,	0)	\
	M(GONE,		0x0506,	R(BACK),  R(POLICY)|R(AUDIT),	RUN,	0)	\
	M(TOOLS,	0x0507,	R(POLICY),	R(PROXY),	RUN,	0)	\
	/* a question of a server to the person */				\
	M(ASKED,	0x1701,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(QUESTION_END,	0x1702,	R(POLICY),	R(AUDIT),	RUN,	0)	\
	/* tools that the agent sees, and a resource that was updated */	\
	M(TOOLS_ONLY,	0x1703,	R(SUP),		R(POLICY),	SETUP,	0)	\
	M(UPDATED,	0x1704,	R(BACK),	R(PROXY),	RUN,	0)	\
	/* parts of MCP beside tools, and messages that servers log */			\
	M(PARTS_PAGE,	0x051f,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(PARTS,	0x0520,	R(POLICY),	R(PROXY),	RUN,	0)	\
	M(NOTICE,	0x0521,	R(BACK),	R(PROXY),	RUN,	0)	\
	M(LOG_LEVEL,	0x0522,	R(PROXY),	R(POLICY),	RUN,	0)	\
	/* revision 2026-07-28 of MCP: what a server says it speaks, and rounds */	\
	M(DISCOVERED,	0x1601,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(LISTEN_END,	0x1602,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(INPUT_WANTED,	0x1603,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(EVENTS_END,	0x1606,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(ROUND,	0x1604,	R(POLICY),	R(AUDIT),	RUN,	0)	\
	M(ROUND_ANSWER,	0x1605,	R(AUDIT),	R(PROXY),	RUN,	0)	\
	M(TOOLS_TOLD,	0x051c,	R(POLICY),	R(PROXY)|R(SUP), RUN,	0)	\
	VIA_AUDIT(M, STATE,		0x0508,	R(POLICY),	R(SUP),		0, STATE_SHOW)		\
	VIA_AUDIT(M, TOOL_SEEN,		0x050a,	R(POLICY),	R(SUP),		0, TOOL_SEEN_SHOW)	\
	VIA_AUDIT(M, TOOLS_NOTED,	0x051d,	R(POLICY),	R(SUP),		0, TOOLS_NOTED_SHOW)	\
	M(REMOTES,	0x050e,	R(BACK),	R(POLICY),	RUN,	0)	\
	M(AGAIN,	0x050f,	R(AUDIT),	R(POLICY),	RUN,	0)	\
	/* a call outside the views, served by an instance for it alone */	\
	VIA_AUDIT(M, INSTANCE,		0x050c,	R(POLICY),	R(SUP),		0, INSTANCE_WANT)	\
	M(INSTANCE_BACK, 0x0510, R(SUP),	R(PROXY),	RUN,	0)	\
	VIA_AUDIT(M, INSTANCE_UP,	0x0511,	R(SUP),		R(POLICY),	1, INSTANCE_GO)		\
	VIA_AUDIT(M, INSTANCE_FAIL,	0x0513,	R(SUP),		R(POLICY),	0, INSTANCE_FAIL_GO)		\
	VIA_AUDIT(M, INSTANCE_DROP,	0x0515,	R(POLICY),	R(SUP),		0, INSTANCE_KILL)	\
	M(INSTANCE_LOST, 0x0517, R(PROXY),	R(POLICY),	RUN,	0)	\
	VIA_AUDIT(M, INSTANCE_GONE,	0x0518,	R(POLICY),	R(SUP),		0, INSTANCE_GONE_GO)	\
	VIA_AUDIT(M, INSTANCE_ENDED,	0x051a,	R(SUP),		R(POLICY),	0, INSTANCE_ENDED_GO)	\
	/* an approval */							\
	VIA_AUDIT(M, HOLD,		0x0601,	R(POLICY)|R(KEY)|R(SUP), R(SUP), 0, HOLD_SHOW)		\
	M(HOLD_END,	0x0603,	R(AUDIT),	R(SUP),		RUN,	0)	\
	VIA_AUDIT(M, VERDICT,		0x0604,	R(SUP),		R(POLICY)|R(KEY)|R(SUP), 0, VERDICT_GO) \
	VIA_AUDIT(M, LATE,		0x0606,	R(POLICY)|R(KEY), R(SUP),	0, LATE_SHOW)		\
	VIA_AUDIT(M, TRUST,		0x0608,	R(SUP),		R(POLICY),	0, TRUST_GO)		\
	/* grants beyond one call */						\
	VIA_AUDIT(M, GRANT,		0x060d,	R(POLICY),	R(SUP),		0, GRANT_SHOW)		\
	VIA_AUDIT(M, REVOKE,		0x060f,	R(SUP),		R(POLICY),	0, REVOKE_GO)		\
	/* grants of an earlier run that a person confirmed */			\
	M(RESTORE_GRANT, 0x0611, R(SUP),	R(POLICY),	SETUP,	0)	\
	M(APPROVED,	0x060c,	R(POLICY)|R(KEY), R(AUDIT),	RUN,	0)	\
	/* model path: configuration */						\
	M(PROVIDER,	0x0701,	R(SUP),	R(MITM)|R(KEY)|R(APPROVE)|R(POLICY), BOTH, 0)	\
	M(SENTINEL,	0x0702,	R(SUP),		R(MITM)|R(KEY),	SETUP,	0)	\
	M(SEAL,		0x0703,	R(SUP),		R(MITM)|R(DIAL), SETUP,	0)	\
	M(CA,		0x0704,	R(MITM),	R(SUP),		SETUP,	0)	\
	M(UPSTREAM,	0x0705,	R(SUP),		R(KEY),		SETUP,	0)	\
	M(SECRET,	0x0706,	R(SUP),	R(KEY)|R(TUNNEL),	BOTH,	1)	\
	M(ROOTS,	0x0707,	R(SUP),	R(KEY)|R(META)|R(GRANT)|R(FOLLOW), BOTH, 0)	\
	M(KEY_STATE,	0x0708,	R(KEY)|R(TUNNEL), R(SUP),	BOTH,	0)	\
	M(UNLOCK,	0x0709,	R(SUP),		R(KEY),		RUN,	0)	\
	M(TARGET,	0x070a,	R(SUP),	R(DIAL)|R(TUNNEL),	BOTH,	0)	\
	M(BUDGET,	0x070b,	R(SUP),		R(KEY),		BOTH,	0)	\
	M(SPENT,	0x070f,	R(KEY),		R(SUP),		RUN,	0)	\
	M(SHARE,	0x0718,	R(SUP),		R(KEY),		BOTH,	0)	\
	M(SETTLED,	0x0719,	R(SUP),		R(KEY),		RUN,	0)	\
	M(BODIES,	0x0710,	R(SUP),		R(MITM),	SETUP,	0)	\
	/* renewing a login, under the lock that icsupervisor holds */	\
	M(SECRET_OUT,	0x070c,	R(SUP),		R(KEY),		RUN,	1)	\
	M(SECRET_WANT,	0x070d,	R(KEY),		R(SUP),		RUN,	0)	\
	M(SECRET_DONE,	0x070e,	R(KEY),		R(SUP),		RUN,	0)	\
	M(SECRET_NONE,	0x0711,	R(SUP),		R(KEY),		RUN,	0)	\
	M(TOKEN,	0x0712,	R(SUP),		R(KEY),		BOTH,	0)	\
	M(KEY_ASK,	0x0713,	R(SUP),		R(KEY),		RUN,	0)	\
	M(KEY_TELL,	0x0714,	R(KEY),		R(SUP),		RUN,	0)	\
	M(PROVIDER_DROP, 0x0715, R(SUP),	R(MITM),	RUN,	0)	\
	M(TROUBLE,	0x0716,	R(KEY),		R(SUP),		RUN,	0)	\
	M(RELOCK,	0x0717,	R(SUP),		R(KEY),		RUN,	0)	\
	/* a model request */							\
	M(STREAM_OPEN,	0x0801,	R(MITM)|R(APPROVE), R(KEY),	RUN,	0)	\
	M(STREAM,	0x0802,	R(KEY)|R(FOLLOW), R(MITM)|R(APPROVE), RUN, 1)	\
	M(POST,		0x0818,	R(KEY),		R(BACK),	RUN,	1)	\
	M(ROOM,		0x0812,	R(MITM),	R(KEY),		RUN,	0)	\
	M(REQUEST,	0x0803,	R(MITM)|R(APPROVE), R(AUDIT),	RUN,	0)	\
	M(REQUEST_GO,	0x0804,	R(AUDIT),	R(KEY),		RUN,	0)	\
	M(REFUSED,	0x0805,	R(AUDIT), R(MITM)|R(EGRESS)|R(APPROVE), RUN, 0)	\
	M(EXCHANGE_END,	0x0806,	R(KEY)|R(FOLLOW), R(AUDIT),	RUN,	0)	\
	M(DIAL,		0x0807,	R(KEY)|R(META)|R(GRANT), R(DIAL), RUN,	0)	\
	M(DIALED,	0x0808,	R(DIAL), R(KEY)|R(EGRESS)|R(META)|R(GRANT)|R(FOLLOW), RUN, 1)	\
	M(DIAL_FAIL,	0x0809,	R(DIAL), R(KEY)|R(EGRESS)|R(META)|R(GRANT)|R(FOLLOW), RUN, 0)	\
	M(DENIED,	0x080a,	R(MITM),	R(AUDIT),	RUN,	0)	\
	VIA_AUDIT(M, USAGE,		0x080b,	R(MITM)|R(APPROVE), R(SUP),		0, USAGE_SHOW)		\
	/* a request that a person must approve */					\
	M(REQUEST_ASK,	0x080d,	R(MITM),	R(POLICY),	RUN,	0)	\
	M(REQUEST_APPROVED, 0x080e,	R(POLICY),	R(AUDIT),	RUN,	0)	\
	M(REQUEST_UNAPPROVED, 0x080f, R(POLICY), R(AUDIT), RUN, 0)	\
	M(REQUEST_CANCEL,	0x0810,	R(MITM),	R(POLICY),	RUN,	0)	\
	M(PACKAGE,	0x0811,	R(KEY),		R(AUDIT),	RUN,	0)	\
	/* a host that is on no list, and that a person may open */		\
	M(HOST_ASK,	0x0813,	R(MITM),	R(POLICY),	RUN,	0)	\
	VIA_AUDIT(M, HOST_OPEN,		0x0814,	R(POLICY),	R(SUP),		0, HOST_OPEN_GO)	\
	VIA_AUDIT(M, HOST_SHUT,		0x0816,	R(POLICY),	R(MITM),	0, HOST_SHUT_GO)	\
	/* a connection of an MCP server */					\
	M(DOOR,		0x0901,	R(SUP),	R(EGRESS)|R(DIAL)|R(TUNNEL)|R(AUDIT)|R(KEY), SETUP, 0)	\
	M(CONNECT,	0x0902,	R(EGRESS),	R(AUDIT),	RUN,	0)	\
	M(CONNECT_GO,	0x0903,	R(AUDIT),	R(DIAL),	RUN,	0)	\
	M(CONNECT_END,	0x0904,	R(EGRESS),	R(AUDIT),	RUN,	0)	\
	M(CONNECT_DENIED, 0x0905, R(EGRESS),	R(AUDIT),	RUN,	0)	\
	M(SERVICE_USE,	0x0906,	R(AUDIT),	R(SUP),		RUN,	0)	\
	M(SERVICE_OWN,	0x1901,	R(SUP),		R(DIAL),	SETUP,	1)	\
	/* a connection to a database that is logged in for the agent */	\
	VIA_AUDIT(M, LOGIN,		0x1902,	R(EGRESS),	R(KEY),		0, LOGIN_GO)		\
	M(LOGGED_IN,	0x1904,	R(KEY),		R(EGRESS),	RUN,	1)	\
	M(LOGIN_FAIL,	0x1905,	R(KEY),		R(EGRESS),	RUN,	0)	\
	/* a corporate proxy in front of dialerd's connections */	\
	M(VIA_PROXY,	0x0a01, R(SUP),	R(DIAL)|R(TUNNEL),	SETUP,	0)	\
	M(TUNNEL,	0x0a02,	R(DIAL),	R(TUNNEL),	RUN,	1)	\
	M(TUNNELED,	0x0a03,	R(TUNNEL),	R(DIAL),	RUN,	1)	\
	M(TUNNEL_FAIL,	0x0a04,	R(TUNNEL),	R(DIAL),	RUN,	0)	\
	M(TUNNEL_SHOW,	0x0a05,	R(TUNNEL),	R(SUP),		RUN,	0)	\
	/* the agent's terminal: its mode and its viewers */			\
	M(TERM_MODE,	0x0b01,	R(SUP),		R(TERM),	SETUP,	0)	\
	M(TRANSCRIPT,	0x0b2f,	R(SUP),		R(TERM),	SETUP,	1)	\
	M(VIEWER,	0x0b03,	R(SUP),		R(TERM)|R(ACP),	RUN,	1)	\
	/* a conversation: what of its output becomes an event, and events */	\
	M(TURN_RULE,	0x0b02,	R(SUP),		R(TERM),	SETUP,	0)	\
	M(TURN_TEXT,	0x0b1a,	R(TERM),	R(SUP),		RUN,	0)	\
	M(TURN_DONE,	0x0b1b,	R(TERM),	R(SUP),		RUN,	0)	\
	M(PERSON_SAID,	0x0b30,	R(TERM)|R(ACP),	R(SUP),		RUN,	0)	\
	/* its contents */							\
	M(SCREEN,	0x0b04,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(ROW,		0x0b05,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(LINE,		0x0b06,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(RAW,		0x0b07,	R(TERM)|R(ACP),	R(VIEWER),	RUN,	0)	\
	M(BELL,		0x0b08,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(TITLE,	0x0b09,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(OFFER,	0x0b31,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(FRAME,	0x0b0a,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(BOX_END,	0x0b0b,	R(TERM)|R(ACP),	R(VIEWER),	RUN,	0)	\
	M(TYPIST,	0x0b0c,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(INPUT_ROOM,	0x0b0d,	R(TERM)|R(ACP),	R(VIEWER),	RUN,	0)	\
	/* the person's input */						\
	M(KEYS,		0x0b10,	R(VIEWER),	R(TERM),	RUN,	0)	\
	M(PASTE,	0x0b11,	R(VIEWER),	R(TERM),	RUN,	0)	\
	M(MOUSE,	0x0b12,	R(VIEWER),	R(TERM),	RUN,	0)	\
	M(FOCUS,	0x0b13,	R(VIEWER),	R(TERM),	RUN,	0)	\
	M(SIZE,		0x0b14,	R(VIEWER),	R(TERM),	RUN,	0)	\
	M(INPUT,	0x0b15,	R(VIEWER),	R(TERM)|R(ACP),	RUN,	0)	\
	M(INPUT_END,	0x0b16,	R(VIEWER),	R(TERM)|R(ACP),	RUN,	0)	\
	M(FRAME_ACK,	0x0b17,	R(VIEWER),	R(TERM),	RUN,	0)	\
	M(TAKE,		0x0b18,	R(VIEWER),	R(TERM),	RUN,	0)	\
	M(OUT_GONE,	0x0b19,	R(VIEWER),	R(TERM)|R(ACP),	RUN,	0)	\
	/* the agent has stopped itself; its viewer did, and is back */		\
	M(STOPPED,	0x0b1e,	R(TERM),	R(VIEWER),	RUN,	0)	\
	M(CONTINUE,	0x0b1f,	R(VIEWER),	R(TERM),	RUN,	0)	\
	/* an agent that an editor talks to */					\
	M(ACP_MODE,	0x0b1c,	R(SUP),		R(ACP),		SETUP,	0)	\
	M(ACP_OUT,	0x0b1d,	R(ACP),		R(VIEWER),	RUN,	0)	\
	M(ACP_IMAGE,	0x0b32,	R(ACP),		R(VIEWER),	RUN,	0)	\
	M(ACP_SHOWN,	0x0b33,	R(VIEWER),	R(ACP),		RUN,	0)	\
	/* published ports of the sandbox */					\
	M(PUBLISH,	0x0c01,	R(SUP),		R(PORT),	SETUP,	1)	\
	M(PEER_UID,	0x0c02,	R(SUP),		R(PORT),	SETUP,	1)	\
	VIA_AUDIT(M, PORT_USE,		0x0c03,	R(PORT),	R(SUP),		0, PORT_USE_SHOW)	\
	/* the sandbox's connections over TCP */					\
	M(GATE,		0x0d01,	R(SUP),		R(GATE),	SETUP,	0)	\
	M(GATE_LISTEN,	0x0d02,	R(SUP),		R(GATE),	SETUP,	1)	\
	M(GATE_OPEN,	0x0d03,	R(GATE),	R(SUP),		RUN,	1)	\
	M(GATE_REFUSED,	0x0d04,	R(GATE),	R(SUP),		RUN,	0)	\
	M(CONNECTION,	0x0d05,	R(SUP),	R(PROXY)|R(MITM)|R(TERM)|R(PORT)|R(ACP)|R(EGRESS), RUN, 1) \
	/* the approver: a pending call, and what it thinks of it */		\
	M(APPROVER,	0x0f01,	R(SUP),		R(APPROVE),	SETUP,	0)	\
	M(CONSIDER,	0x0f02,	R(SUP),		R(APPROVE),	RUN,	0)	\
	VIA_AUDIT(M, OPINION,		0x0f03,	R(APPROVE),	R(SUP),		0, OPINION_SHOW)	\
	/* a request to a forge: an id in it is looked up before it is shown */	\
	M(FORGE_TREE,	0x1105,	R(MITM),	R(POLICY),	RUN,	0)	\
	VIA_AUDIT(M, FORGE_LOOK,	0x1101,	R(POLICY),	R(KEY),		0, FORGE_LOOK_GO)	\
	M(FORGE_FOUND,	0x1103,	R(KEY),		R(AUDIT),	RUN,	0)	\
	M(FORGE_FOUND_GO, 0x1104, R(AUDIT),	R(POLICY),	RUN,	0)	\
	/* an answer of a forge that is at another place */			\
	VIA_AUDIT(M, FOLLOW,		0x1106,	R(KEY),		R(FOLLOW),	0, FOLLOW_GO)		\
	M(FOLLOW_DIAL,	0x1108,	R(FOLLOW),	R(DIAL),	RUN,	0)	\
	/* the web page: browsers' connections, and what they ask for */	\
	M(WEB_SITE,	0x0e01,	R(SUP),		R(WEB),		SETUP,	0)	\
	M(WEB_CONN,	0x0e02,	R(SUP),		R(WEB),		RUN,	1)	\
	M(WEB_REQUEST,	0x0e03,	R(WEB),		R(SUP),		RUN,	0)	\
	M(WEB_ANSWER,	0x0e04,	R(SUP),		R(WEB),		RUN,	0)	\
	/* a login at a remote MCP server */					\
	M(META_GET,	0x1501,	R(SUP),		R(META),	RUN,	0)	\
	M(META_DOC,	0x1502,	R(META),	R(SUP),		RUN,	0)	\
	M(REGISTER,	0x1503,	R(SUP),		R(GRANT),	RUN,	0)	\
	M(REGISTERED,	0x1504,	R(GRANT),	R(SUP),		RUN,	0)	\
	M(CLIENT_SECRET, 0x1505, R(SUP),	R(GRANT),	RUN,	1)	\
	M(LOGIN_BEGIN,	0x1506,	R(SUP),		R(GRANT),	RUN,	1)	\
	M(CHALLENGE,	0x1507,	R(GRANT),	R(SUP),		RUN,	0)	\
	M(CALLBACK_WAIT, 0x1508, R(SUP),	R(CALLBACK),	RUN,	0)	\
	M(CALLBACK_CONN, 0x1509, R(SUP),	R(CALLBACK),	RUN,	1)	\
	M(CALLBACK_TEXT, 0x150a, R(SUP),	R(CALLBACK),	RUN,	0)	\
	M(CALLBACK,	0x150b,	R(CALLBACK),	R(GRANT),	RUN,	0)	\
	M(CALLBACK_SEEN, 0x150c, R(CALLBACK),	R(SUP),		RUN,	0)	\
	M(LOGIN_DONE,	0x150d,	R(GRANT),	R(SUP),		RUN,	0)	\
	M(LOGOUT,	0x150e,	R(SUP),		R(GRANT),	RUN,	1)

/* The sender's role, and the confinement in force (confine.h). */
#define F_HELLO(F, m)		F(m, u64, proto, UINT64_MAX)		\
				F(m, u8, role, ROLE_COUNT - 1)		\
				F(m, u32, flags, UINT32_MAX)		\
				F(m, u32, landlock, 64)
/*
 * The other end of a pair: its role, and its index among peers of that role.
 * memory: enum proto_memory, what the first message on the socket has.
 */
#define F_PEER(F, m)		F(m, u8, role, ROLE_COUNT - 1)		\
				F(m, u16, index, 255)			\
				F(m, u8, memory, PROTO_MEMORY_ARENA)
#define F_START(F, m)
#define F_STOP(F, m)
#define F_LISTEN(F, m)

/*
 * The log, opened with O_APPEND; `seq` of the next line and hash of the last
 * one.  calls: report each tool call and its end with CALL_SHOW and
 * RESULT_SHOW.  room: bytes after which another file is asked for.
 */
#define F_LOG(F, m)		F(m, u64, seq, UINT64_MAX)		\
				F(m, blob, prev, 32)			\
				F(m, u8, sync, 1)			\
				F(m, u8, calls, 1)			\
				F(m, u64, room, UINT64_MAX)
/* As many bytes as LOG or LOG_NEXT allows are in the file. */
#define F_LOG_FULL(F, m)
/* Another file of the log, opened like the first. */
#define F_LOG_NEXT(F, m)	F(m, u64, room, UINT64_MAX)
/* Nothing is written to the file before any more. */
#define F_LOG_TAKEN(F, m)
/* icsupervisor's own record.  detail: a canonical JSON object. */
#define F_EVENT(F, m)		F(m, str, event, 32)			\
				F(m, big, detail, 1U << 20)
#define F_AUDIT_FAIL(F, m)	F(m, str, text, 256)
/* The first record of this run has been written. */
#define F_LOGGED(F, m)
#define F_COUNTS_GET(F, m)
#define F_COUNTS(F, m)		F(m, u64, seq, UINT64_MAX)		\
				F(m, u64, allowed, UINT64_MAX)		\
				F(m, u64, denied, UINT64_MAX)		\
				F(m, u64, escalated, UINT64_MAX)	\
				F(m, u64, requests, UINT64_MAX)		\
				F(m, u64, refused, UINT64_MAX)
#define F_ALARM(F, m)		F(m, str, kind, 32)			\
				F(m, str, text, 512)
#define F_ALARM_SHOW(F, m)	F(m, str, who, 32)			\
				F_ALARM(F, m)
/*
 * A decided call, for people.  hold: how it stopped waiting for one.  preview:
 * its arguments as in the log, or their beginning.  missed: calls before it
 * that are not reported, because there were too many at once.
 */
#define F_CALL_SHOW(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, str, server_name, 64)		\
				F(m, str, tool, 256)			\
				F(m, u8, forward, 1)			\
				F(m, u8, hold, PROTO_HOLD_LAST)		\
				F(m, str, reason, 2048)			\
				F(m, str, preview, 1024)		\
				F(m, u32, missed, UINT32_MAX)
/* The end of a call that was reported.  status: enum proto_result. */
#define F_RESULT_SHOW(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u8, status, PROTO_RESULT_LAST)	\
				F(m, u64, us, UINT64_MAX)

/*
 * The text of a policy file.  kind: enum proto_rules; a file that is not used
 * is not sent.
 */
#define F_RULES(F, m)		F(m, u8, kind, PROTO_RULES_LAST)	\
				F(m, str, name, 4096)			\
				F(m, big, text, 8U << 20)
/*
 * hold_ms: how long a call waits for approval.  ask: somebody can approve.
 * home: the meaning of "~" in rules and arguments; empty: "~" is refused.
 * strict: a tool that no longer is as annotated is quarantined.  unknown: enum
 * proto_unknown, for tools without an annotation.  tool_bytes, server_bytes,
 * list_bytes: the definitions of one tool, of one server, and of all that the
 * agent is offered.  hosts: enum proto_hosts.
 */
#define F_SETTINGS(F, m)	F(m, u32, hold_ms, PROTO_HOLD_MS)		\
				F(m, u8, ask, 1)			\
				F(m, u8, redact, 1)			\
				F(m, u8, strict, 1)			\
				F(m, u8, unknown, PROTO_UNKNOWN_LAST)	\
				F(m, u32, tool_bytes, PROTO_MAX_TOOL_BYTES)	\
				F(m, u32, server_bytes, PROTO_MAX_SERVER_LIST)	\
				F(m, u32, list_bytes, PROTO_MAX_LIST_BYTES)	\
				F(m, u8, hosts, PROTO_HOSTS_LAST)	\
				F(m, str, home, 4096)
/*
 * A secret of the session that the log must not have, as processes that mask
 * know it (common/mask/mask.h). key: the same in each of these messages.
 */
#define F_KNOWN(F, m)		F(m, blob, key, 32)			\
				F(m, u32, len, UINT32_MAX)		\
				F(m, u16, print, UINT16_MAX)		\
				F(m, blob, digest, 32)
/* A host path that no call may touch. */
#define F_PROTECT(F, m)		F(m, str, path, 4096)
/* Calls that are denied, or asked about, whatever allows them: common/narrow.h. */
#define F_NARROW(F, m)		F(m, str, text, 512)
/*
 * trusted: all of its calls are allowed by structure.  domains: its egress
 * list, one entry per line.  internal: icgit, which answers policyd only and
 * offers no tools.  virtual: the server named "proxy" (PROTO_VIRTUAL), whose
 * tools policyd defines and icsupervisor carries out.  git: a git server,
 * whatever its name.  command: SHA-256 of the program, a part of the pin of
 * each tool; zeros: our own program, whose tools are not pinned.  reach: enum
 * proto_reach bits, what it can reach apart from its view.
 */
#define F_SERVER(F, m)		F(m, u16, index, PROTO_MAX_SERVERS - 1)	\
				F(m, str, name, 64)			\
				F(m, u8, trusted, 1)			\
				F(m, u8, internal, 1)			\
				F(m, u8, virtual, 1)			\
				F(m, u8, git, 1)			\
				F(m, u8, reach, PROTO_REACH_ALL)	\
				F(m, str, cwd, 4096)			\
				F(m, blob, command, 32)			\
				F(m, str, domains, 16384)
/*
 * One row of a server's view: `path` in the view is the object fd (O_PATH),
 * whose path on the host is `host`.  Hidden: the view has an unreachable
 * placeholder there instead of that object.
 */
#define F_VIEW(F, m)		F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, str, path, 4096)			\
				F(m, str, host, 4096)			\
				F(m, u8, kind, PROTO_VIEW_LAST)
/*
 * fd: an epoll descriptor, ready once after each change to the mounts of the
 * host; what is mounted cannot be read from it.
 */
#define F_MOUNTS(F, m)
#define F_SERVER_STDIN(F, m)	F(m, u16, server, PROTO_MAX_SERVERS - 1)
/*
 * sandboxed: an error of this server that reads like a refusal by the kernel is
 * reported as one by its sandbox.  mask: what it writes is shown without secrets.
 */
#define F_SERVER_OUT(F, m)	F(m, u8, which, 1)	/* stdout, stderr */	\
				F(m, u8, sandboxed, 1)			\
				F(m, u8, mask, 1)
/*
 * A remote server. fd of SERVER_IN: the end of the pipe from auditd; another one
 * begins a new session. Beside the lines for a server there may be one with its
 * revision of MCP, as a header.
 */
#define F_SERVER_IN(F, m)
#define F_SERVER_AFAR(F, m)	F(m, u8, mask, 1)			\
				F(m, str, name, 64)
/* The view of a sandboxed server, as the agent is told when it is refused. */
#define F_SERVER_VIEW(F, m)	F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, str, text, PROTO_MAX_SEEN)
/*
 * The beginning of the instructions in the result of `initialize`: empty if the
 * agent is told by other means.
 */
#define F_ORIENTATION(F, m)	F(m, str, text, PROTO_MAX_ORIENT)
#define F_SERVER_FAIL(F, m)	F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, str, text, 512)
#define F_RULES_BAD(F, m)	F(m, u8, kind, PROTO_RULES_LAST)	\
				F(m, str, text, 2048)
/*
 * Before START, RULES are in force at once.  In a session they are kept aside
 * until this message: then all of them replace all rules in force, or nothing
 * changes.
 */
#define F_RULES_SWAP(F, m)
/*
 * The tool had this digest when it was first used, or has been trusted since.
 * definition: the SHA-256 of its definition alone; empty if it is not known.
 */
#define F_PIN(F, m)		F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, str, tool, PROTO_MAX_TOOL_NAME)	\
				F(m, blob, digest, 32)			\
				F(m, blob, definition, 32)
/*
 * The rules in force from now on: SHA-256 of each file, empty if there is none.
 */
#define F_RULES_NOW(F, m)	F(m, u32, rules, UINT32_MAX)		\
				F(m, blob, policy, 32)			\
				F(m, blob, annotations, 32)		\
				F(m, blob, lists, 32)
/* All RULES so far are in force.  warnings: newline-separated text. */
#define F_RULES_OK(F, m)	F(m, u32, rules, UINT32_MAX)		\
				F(m, str, warnings, 16384)

/*
 * Evaluate a call without effect.  whole: treat it as policyd/judge.c does, not
 * only as the engine does.  trace: explain the decision as a JSON array of
 * steps.
 */
#define F_EVAL(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, str, server_name, 256)		\
				F(m, str, tool, 256)			\
				F(m, u8, whole, 1)			\
				F(m, u8, trace, 1)			\
				F(m, big, args, PROTO_MAX_TREE)
/*
 * roles: the argument roles that need approval, comma-separated.  answer: the
 * text for the agent.
 */
#define F_EVALUATED(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u8, status, PROTO_STATUS_LAST)	\
				F(m, str, rule, 256)			\
				F(m, str, reason, 2048)			\
				F(m, str, roles, 512)			\
				F(m, str, answer, 4096)			\
				F(m, big, trace, PROTO_MAX_TREE)

/*
 * The calls that policyd may allow: `calls` in total, for `ms` from now
 * (UINT64_MAX: no limit).  The texts are the answers to calls beyond each
 * limit.
 */
#define F_BUDGET_CALLS(F, m)	F(m, u64, calls, UINT64_MAX)		\
				F(m, u64, ms, UINT64_MAX)		\
				F(m, str, calls_text, 512)		\
				F(m, str, ms_text, 512)
/* The number of calls so far. */
#define F_CALLS_SPENT(F, m)	F(m, u64, calls, UINT64_MAX)

/*
 * The agent's call.  server: determined by the part of the name before "__".
 * modern: the request is of revision 2026-07-28, so that it can be answered
 * with a state.  state: the one that the agent gives back with it, or empty.
 */
#define F_CALL(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, u16, server, UINT16_MAX)		\
				F(m, str, tool, 256)			\
				F(m, u8, progress, 1)			\
				F(m, u8, modern, 1)			\
				F(m, str, state, PROTO_MAX_STATE)	\
				F(m, big, args, PROTO_MAX_TREE)
#define F_CANCEL(F, m)		F(m, u64, id, UINT64_MAX)
/*
 * The call waits for a person, for at most so long.  question: it was sent, and
 * its server asks; then ms is 0 when that question has ended.
 */
#define F_CALL_HELD(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u8, question, 1)			\
				F(m, u32, ms, PROTO_HOLD_MS)
/* The short id by which people answer it, for the agent's progress text. */
#define F_CALL_HELD_AS(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, str, name, 8)
/*
 * A decided call.  payload: the line for the server if the call is allowed
 * (with its newline), otherwise, and for the virtual server, the canonical
 * arguments.  The arguments are at args_off/args_len in it; the version for the
 * log (redacted, shortened), if it differs, is at log_off/log_len; the names of
 * its paths that lead through links, if any do, are at named_off/named_len as
 * canonical JSON (policyd/named.c).  redacted: enum proto_redacted.  answer: the text for the agent if the call is not forwarded.  over: APPROVED has already
 * reported the end of the hold.  grant: the call whose approval for the session
 * allowed this one (its own id if it was approved so), or 0.  automatic: the
 * approver approved it.  left: the uses of
 * that grant that remain, PROTO_UNCOUNTED if they are not counted.  thread: the
 * call that this one goes on with, or 0.
 */
#define F_RELEASE(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, u16, server, UINT16_MAX)		\
				F(m, str, server_name, 64)		\
				F(m, str, tool, 256)			\
				F(m, u8, forward, 1)			\
				F(m, u8, status, PROTO_STATUS_LAST)	\
				F(m, u8, hold, PROTO_HOLD_LAST)		\
				F(m, u8, over, 1)			\
				F(m, u8, automatic, 1)			\
				F(m, u64, grant, UINT64_MAX)		\
				F(m, u8, left, UINT8_MAX)		\
				F(m, u64, thread, UINT64_MAX)		\
				F(m, str, rule, 256)			\
				F(m, str, reason, 2048)			\
				F(m, str, answer, 4096)			\
				F(m, u8, redacted, PROTO_REDACTED_LAST)	\
				F(m, u32, line_len, UINT32_MAX)		\
				F(m, u32, args_off, UINT32_MAX)		\
				F(m, u32, args_len, UINT32_MAX)		\
				F(m, u32, log_off, UINT32_MAX)		\
				F(m, u32, log_len, UINT32_MAX)		\
				F(m, u32, named_off, UINT32_MAX)	\
				F(m, u32, named_len, UINT32_MAX)	\
				F(m, big, payload, 3U * PROTO_MAX_TREE)
/*
 * The answer to a call that no server answers: a result with this text.
 * counted: many calls were refused for the same reason before, so that this one
 * is only counted in the log; the connection that makes them is slowed down.
 */
#define F_ANSWER(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, u8, error, 1)			\
				F(m, u8, counted, 1)			\
				F(m, str, text, 4096)
/* A call to the virtual server.  args: as in RELEASE. */
#define F_VIRTUAL(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, str, tool, 64)			\
				F(m, big, args, 65536)
/* text: for the agent. */
#define F_VIRTUAL_DONE(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u8, error, 1)			\
				F(m, str, text, 4096)
/*
 * Released calls have ended: answered, lost, or never written.  Bit n of each
 * mask is the call first + n.  failed: its server failed it, or is lost.
 */
#define F_ENDED(F, m)		F(m, u64, first, UINT64_MAX)		\
				F(m, u64, ended, UINT64_MAX)		\
				F(m, u64, failed, UINT64_MAX)
/* error 0: tree is the result; 1: it is the JSON-RPC error object. */
#define F_RESULT(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, u8, error, 1)			\
				F(m, u8, blocked, 1)	/* by its sandbox */	\
				F(m, big, tree, PROTO_MAX_TREE)
/*
 * ago: microseconds since the answer arrived, as several DONE are sent
 * together.
 */
#define F_DONE(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, u8, status, 1)	/* success, error */	\
				F(m, u8, blocked, 1)			\
				F(m, u32, bytes, UINT32_MAX)		\
				F(m, u32, ago, UINT32_MAX)
/* Several DONE, one after the other, each as it would be sent alone. */
#define F_DONES(F, m)		F(m, blob, each, PROTO_MAX_DONES * PROTO_DONE_SIZE)
/*
 * The server has sent this many results that belong to no call of its own;
 * mcp-backd slows it down.
 */
#define F_UNASKED(F, m)		F(m, u32, count, UINT32_MAX)
#define F_PROGRESS(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, str, progress, 40)	/* number text */	\
				F(m, str, total, 40)	/* or empty */		\
				F(m, str, message, 1024)
/*
 * This many calls to the server (or to none) have ended.  mcp-proxyd counts a
 * call as in flight until then, even after it was answered; policyd has already
 * counted them down, so mcp-proxyd never has more in flight than policyd
 * allows.
 */
#define F_CREDIT(F, m)		F(m, u16, server, UINT16_MAX)		\
				F(m, u32, calls, PROTO_MAX_CALLS)	\
				F(m, u32, bytes, UINT32_MAX)
/* Accept the call's result only from that instance's mcp-backd. */
#define F_MOVED(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, u16, server, PROTO_MAX_SERVERS - 1)

/*
 * A line of the session itself.  what: "initialize", "cancelled", ...  id: the
 * call that the line cancels and thereby ends, because no answer need come; or
 * 0.
 */
#define F_SESSION(F, m)		F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, str, what, 32)			\
				F(m, u64, id, UINT64_MAX)		\
				F(m, big, line, PROTO_MAX_LINE)
#define F_INIT_RESULT(F, m)	F(m, u8, good, 1)			\
	/* offers tools; unless it is good: may be asked again */ F(m, u8, tools, 1) \
				F(m, u8, parts, PROTO_PARTS)		\
				F(m, str, version, 32)			\
				F(m, str, text, 512)	/* name, or error */	\
				F(m, str, instructions, PROTO_MAX_WORDS)
/*
 * The answer to server/discover.  how: enum proto_discovered.  version: a
 * revision to go on with, for INITIALIZE if its answer names one.  listen: mask
 * of PROTO_LISTEN_*.  tools, for FAILED: that may pass.  text: the server's
 * name, or why not.
 */
#define F_DISCOVERED(F, m)	F(m, u8, how, PROTO_DISCOVERED_LAST)	\
				F(m, u8, tools, 1)	/* offers tools */	\
				F(m, u8, parts, PROTO_PARTS)		\
				F(m, u8, listen, PROTO_LISTEN_ALL)	\
				F(m, str, version, 32)			\
				F(m, str, text, 512)			\
				F(m, str, instructions, PROTO_MAX_WORDS)
/* The server has ended a subscription: seq is the number in its id. */
#define F_LISTEN_END(F, m)	F(m, u32, seq, UINT32_MAX)		\
				F(m, u64, call, UINT64_MAX)
/*
 * A stream of events of a remote server has ended, and can be asked for again.
 * id: the request whose answer is still missing, as JSON; empty: it was the
 * server's own stream. last: the id of its last event, printable ASCII.
 */
#define F_EVENTS_END(F, m)	F(m, str, id, 64)			\
				F(m, str, last, PROTO_MAX_EVENT)
/*
 * The server has answered a call with a question: tree is its result, with
 * inputRequests, requestState, or both.  round: how often it was asked before.
 */
#define F_INPUT_WANTED(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u8, round, PROTO_MAX_ROUNDS)	\
				F(m, big, tree, PROTO_MAX_TREE)
/*
 * A released call goes on, or ends, after such a question.  how: enum
 * proto_round.  payload: the line for the server, for RETRY; what it asked and
 * was told, for the log, is at log_off/log_len in it as a JSON object.  text:
 * for the agent; a state for AGENT.
 */
#define F_ROUND(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, u8, how, PROTO_ROUND_LAST)		\
				F(m, u8, round, PROTO_MAX_ROUNDS)	\
				F(m, str, text, 1024)			\
				F(m, u32, line_len, UINT32_MAX)		\
				F(m, u32, log_off, UINT32_MAX)		\
				F(m, u32, log_len, UINT32_MAX)		\
				F(m, big, payload, 2U * PROTO_MAX_TREE)
/*
 * The agent's request ends with a state, which it may give back with the same
 * request.
 */
#define F_ROUND_ANSWER(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, str, state, PROTO_MAX_STATE)
/*
 * One page of tools/list.  tree: the array of tools.  ttl: milliseconds for
 * which its server vouches for it.  cursor: empty on the last page.
 */
#define F_TOOLS_PAGE(F, m)	F(m, u32, seq, UINT32_MAX)		\
				F(m, u8, good, 1)			\
				F(m, u32, ttl, PROTO_MAX_TTL)		\
				F(m, str, cursor, 4096)			\
				F(m, big, tree, PROTO_MAX_TREE)
/*
 * One page of a list of parts: enum proto_list.  tree: its array.  cursor: empty
 * on the last page.
 */
#define F_PARTS_PAGE(F, m)	F(m, u8, list, PROTO_LIST_LAST)		\
				F_TOOLS_PAGE(F, m)
/*
 * A list of parts that the agent may see from now on, a canonical JSON array,
 * for `ttl` milliseconds, and the parts that some server has: a mask.
 */
#define F_PARTS(F, m)		F(m, u8, list, PROTO_LIST_LAST)		\
				F(m, u8, parts, PROTO_PARTS)		\
				F(m, u32, ttl, PROTO_MAX_TTL)		\
				F(m, big, text, PROTO_MAX_PARTS)
/* A message that a server logs: the level, its logger's name and the data. */
#define F_NOTICE(F, m)		F(m, u8, level, PROTO_LEVEL_LAST)	\
				F(m, str, logger, 128)			\
				F(m, str, text, PROTO_MAX_NOTICE)
/* The least level that some agent wants to have. */
#define F_LOG_LEVEL(F, m)	F(m, u8, level, PROTO_LEVEL_LAST)
/* The server says that its tools, or one of its lists of parts, changed. */
#define F_LIST_CHANGED(F, m)	F(m, u8, what, PROTO_CHANGED_LAST)
#define F_SERVER_REQUEST(F, m)	F(m, u8, string, 1)	/* kind of id */	\
				F(m, str, rid, 256)			\
				F(m, str, method, 128)
/*
 * A server asks the person something.  kind: enum proto_asked.  call: the call
 * that it belongs to; 0: unknown.  rid: the id of its request, if it is one.
 * done: calls of the server that it has answered lately, as u64 in our byte order:
 * their ENDED may still be on its way.  tree: the parameters of elicitation/create, in wire encoding.
 */
#define F_ASKED(F, m)		F(m, u8, kind, PROTO_ASKED_LAST)	\
				F(m, u64, call, UINT64_MAX)		\
				F(m, u8, string, 1)			\
				F(m, str, rid, 256)			\
				F(m, blob, done, 8U * PROTO_MAX_SERVER_CALLS) \
				F(m, big, tree, PROTO_MAX_QUESTION)
/*
 * A question has ended: the action that its server is told, enum proto_action,
 * and how the hold of it ended.  call_digest: that of the call that it belongs
 * to.  answer: the values of the form, canonical JSON; empty: none.  asked: what
 * was shown, canonical JSON.
 */
#define F_QUESTION_END(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u64, call, UINT64_MAX)		\
				F(m, u16, server, PROTO_MAX_SERVERS - 1) \
				F(m, u8, action, PROTO_ACTION_LAST)	\
				F(m, u8, state, PROTO_HOLD_LAST)	\
				F(m, blob, digest, 32)			\
				F(m, blob, call_digest, 32)		\
				F(m, str, answer, PROTO_MAX_ANSWER)	\
				F(m, big, asked, 131072)
/* died: the server closed its output; else it must not be read any more. */
#define F_GONE(F, m)		F(m, u8, died, 1)			\
				F(m, str, text, 512)
/* A server that died runs again; no line was sent to it yet. */
#define F_AGAIN(F, m)		F(m, u16, server, PROTO_FIRST_INSTANCE - 1)
/*
 * The agent sees only those tools of this server whose names match one of the
 * patterns that were sent so.
 */
#define F_TOOLS_ONLY(F, m)	F(m, u16, server, PROTO_FIRST_INSTANCE - 1) \
				F(m, str, pattern, PROTO_MAX_TOOL_NAME)
/* A resource that was subscribed to has changed; its server's own address. */
#define F_UPDATED(F, m)		F(m, str, uri, 2048)
/* The tools that the agent may see from now on: a canonical JSON array. */
#define F_TOOLS(F, m)		F(m, u8, complete, 1)			\
				F(m, u32, ttl, PROTO_MAX_TTL)		\
				F(m, big, text, 8U << 20)
/*
 * The same for its instructions: names, and the beginnings of descriptions,
 * quoted and escaped.
 */
#define F_TOOLS_TOLD(F, m)	F(m, u8, complete, 1)			\
				F(m, str, text, PROTO_MAX_TOLD)
#define F_STATE(F, m)		F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, u8, state, PROTO_STATE_LAST)	\
				F(m, u32, tools, UINT32_MAX)		\
				F(m, u32, resources, UINT32_MAX)	\
				F(m, u32, prompts, UINT32_MAX)		\
				F(m, u8, parts, PROTO_PARTS)		\
				F(m, str, version, 32)			\
				F(m, str, text, 512)
#define F_STATE_SHOW(F, m)	F_STATE(F, m)
/*
 * icgit's answer: the URLs of the remotes, one per line.  If not good, they are
 * unknown, for the reason in text.
 */
#define F_REMOTES(F, m)		F(m, u32, seq, UINT32_MAX)		\
				F(m, u8, good, 1)			\
				F(m, str, urls, 32768)			\
				F(m, str, text, 256)
/*
 * A tool that differs from its pin: enum proto_tool.  same: it is defined as it
 * was pinned, and only its server's command is another.  digest: the pin it
 * would have.  text: its definition, empty if too many were told.  other: for a
 * look-alike, the tool that it resembles.
 */
#define F_TOOL_SEEN(F, m)	F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, u8, state, PROTO_TOOL_LAST)	\
				F(m, u8, same, 1)			\
				F(m, str, tool, PROTO_MAX_TOOL_NAME)	\
				F(m, blob, digest, 32)			\
				F(m, str, other, 256)			\
				F(m, big, text, PROTO_MAX_TOOL_BYTES)
#define F_TOOL_SEEN_SHOW(F, m)	F_TOOL_SEEN(F, m)
/*
 * The definitions of a server that do not reach the agent as it wrote them, in
 * place of those that were told before: a canonical JSON array of {"as", "left",
 * "tool", "why"}.  left: the tool is left out.  as: its name for the agent, if
 * that is another one.  more: others, for which there is no room here.
 */
#define F_TOOLS_NOTED(F, m)	F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, u32, more, UINT32_MAX)		\
				F(m, big, text, PROTO_MAX_NOTED)
#define F_TOOLS_NOTED_SHOW(F, m)	F_TOOLS_NOTED(F, m)

/*
 * One object to be given to a call; `left` more follow.  path is the object
 * dev/ino.  If kind is NAME (to be created, removed or moved), path is a name
 * in the directory dev/ino, and the object there is own_dev/own_ino, or 0 if
 * there is none.
 */
#define F_INSTANCE(F, m)	F(m, u64, call, UINT64_MAX)		\
				F(m, u16, server, PROTO_FIRST_INSTANCE - 1) \
				F(m, u8, kind, PROTO_OBJECT_LAST)	\
				F(m, u8, writable, 1)			\
				F(m, u8, left, PROTO_MAX_OBJECTS - 1)	\
				F(m, str, path, 4096)			\
				F(m, u64, dev, UINT64_MAX)		\
				F(m, u64, ino, UINT64_MAX)		\
				F(m, u64, own_dev, UINT64_MAX)		\
				F(m, u64, own_ino, UINT64_MAX)
#define F_INSTANCE_WANT(F, m)	F_INSTANCE(F, m)
/* The mcp-backd introduced by the preceding PEER answers this call. */
#define F_INSTANCE_BACK(F, m)	F(m, u64, call, UINT64_MAX)		\
				F(m, u16, server, PROTO_MAX_SERVERS - 1)
/* The instance runs; the descriptor is its standard input. */
#define F_INSTANCE_UP(F, m)	F_INSTANCE_BACK(F, m)
#define F_INSTANCE_GO(F, m)	F_INSTANCE_BACK(F, m)
/*
 * changed: the approved object is no longer there; otherwise the instance
 * cannot be started.
 */
#define F_INSTANCE_FAIL(F, m)	F(m, u64, call, UINT64_MAX)		\
				F(m, u8, changed, 1)			\
				F(m, str, text, 512)
#define F_INSTANCE_FAIL_GO(F, m)	F_INSTANCE_FAIL(F, m)
/* Each INSTANCE ends with one of these, whatever happened in between. */
#define F_INSTANCE_DROP(F, m)	F(m, u64, call, UINT64_MAX)
#define F_INSTANCE_KILL(F, m)	F_INSTANCE_DROP(F, m)
/*
 * The channel of the instance's mcp-backd has closed, as seen by each process
 * in turn.
 */
#define F_INSTANCE_LOST(F, m)	F(m, u16, server, PROTO_MAX_SERVERS - 1)
#define F_INSTANCE_GONE(F, m)	F_INSTANCE_LOST(F, m)
#define F_INSTANCE_GONE_GO(F, m)	F_INSTANCE_LOST(F, m)
/*
 * After KILL: none of its processes is left, and there is room for another
 * instance.
 */
#define F_INSTANCE_ENDED(F, m)	F_INSTANCE_DROP(F, m)
#define F_INSTANCE_ENDED_GO(F, m)	F_INSTANCE_DROP(F, m)

/*
 * A call waits for approval; or, from keyd, a login that would replace one that
 * works (PROTO_LOGIN_ID); or, from icsupervisor, the raise of a limit
 * (PROTO_BUDGET_ID).  ms: 0: it does not expire.  digest: SHA-256 of the canonical JSON array [server,
 * tool, arguments], and of the names of its paths as a fourth element if links
 * lead to them (policyd/named.c).  preview: the canonical arguments, which are its first
 * `args` bytes, then their meaning as canonical JSON (details.h).  effect: what
 * the call would do, as a sentence; logged: the same for the log, if it differs.
 * session: what an approval for the session
 * would allow, as canonical JSON (grants.h); empty if none can be given.
 * automatic: the approver may answer it (auto.c).  The same id again: the rules have changed, and the call now waits for another
 * reason.
 */
#define F_HOLD(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, blob, digest, 32)			\
				F(m, u16, server, UINT16_MAX)		\
				F(m, str, server_name, 64)		\
				F(m, str, tool, 256)			\
				F(m, str, rule, 256)			\
				F(m, str, reason, 2048)			\
				F(m, str, effect, 2048)			\
				F(m, str, logged, 2048)			\
				F(m, u32, ms, PROTO_HOLD_MS)			\
				F(m, u8, automatic, 1)			\
				F(m, str, session, 2048)		\
				F(m, u32, args, PROTO_MAX_TREE)		\
				F(m, big, preview, PROTO_MAX_HELD)
#define F_HOLD_SHOW(F, m)	F_HOLD(F, m)
#define F_HOLD_END(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u8, state, PROTO_HOLD_LAST)	\
				F(m, u8, granted, 1)	/* for the session */
/*
 * session: SHA-256 of HOLD.session as it was shown; empty: for this call only.
 * times: approve so many calls of the tool, this one included; 0: as the text
 * says.  automatic: the approver's opinion, not a person's answer; it approves
 * this call only, and `because` is its reasoning.  answer: to a question, the
 * values of its form as JSON.  by: who answers, as a relay of another machine
 * claims; else empty.
 */
#define F_VERDICT(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, blob, digest, 32)			\
				F(m, blob, session, 32)			\
				F(m, u8, times, PROTO_MAX_TIMES)	\
				F(m, u8, automatic, 1)			\
				F(m, u8, approve, 1)			\
				F(m, str, because, 512)			\
				F(m, str, answer, PROTO_MAX_ANSWER)	\
				F(m, str, by, 128)
#define F_VERDICT_GO(F, m)	F_VERDICT(F, m)
/*
 * id: the call whose approval granted it, or its PROTO_KEPT_ID in a later run.
 * state: enum proto_grant.  left: uses that remain, of one that is counted, and
 * ms until it ends; else 0.  text: of one that is made JSON, as people are shown
 * it; of one that ended why.  bound: of one that is made and may be restored,
 * what it is bound to, as canonical JSON (grants.h); else empty.
 */
#define F_GRANT(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, u8, state, PROTO_GRANT_LAST)	\
				F(m, u8, left, PROTO_MAX_TIMES)		\
				F(m, u32, ms, PROTO_GRANT_MS)		\
				F(m, str, text, 2048)			\
				F(m, str, bound, PROTO_MAX_BOUND)
#define F_GRANT_SHOW(F, m)	F_GRANT(F, m)
/* id: its PROTO_KEPT_ID.  bound: as it was recorded in the earlier run. */
#define F_RESTORE_GRANT(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, str, bound, PROTO_MAX_BOUND)
#define F_REVOKE(F, m)		F(m, u64, id, UINT64_MAX)
#define F_REVOKE_GO(F, m)	F_REVOKE(F, m)
#define F_LATE(F, m)		F(m, u64, id, UINT64_MAX)
#define F_LATE_SHOW(F, m)	F(m, u64, id, UINT64_MAX)
/*
 * The hold has ended, and its call is sent once its instance runs.  From keyd:
 * the login that was held is now in use, or was discarded.
 */
#define F_APPROVED(F, m)	F_HOLD_END(F, m)
/*
 * The user has inspected the definition with this digest: the tool may be used.
 */
#define F_TRUST(F, m)		F(m, u16, server, PROTO_MAX_SERVERS - 1)	\
				F(m, str, tool, PROTO_MAX_TOOL_NAME)	\
				F(m, blob, digest, 32)
#define F_TRUST_GO(F, m)	F_TRUST(F, m)

/*
 * A provider file (mitmd/provider/files), the same bytes to mitmd and to keyd,
 * which check requests independently.  In a session: hosts that a person has
 * opened to be read, with an index from PROTO_FIRST_ADDED.
 */
#define F_PROVIDER(F, m)	F(m, u16, index, PROTO_MAX_PROVIDERS - 1) \
				F(m, str, name, 64)			\
				F(m, big, json, 1U << 20)
/*
 * The placeholder key.  To keyd: the key with which it answers a login that
 * begins in the sandbox.
 */
#define F_SENTINEL(F, m)	F(m, u16, provider, PROTO_MAX_PROVIDERS - 1) \
				F(m, str, key, 512)
/*
 * The list of providers is complete: make the CA and its leaf certificates,
 * then destroy its key.  open: hosts may still be added; the CA's key is kept
 * and its names are not constrained.  ask: a CONNECT to another host asks for it.
 * unasked: to mitmd, but not to these hosts: "HOST" or "HOST PROGRAM", where - is
 * a program without a name, each with a newline behind it.
 */
#define F_SEAL(F, m)		F(m, u8, open, 1)			\
				F(m, u8, ask, 1)			\
				F(m, str, unasked, PROTO_MAX_UNASKED)
#define F_CA(F, m)		F(m, blob, der, 4096)
/* The real address of that host of the provider. */
#define F_UPSTREAM(F, m)	F(m, u8, which, PROTO_MAX_HOSTS - 1)	\
				F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, u8, tls, 1)			\
				F(m, str, prefix, 1024)			\
				F(m, u8, reuse, 1)
/*
 * kind 0: the credential itself; n: a login file, the nth of the provider's
 * "logins".  again: if the provider rejects it, SECRET_WANT gets another one.
 * In a session: the credential to use from now on; after SECRET_OUT: the
 * current file, read under the lock.  To tunneld: user:password; kind 1: as in
 * a URL, percent-encoded.
 */
#define F_SECRET(F, m)		F(m, u8, kind, 8)			\
				F(m, u8, again, 1)
#define F_ROOTS(F, m)		F(m, big, pem, 4U << 20)
/*
 * enum proto_key.  length: bytes of the credential, which is all that is told
 * about it.
 */
#define F_KEY_STATE(F, m)	F(m, u8, state, PROTO_KEY_LAST)		\
				F(m, u32, length, UINT32_MAX)		\
				F(m, str, text, 256)
#define F_UNLOCK(F, m)
/* It was locked when an earlier run of the session ended, and stays so. */
#define F_RELOCK(F, m)
/* An added provider is removed; its connections are closed. */
#define F_PROVIDER_DROP(F, m)	F(m, u16, index, PROTO_MAX_PROVIDERS - 1)
/* A target that the keyd of that index may be connected to. */
#define F_TARGET(F, m)		F(m, u16, index, PROTO_MAX_PROVIDERS - 1) \
				F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, u8, private_ok, 1)			\
				F(m, u8, which, PROTO_TARGET_LAST)
/* The token endpoint at which a login is renewed. */
#define F_TOKEN(F, m)		F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, u8, tls, 1)			\
				F(m, str, path, 1024)
/*
 * The new file that will replace the login file; SECRET follows if there is an
 * old one.
 */
#define F_SECRET_OUT(F, m)	F(m, u32, turn, UINT32_MAX)
/* why: enum proto_want. */
#define F_SECRET_WANT(F, m)	F(m, u8, why, PROTO_WANT_LAST)
/* result: enum proto_done.  expires: seconds since 1970, 0 if unknown. */
#define F_SECRET_DONE(F, m)	F(m, u32, turn, UINT32_MAX)		\
				F(m, u8, result, PROTO_DONE_LAST)	\
				F(m, u64, expires, UINT64_MAX)		\
				F(m, str, text, 256)
/* The lock was not obtained, or there is no file. */
#define F_SECRET_NONE(F, m)	F(m, str, text, 256)
/* For `icctl keys`.  Times are ms ago; UINT64_MAX: never. */
#define F_KEY_ASK(F, m)
#define F_KEY_TELL(F, m)	F(m, u64, loaded, UINT64_MAX)		\
				F(m, u64, used, UINT64_MAX)		\
				F(m, u64, requests, UINT64_MAX)		\
				F(m, u64, expires, UINT64_MAX)		\
				F(m, u32, renewals, UINT32_MAX)

/*
 * The budget of this keyd: it may begin up to `turns` requests in total that
 * start a turn, for `ms` from now (UINT64_MAX: no limit); nothing more if
 * spent_text is not empty.  The texts are the answers to requests beyond each
 * limit.
 */
#define F_BUDGET(F, m)		F(m, u64, turns, UINT64_MAX)		\
				F(m, u64, ms, UINT64_MAX)		\
				F(m, str, turns_text, 512)		\
				F(m, str, ms_text, 512)			\
				F(m, str, spent_text, 512)
/*
 * The reason why the provider fails, and how often it has since the last
 * report.  status: that of its answer to a model request, and retry: the seconds
 * after which it takes requests again, as its headers say; 0: none.
 */
#define F_TROUBLE(F, m)		F(m, str, text, 256)			\
				F(m, u32, count, UINT32_MAX)		\
				F(m, u16, status, 999)			\
				F(m, u32, retry, PROTO_MAX_RETRY)
/*
 * This keyd's totals, by its own count.  share: the number of the last SHARE.
 * held_tokens, held_cost: what it has reserved.  asks: it needs a larger share,
 * for requests that want_tokens and want_cost are reserved for.
 */
#define F_SPENT(F, m)		F(m, u64, turns, UINT64_MAX)		\
				F(m, u64, requests, UINT64_MAX)		\
				F(m, u64, sent, UINT64_MAX)		\
				F(m, u64, received, UINT64_MAX)		\
				F(m, u32, share, UINT32_MAX)		\
				F(m, u8, asks, 1)			\
				F(m, u64, held_tokens, UINT64_MAX)	\
				F(m, u64, held_cost, UINT64_MAX)	\
				F(m, u64, want_tokens, UINT64_MAX)	\
				F(m, u64, want_cost, UINT64_MAX)
/*
 * The part of the budget that this keyd may reserve at once for its requests:
 * tokens, and money in 10^-9 USD (UINT64_MAX: no limit).  number: rises.  in,
 * out: what a token costs, in 10^-9 USD.  rest: enum proto_share.
 */
#define F_SHARE(F, m)		F(m, u32, number, UINT32_MAX)		\
				F(m, u8, rest, PROTO_SHARE_LAST)	\
				F(m, u64, tokens, UINT64_MAX)		\
				F(m, u64, cost, UINT64_MAX)		\
				F(m, u64, in, PROTO_MAX_COST)		\
				F(m, u64, out, PROTO_MAX_COST)
/*
 * The usage of these requests is counted: nothing need be reserved for them
 * when they have ended.  Each is three u32, little-endian: stream, exchange and
 * message, as in USAGE.
 */
#define F_SETTLED(F, m)		F(m, blob, each, PROTO_MAX_SETTLED * PROTO_SETTLED_SIZE)
/*
 * The decision about a package.  source "metadata": a registry's metadata was
 * filtered (version empty: all versions); "file": a file was requested.
 */
#define F_PACKAGE(F, m)		F(m, str, name, 214)			\
				F(m, str, version, 128)			\
				F(m, u8, allowed, 1)			\
				F(m, str, reason, 512)			\
				F(m, str, source, 16)
/* The bytes of bodies that mitmd may hold at once. */
#define F_BODIES(F, m)		F(m, u64, bytes, 1U << 30)
#define F_STREAM_OPEN(F, m)	F(m, u32, stream, UINT32_MAX)		\
				F(m, blob, digest, 32)
#define F_STREAM(F, m)		F(m, u32, stream, UINT32_MAX)
/*
 * One message was sent to a remote server. fd: the stream with the answer (HEAD,
 * BODY and END, or FAIL). id: that of a request, as JSON; empty: no answer is
 * expected. session: the message named a session of the server's. events: no
 * message was sent; a stream of events was asked for, the server's own, or the
 * rest of the one that has the answer to `id`.
 */
#define F_POST(F, m)		F(m, u32, stream, UINT32_MAX)		\
				F(m, u8, session, 1)			\
				F(m, u8, events, 1)			\
				F(m, str, id, 64)
/* Slots of the arena are free again for which keyd has waited. */
#define F_ROOM(F, m)
/*
 * headers: repeated (u16 little-endian length, name, u16 length, value), names
 * lower-case.  length: of the body that follows on the stream.  body: its
 * SHA-256 if the route needs it, else empty.  host: index among the provider's
 * hosts.  asked: the request was approved by a person (set by policyd).  most:
 * the tokens of the longest answer that it asks for, or 0.
 */
#define F_REQUEST(F, m)		F(m, u16, provider, PROTO_MAX_PROVIDERS - 1) \
				F(m, u8, host, PROTO_MAX_HOSTS - 1)	\
				F(m, u8, asked, 1)			\
				F(m, u32, stream, UINT32_MAX)		\
				F(m, u32, exchange, UINT32_MAX)		\
				F(m, u16, route, 1023)			\
				F(m, str, path, 2048)			\
				F(m, str, query, 2048)			\
				F(m, u64, length, UINT64_MAX)		\
				F(m, u64, most, PROTO_MAX_TOKENS)	\
				F(m, blob, body, 32)			\
				F(m, str, refs, PROTO_MAX_REFS)		\
				F(m, blob, headers, 49152)
/*
 * digest: for an approved request, the digest that keyd must arrive at too;
 * else empty.
 */
#define F_REQUEST_GO(F, m)	F_REQUEST(F, m)				\
				F(m, blob, digest, 32)
/*
 * A request of a route that needs approval, in place of REQUEST.  id:
 * increasing; the pending request has the id PROTO_ASK_ID | id.  name: of the
 * provider.
 */
#define F_REQUEST_ASK(F, m)	F_REQUEST(F, m)				\
				F(m, u32, id, UINT32_MAX)		\
				F(m, str, name, 64)			\
				F(m, str, host_name, 253)		\
				F(m, str, method, 32)
/*
 * The request was approved, or is one that the settings allow: then it was not
 * `held`.  digest: as in HOLD.  preview: its arguments.
 */
#define F_REQUEST_APPROVED(F, m) F_REQUEST_ASK(F, m)			\
				F(m, u8, held, 1)			\
				F(m, blob, digest, 32)			\
				F(m, big, preview, PROTO_MAX_TREE)
/*
 * The request was not approved.  hold: how the wait ended; NONE: it did not
 * wait.
 */
#define F_REQUEST_UNAPPROVED(F, m) F(m, u32, id, UINT32_MAX)		\
				F(m, u16, provider, PROTO_MAX_PROVIDERS - 1) \
				F(m, u32, stream, UINT32_MAX)		\
				F(m, u32, exchange, UINT32_MAX)		\
				F(m, u8, hold, PROTO_HOLD_LAST)		\
				F(m, u8, reason, PROTO_REFUSED_LAST)	\
				F(m, str, name, 64)			\
				F(m, str, tool, 256)			\
				F(m, blob, digest, 32)			\
				F(m, big, preview, PROTO_MAX_TREE)
/*
 * The next piece of the tree (common/forge/tree.h) of the request to a forge for
 * which REQUEST_ASK with this id follows.
 */
#define F_FORGE_TREE(F, m)	F(m, u32, id, UINT32_MAX)		\
				F(m, blob, piece, PROTO_MAX_PIECE)
/*
 * Look up what the nth reference of a pending request stands for.  kind, is,
 * ref, repository, role: struct forge_ref.
 */
#define F_FORGE_LOOK(F, m)	F(m, u16, provider, PROTO_MAX_PROVIDERS - 1) \
				F(m, u32, id, UINT32_MAX)		\
				F(m, u8, n, 255)			\
				F(m, u8, kind, 255)			\
				F(m, u32, is, UINT32_MAX)		\
				F(m, str, ref, 200)			\
				F(m, str, repository, 140)
#define F_FORGE_LOOK_GO(F, m)	F_FORGE_LOOK(F, m)
/* found: as a tree; empty: it may not be used, and `why` says why. */
#define F_FORGE_FOUND(F, m)	F(m, u32, id, UINT32_MAX)		\
				F(m, u8, n, 255)			\
				F(m, str, why, 240)			\
				F(m, blob, found, PROTO_MAX_FOUND)
/* provider: whose keyd found it, as auditd knows. */
#define F_FORGE_FOUND_GO(F, m)	F(m, u16, provider, PROTO_MAX_PROVIDERS - 1) \
				F_FORGE_FOUND(F, m)
/*
 * The answer to the request is at this place: host, and path with query.  keyd
 * has checked the host.
 */
#define F_FOLLOW(F, m)		F(m, u16, provider, PROTO_MAX_PROVIDERS - 1) \
				F(m, u32, stream, UINT32_MAX)		\
				F(m, u32, exchange, UINT32_MAX)		\
				F(m, str, host, 253)			\
				F(m, str, target, PROTO_MAX_LOCATION)
#define F_FOLLOW_GO(F, m)	F_FOLLOW(F, m)
/* Connect to port 443 of a host to which a forge may redirect. */
#define F_FOLLOW_DIAL(F, m)	F(m, u32, id, UINT32_MAX)		\
				F(m, str, host, 253)
/* The agent gave the request up. */
#define F_REQUEST_CANCEL(F, m)	F(m, u32, id, UINT32_MAX)
/*
 * A CONNECT to port 443 of a host that is on no list waits.  agent: the name
 * that the program gave itself, or empty; no decision may depend on it.
 */
#define F_HOST_ASK(F, m)	F(m, str, host, 253)			\
				F(m, str, agent, 32)
/*
 * A person has opened the host.  id: of the pending question, by which the grant
 * is known.  kind: enum proto_open, which follows from the name alone.
 */
#define F_HOST_OPEN(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u8, kind, PROTO_OPEN_LAST)		\
				F(m, str, host, 253)
#define F_HOST_OPEN_GO(F, m)	F_HOST_OPEN(F, m)
/*
 * The host stays shut: whoever waits for it is refused.  id: of the question
 * that has ended, or 0.  hold: how it ended; NONE: there was none.
 */
#define F_HOST_SHUT(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, u8, hold, PROTO_HOLD_LAST)		\
				F(m, u8, reason, PROTO_SHUT_LAST)	\
				F(m, str, host, 253)
#define F_HOST_SHUT_GO(F, m)	F_HOST_SHUT(F, m)
#define F_REFUSED(F, m)		F(m, u32, stream, UINT32_MAX)		\
				F(m, u32, exchange, UINT32_MAX)		\
				F(m, u8, reason, PROTO_REFUSED_LAST)
#define F_EXCHANGE_END(F, m)	F(m, u32, stream, UINT32_MAX)		\
				F(m, u32, exchange, UINT32_MAX)		\
				F(m, u16, status, 999)	/* 0: no answer */	\
				F(m, u64, sent, UINT64_MAX)		\
				/* left when the answer was complete */	\
				F(m, u64, unsent, UINT64_MAX)		\
				F(m, u64, received, UINT64_MAX)		\
				F(m, str, error, 256)	/* empty: complete */
/* avoid: addresses, as DIALED named them, each with a newline behind it. */
#define F_DIAL(F, m)		F(m, u32, id, UINT32_MAX)		\
				F(m, u8, which, PROTO_TARGET_LAST)	\
				F(m, str, avoid, PROTO_MAX_AVOID)
/* more: the name leads to other addresses as well. */
#define F_DIALED(F, m)		F(m, u32, id, UINT32_MAX)		\
				F(m, u8, more, 1)			\
				F(m, str, address, 64)
/* proxy: enum proto_proxy, the part of a corporate proxy in the failure. */
#define F_DIAL_FAIL(F, m)	F(m, u32, id, UINT32_MAX)		\
				F(m, u8, proxy, PROTO_PROXY_LAST)	\
				F(m, str, text, 256)
/* mitmd answered a request itself.  id: the one that the answer names. */
#define F_DENIED(F, m)		F(m, u32, id, UINT32_MAX)		\
				F(m, u16, status, 999)			\
				F(m, str, code, 32)			\
				F(m, str, host, 253)			\
				F(m, str, method, 32)			\
				F(m, str, target, 256)

/*
 * A destination that the server of that index may or may not connect to: a
 * name, "*.name", "*" or an address (see common/net/egress_list.h).  With
 * PROTO_SERVICES it is the next service of the agent, an address, and `name`
 * is the service's; otherwise that is empty.  key: the keyd that logs in there
 * as `user`, + 1; 0: none does.  login: enum proto_login, of that.
 */
#define F_DOOR(F, m)		F(m, u16, server, PROTO_SERVICES)	\
				F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, u8, denied, 1)			\
				F(m, u8, private_ok, 1)			\
				F(m, u8, opaque, 1)			\
				F(m, str, name, 32)			\
				F(m, u8, key, PROTO_MAX_PROVIDERS)	\
				F(m, u8, login, PROTO_LOGIN_ALL)	\
				F(m, str, user, PROTO_MAX_LOGIN)	\
				F(m, str, database, PROTO_MAX_LOGIN)
#define F_CONNECT(F, m)		F(m, u32, id, UINT32_MAX)		\
				F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)
#define F_CONNECT_GO(F, m)	F(m, u16, server, PROTO_SERVICES)	\
				F_CONNECT(F, m)
/*
 * The connection ended, or never began.  sent, received: bytes, from the
 * server's side.
 */
#define F_CONNECT_END(F, m)	F(m, u32, id, UINT32_MAX)		\
				F(m, u64, sent, UINT64_MAX)		\
				F(m, u64, received, UINT64_MAX)		\
				F(m, str, error, 512)
/* The host is not on the list, or the request was no CONNECT. */
#define F_CONNECT_DENIED(F, m)	F(m, str, code, 32)			\
				F(m, str, target, 256)
/*
 * A service of the session's own, by the name and port that its DOOR has in
 * egressd and auditd: its sandbox connects to this listener.
 */
#define F_SERVICE_OWN(F, m)	F(m, str, host, 32)			\
				F(m, u16, port, UINT16_MAX)
/*
 * A client in the sandbox wants a connection that is logged in.  cancel: the
 * connection whose query is to be cancelled instead, or 0.  The rest is all that
 * the client may choose: empty, or a value that pg_value_ok() takes.
 */
#define F_LOGIN(F, m)		F(m, u32, id, UINT32_MAX)		\
				F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, u32, cancel, UINT32_MAX)		\
				F(m, str, application_name, PROTO_MAX_LOGIN) \
				F(m, str, client_encoding, PROTO_MAX_LOGIN) \
				F(m, str, datestyle, PROTO_MAX_LOGIN)	\
				F(m, str, intervalstyle, PROTO_MAX_LOGIN) \
				F(m, str, timezone, PROTO_MAX_LOGIN)	\
				F(m, str, extra_float_digits, PROTO_MAX_LOGIN) \
				F(m, str, search_path, PROTO_MAX_LOGIN)
#define F_LOGIN_GO(F, m)	F_LOGIN(F, m)
/*
 * The connection, ready for a query.  parameters: what the server said of
 * itself, each a name, a NUL, a value and a NUL.
 */
#define F_LOGGED_IN(F, m)	F(m, u32, id, UINT32_MAX)		\
				F(m, blob, parameters, PROTO_MAX_LOGIN_STATUS)
/* No connection comes.  text: the reason; empty: the query was cancelled. */
#define F_LOGIN_FAIL(F, m)	F(m, u32, id, UINT32_MAX)		\
				F(m, str, text, 400)
/*
 * Connections to a service so far: all that were recorded, those still open,
 * those that failed, with the latest reason, and bytes from the sandbox's side.
 */
#define F_SERVICE_USE(F, m)	F(m, u8, index, PROTO_MAX_SERVICES - 1)	\
				F(m, u32, open, UINT32_MAX)		\
				F(m, u64, connections, UINT64_MAX)	\
				F(m, u64, failed, UINT64_MAX)		\
				F(m, u64, sent, UINT64_MAX)		\
				F(m, u64, received, UINT64_MAX)		\
				F(m, str, error, 512)
/*
 * The usage that an answer reports so far (meter.h).  last: the answer is
 * complete.  provider, stream and exchange: as in REQUEST.  message: on a
 * WebSocket, the number of the message that is answered; else 0.  said: whether
 * the counts are estimates.  cost: as the provider states it,
 * in 10^-9 USD; 0: it does not.  cache_write_1h, audio_in and audio_out are
 * parts of cache_write, in and out.
 */
#define F_USAGE(F, m)		F(m, u16, provider, PROTO_MAX_PROVIDERS - 1) \
				F(m, u32, stream, UINT32_MAX)		\
				F(m, u32, exchange, UINT32_MAX)		\
				F(m, u32, message, UINT32_MAX)		\
				F(m, u8, last, 1)			\
				F(m, u8, said, PROTO_SAID_LAST)		\
				F(m, u8, tier, PROTO_TIER_LAST)		\
				F(m, u8, fast, 1)			\
				F(m, u8, regional, 1)			\
				F(m, str, model, 128)			\
				F(m, u64, in, PROTO_MAX_TOKENS)		\
				F(m, u64, out, PROTO_MAX_TOKENS)	\
				F(m, u64, cache_read, PROTO_MAX_TOKENS)	\
				F(m, u64, cache_write, PROTO_MAX_TOKENS) \
				F(m, u64, reasoning, PROTO_MAX_TOKENS)	\
				F(m, u64, cache_write_1h, PROTO_MAX_TOKENS) \
				F(m, u64, audio_in, PROTO_MAX_TOKENS)	\
				F(m, u64, audio_out, PROTO_MAX_TOKENS)	\
				F(m, u64, searches, PROTO_MAX_TOKENS)	\
				F(m, u64, cost, PROTO_MAX_COST)
#define F_USAGE_SHOW(F, m)	F_USAGE(F, m)

/*
 * The corporate proxy for all connections except those in `direct`: rows of
 * common/net/no_proxy.h, each ending in a newline.
 */
#define F_VIA_PROXY(F, m)	F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, str, direct, 16384)
/*
 * A connection to the proxy, to be tunneled to that host with CONNECT.  It
 * comes back without a byte consumed after the head of the proxy's answer.
 * quiet: such bytes are an error.
 */
#define F_TUNNEL(F, m)		F(m, u32, id, UINT32_MAX)		\
				F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, u8, quiet, 1)
#define F_TUNNELED(F, m)	F(m, u32, id, UINT32_MAX)
#define F_TUNNEL_FAIL(F, m)	F(m, u32, id, UINT32_MAX)		\
				F(m, u8, proxy, PROTO_PROXY_LAST)	\
				F(m, str, text, 256)
/* The state of the proxy, sent when it changes. */
#define F_TUNNEL_SHOW(F, m)	F(m, u8, proxy, PROTO_PROXY_LAST)	\
				F(m, str, text, 256)

/*
 * screen: the agent has a pseudo-terminal of this size, whose cells are sent;
 * otherwise its output goes to pipes and is sent as lines.  raw_out, raw_err:
 * that stream is sent unchanged to viewers that are waited for, because it is
 * redirected there to a file or pipe.  wait: nothing is read from the sandbox
 * before there is a viewer, so that no viewer misses the beginning.
 */
#define F_TERM_MODE(F, m)	F(m, u8, screen, 1)			\
				F(m, u8, wait, 1)			\
				F(m, u8, raw_out, 1)			\
				F(m, u8, raw_err, 1)			\
				F(m, u8, turns, PROTO_TURNS_LAST)	\
				F(m, u16, rows, PROTO_MAX_ROWS)		\
				F(m, u16, cols, PROTO_MAX_COLS)
/* A file for the agent's lines, opened with O_APPEND, and the bytes it may get. */
#define F_TRANSCRIPT(F, m)	F(m, u64, room, PROTO_MAX_TRANSCRIPT)
/*
 * Lines of JSON that match become text of this kind (enum proto_turn).  Of a
 * line's value for which `when` holds, the value at `each` is taken, or every
 * element if that is an array; of those for which `part` holds, the text at
 * `text`.  whole: it is a whole text, not a piece.  Conditions are PATH=VALUE,
 * joined by commas; a path has member names joined by dots, and "" is the value
 * itself.
 */
#define F_TURN_RULE(F, m)	F(m, u8, kind, PROTO_TURN_LAST)		\
				F(m, str, when, PROTO_MAX_MATCH)	\
				F(m, str, each, PROTO_MAX_MATCH)	\
				F(m, str, part, PROTO_MAX_MATCH)	\
				F(m, str, text, PROTO_MAX_MATCH)	\
				F(m, u8, whole, 1)
/* UTF-8 without control characters but newline and tab. */
#define F_TURN_TEXT(F, m)	F(m, u8, kind, PROTO_TURN_LAST)		\
				F(m, str, text, PROTO_MAX_TEXT)
/* Everything that was printed in this turn has been sent. */
#define F_TURN_DONE(F, m)	F(m, u32, turn, UINT32_MAX)
/*
 * The person has pressed Enter in the agent's terminal, or (prompt) the editor
 * has sent a prompt.
 */
#define F_PERSON_SAID(F, m)	F(m, u8, prompt, 1)
/*
 * A viewer's channel.  types: it gets the keyboard.  waits: lines and raw
 * output wait for it, as for a pipe; any other viewer that is slow misses some.
 */
#define F_VIEWER(F, m)		F(m, u32, id, UINT32_MAX)		\
				F(m, u8, types, 1)			\
				F(m, u8, waits, 1)
/*
 * The workspace: its names on the host, the second of which may be empty, and
 * in the sandbox.
 */
#define F_ACP_MODE(F, m)	F(m, str, host, 4096)		\
				F(m, str, named, 4096)	\
				F(m, str, inside, 4096)
/*
 * A message for the editor (enum proto_acp), of which the viewer composes the
 * line.  n: the number of the agent's request.  tree: an object whose "body" is
 * the parameters, the result or the error, and whose "id" is that of the
 * editor's request that is answered.
 */
#define F_ACP_OUT(F, m)		F(m, u8, kind, PROTO_ACP_LAST)		\
				F(m, u64, n, INT64_MAX)			\
				F(m, big, tree, PROTO_MAX_TREE)
/*
 * An image of the editor's prompt, which the viewer has shown to the sandbox;
 * and the name that it has there, or "" if it is not shown. One at a time.
 */
#define F_ACP_IMAGE(F, m)	F(m, big, bytes, PROTO_MAX_LINE)
#define F_ACP_SHOWN(F, m)	F(m, str, name, PROTO_MAX_IMAGE)
/*
 * A listener for browsers, at that address and port of the host (in host byte
 * order), which leads to a port of the sandbox.
 */
#define F_PUBLISH(F, m)		F(m, u8, index, PROTO_MAX_PORTS - 1)	\
				F(m, u16, port, UINT16_MAX)		\
				F(m, u32, address, UINT32_MAX)		\
				F(m, u16, host_port, UINT16_MAX)
/* The socket that asks who connected, and the only user who may. */
#define F_PEER_UID(F, m)	F(m, u32, uid, UINT32_MAX)
/*
 * Connections to a published port so far: those that were copied, and of these
 * the ones still open; those of other users, those over the limit, and those
 * for which nothing listened in the sandbox.  Bytes from and to the browser.
 */
#define F_PORT_USE(F, m)	F(m, u8, index, PROTO_MAX_PORTS - 1)	\
				F(m, u16, port, UINT16_MAX)		\
				F(m, u32, open, UINT32_MAX)		\
				F(m, u64, connections, UINT64_MAX)	\
				F(m, u64, strangers, UINT64_MAX)	\
				F(m, u64, over, UINT64_MAX)		\
				F(m, u64, silent, UINT64_MAX)		\
				F(m, u64, received, UINT64_MAX)		\
				F(m, u64, sent, UINT64_MAX)
#define F_PORT_USE_SHOW(F, m)	F_PORT_USE(F, m)
/* The preamble of every connection: PROTO_GATE_TOKEN bytes. */
#define F_GATE(F, m)		F(m, blob, token, PROTO_GATE_TOKEN)
/* The TCP listener for one of the session's sockets (common/gate_ways.h). */
#define F_GATE_LISTEN(F, m)	F(m, u8, way, GATE_WAYS - 1)
/* A connection that began with the token, for that socket's owner. */
#define F_GATE_OPEN(F, m)	F(m, u8, way, GATE_WAYS - 1)
/*
 * Connections so far that were closed: because of another token, because none
 * came in time, and to make room for newer ones.
 */
#define F_GATE_REFUSED(F, m)	F(m, u64, wrong, UINT64_MAX)		\
				F(m, u64, late, UINT64_MAX)		\
				F(m, u64, over, UINT64_MAX)
/* A connection of the sandbox, as if the receiver had accepted it. */
#define F_CONNECTION(F, m)
/* The provider, whose file PROVIDER is, and the model to ask. */
#define F_APPROVER(F, m)	F(m, u16, provider, PROTO_MAX_PROVIDERS - 1) \
				F(m, str, model, 128)
/*
 * A pending call.  said: the person's last message.  resources: a line for each
 * value with a role, "ROLE: TEXT", in which no text is the agent's own: a value
 * is as the person wrote it, or below one that is, which is said and not shown.
 * reason: the rule's.
 */
#define F_CONSIDER(F, m)	F(m, u64, id, UINT64_MAX)		\
				F(m, blob, digest, 32)			\
				F(m, str, said, PROTO_MAX_SAID)		\
				F(m, str, server_name, 64)		\
				F(m, str, tool, 256)			\
				F(m, str, reason, 512)			\
				F(m, str, resources, PROTO_MAX_CONSIDERED)
/*
 * decision: enum proto_opinion.  reasoning: the model's, or why there is none;
 * UTF-8 without control characters.
 */
#define F_OPINION(F, m)		F(m, u64, id, UINT64_MAX)		\
				F(m, blob, digest, 32)			\
				F(m, u8, decision, PROTO_OPINION_LAST)	\
				F(m, str, reasoning, 512)
#define F_OPINION_SHOW(F, m)	F_OPINION(F, m)
/* hosts: each "NAME:PORT" that a browser may have in its Host, and a newline. */
#define F_WEB_SITE(F, m)	F(m, str, hosts, PROTO_MAX_SITE)
/* A connection of a browser whose user was checked. */
#define F_WEB_CONN(F, m)
/*
 * A request of a browser.  token: what it logged in with, or nothing; for
 * PROTO_WEB_LOGIN the secret of its link.  host, origin and from (enum
 * proto_from) are as its header has them.  page: a number that the page chose.
 * The other members are those that the route needs: a session and a call in it
 * or a grant (for an undo: the number of a checkpoint), digests of what was
 * shown (of a rule: in `grant`), the verdict, the state that the page has
 * (since), and a text: a reason, a message to the agent, or what to look for.
 */
#define F_WEB_REQUEST(F, m)	F(m, u64, n, UINT64_MAX)		\
				F(m, u8, route, PROTO_WEB_LAST)		\
				F(m, u8, from, PROTO_FROM_LAST)		\
				F(m, u8, verdict, PROTO_WEB_VERDICT_LAST) \
				F(m, u64, page, UINT64_MAX)		\
				F(m, u64, since, UINT64_MAX)		\
				F(m, blob, token, 32)			\
				F(m, str, host, 255)			\
				F(m, str, origin, 255)			\
				F(m, str, session, 160)			\
				F(m, str, call, 16)			\
				F(m, str, digest, 64)			\
				F(m, str, grant, 64)			\
				F(m, str, text, PROTO_MAX_SAID)
/* The answer to the request `n`: a status of HTTP, and JSON. */
#define F_WEB_ANSWER(F, m)	F(m, u64, n, UINT64_MAX)		\
				F(m, u16, status, 599)			\
				F(m, big, json, PROTO_MAX_PAGE)
/*
 * The size of the grid and the cursor.  shape: enum proto_cursor; modes: enum
 * proto_term bits.  A size other than the last one clears the viewer's copy.
 */
#define F_SCREEN(F, m)		F(m, u16, rows, PROTO_MAX_ROWS)		\
				F(m, u16, cols, PROTO_MAX_COLS)		\
				F(m, u16, row, PROTO_MAX_ROWS - 1)	\
				F(m, u16, col, PROTO_MAX_COLS)		\
				F(m, u8, shape, PROTO_CURSOR_LAST)	\
				F(m, u32, modes, PROTO_TERM_ALL)
/* Cells of a row, starting at a column; see common/term/cells.h. */
#define F_ROW(F, m)		F(m, u16, row, PROTO_MAX_ROWS - 1)	\
				F(m, u16, from, PROTO_MAX_COLS - 1)	\
				F(m, blob, cells, PROTO_MAX_CELLS)
/*
 * A line of a stream (0: output, 1: errors), or one that scrolled off the
 * screen.  more: it is incomplete; the next LINE of the stream replaces it.
 * joined: it continues the last complete LINE of the stream, which was too
 * long.
 */
#define F_LINE(F, m)		F(m, u8, stream, 1)			\
				F(m, u8, more, 1)			\
				F(m, u8, joined, 1)			\
				F(m, blob, cells, PROTO_MAX_CELLS)
#define F_RAW(F, m)		F(m, u8, stream, 1)			\
				F(m, blob, bytes, PROTO_MAX_CELLS)
#define F_BELL(F, m)
/* UTF-8 without control characters. */
#define F_TITLE(F, m)		F(m, str, text, 320)
/* An offer of the agent to the person: nothing happens with it before a yes. */
#define F_OFFER(F, m)		F(m, u8, kind, PROTO_OFFER_LAST)	\
				F(m, str, text, PROTO_MAX_OFFER)
/*
 * The end of a frame: everything before it may be drawn.  The next frame comes
 * after FRAME_ACK.  lost: lines that this viewer was too slow to receive.
 */
#define F_FRAME(F, m)		F(m, u32, seq, UINT32_MAX)		\
				F(m, u32, lost, UINT32_MAX)
/*
 * Everything that the sandbox sent has been sent before this; nothing follows.
 */
#define F_BOX_END(F, m)
/* types: this viewer has the keyboard. */
#define F_TYPIST(F, m)		F(m, u8, types, 1)
/*
 * termd can buffer this many more bytes of KEYS, PASTE and INPUT together.  A
 * viewer begins with PROTO_TYPED_ROOM and never sends more than fits.
 */
#define F_INPUT_ROOM(F, m)	F(m, u32, bytes, PROTO_TYPED_ROOM)

/* As the viewer's terminal sends it, in the modes given in SCREEN. */
#define F_KEYS(F, m)		F(m, blob, bytes, PROTO_MAX_TYPED)
/* Without the brackets of a bracketed paste.  last: the paste is complete. */
#define F_PASTE(F, m)		F(m, u8, last, 1)			\
				F(m, blob, bytes, PROTO_MAX_TYPED)
/*
 * button: as in SGR mouse reports of xterm (64 to 67: wheel), without the
 * modifier bits.  row, col: in the grid, from 0.  mods: shift 4, meta 8,
 * control 16.
 */
#define F_MOUSE(F, m)		F(m, u8, button, 127)			\
				F(m, u8, what, PROTO_MOUSE_LAST)	\
				F(m, u8, mods, 28)			\
				F(m, u16, row, PROTO_MAX_ROWS - 1)	\
				F(m, u16, col, PROTO_MAX_COLS - 1)
#define F_FOCUS(F, m)		F(m, u8, in, 1)
/* The space for the grid on the viewer's terminal. */
#define F_SIZE(F, m)		F(m, u16, rows, PROTO_MAX_ROWS)		\
				F(m, u16, cols, PROTO_MAX_COLS)
/* Standard input that is not a terminal. */
#define F_INPUT(F, m)		F(m, blob, bytes, PROTO_MAX_CELLS)
#define F_INPUT_END(F, m)
#define F_FRAME_ACK(F, m)	F(m, u32, seq, UINT32_MAX)
/* Give the keyboard to this viewer. */
#define F_TAKE(F, m)
/* The agent waits until CONTINUE, which a viewer that does not stop sends, too. */
#define F_STOPPED(F, m)
#define F_CONTINUE(F, m)
/* From a viewer that is waited for: it can no longer write that stream. */
#define F_OUT_GONE(F, m)	F(m, u8, stream, 1)

/*
 * Get a document.  kind: enum proto_meta.  path: with its query.
 */
#define F_META_GET(F, m)	F(m, u8, kind, PROTO_META_LAST)		\
				F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, str, path, PROTO_MAX_PLACE)
/*
 * The document.  status: of the answer, or 0 without one.  good: it is such a
 * document; else `why` says what is wrong.  flags: enum proto_server.  URLs and
 * texts are the server's: those that are not there are empty.  metadata: where
 * a challenge says that the resource's document is.  issuers: one a line.
 * scopes: with spaces between them.
 */
#define F_META_DOC(F, m)	F(m, u8, kind, PROTO_META_LAST)		\
				F(m, u16, status, 999)			\
				F(m, u8, good, 1)			\
				F(m, str, why, 256)			\
				F(m, u32, flags, PROTO_SERVER_ALL)	\
				F(m, str, metadata, PROTO_MAX_URL)	\
				F(m, str, resource, PROTO_MAX_URL)	\
				F(m, str, issuers, PROTO_MAX_ISSUERS)	\
				F(m, str, authorization, PROTO_MAX_URL)	\
				F(m, str, token, PROTO_MAX_URL)		\
				F(m, str, registration, PROTO_MAX_URL)	\
				F(m, str, revocation, PROTO_MAX_URL)	\
				F(m, str, scopes, PROTO_MAX_SCOPES)
/*
 * Register a client (RFC 7591) that comes back to this address.  auth: enum
 * proto_auth, how it would prove itself.
 */
#define F_REGISTER(F, m)	F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, str, path, PROTO_MAX_PLACE)	\
				F(m, str, redirect, 256)		\
				F(m, u8, auth, PROTO_AUTH_LAST)		\
				F(m, str, scopes, PROTO_MAX_SCOPES)
/* client: its id; empty: it was not registered, and `why` says why. */
#define F_REGISTERED(F, m)	F(m, str, client, PROTO_MAX_CLIENT)	\
				F(m, u8, auth, PROTO_AUTH_LAST)		\
				F(m, u16, status, 999)			\
				F(m, str, why, 256)
/* The secret of a client that the user configured, to its end. */
#define F_CLIENT_SECRET(F, m)
/*
 * Make a verifier and a state; the token endpoint gets the code that comes back
 * with that state.  The descriptor is that of the file to write.  iss: the
 * answer must name the issuer.
 */
#define F_LOGIN_BEGIN(F, m)	F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, str, path, PROTO_MAX_PLACE)	\
				F(m, str, client, PROTO_MAX_CLIENT)	\
				F(m, u8, auth, PROTO_AUTH_LAST)		\
				F(m, str, redirect, 256)		\
				F(m, str, resource, PROTO_MAX_URL)	\
				F(m, str, issuer, PROTO_MAX_URL)	\
				F(m, u8, iss, 1)
/* challenge: the verifier's SHA-256 (RFC 7636).  Both in base64url. */
#define F_CHALLENGE(F, m)	F(m, str, state, 64)			\
				F(m, str, challenge, 64)
/* The answer to wait for.  host: as a browser names it, with its port. */
#define F_CALLBACK_WAIT(F, m)	F(m, str, state, 64)			\
				F(m, str, host, 64)			\
				F(m, str, issuer, PROTO_MAX_URL)	\
				F(m, u8, iss, 1)
/* A browser's connection, whose user was checked. */
#define F_CALLBACK_CONN(F, m)
/* The address to which the browser was sent back, as a person pasted it. */
#define F_CALLBACK_TEXT(F, m)	F(m, str, text, PROTO_MAX_PASTED)
/* named: the answer names its issuer. */
#define F_CALLBACK(F, m)	F(m, str, state, 64)			\
				F(m, str, code, PROTO_MAX_CODE)		\
				F(m, u8, named, 1)			\
				F(m, str, issuer, PROTO_MAX_URL)
/*
 * how: enum proto_seen.  text: why it is refused; or the error that the issuer
 * answered with, which is its own word.
 */
#define F_CALLBACK_SEEN(F, m)	F(m, u8, how, PROTO_SEEN_LAST)		\
				F(m, str, text, 512)
/*
 * good: the file is written, or the login was revoked.  expires: of the token,
 * seconds since 1970, 0 if unknown.  renews: it can be renewed.  scopes: as
 * granted; empty if the server does not say.
 */
#define F_LOGIN_DONE(F, m)	F(m, u8, good, 1)			\
				F(m, u16, status, 999)			\
				F(m, u64, expires, UINT64_MAX)		\
				F(m, u8, renews, 1)			\
				F(m, str, scopes, PROTO_MAX_SCOPES)	\
				F(m, str, why, 256)
/* Revoke the login (RFC 7009) whose file this is. */
#define F_LOGOUT(F, m)		F(m, str, host, 253)			\
				F(m, u16, port, UINT16_MAX)		\
				F(m, str, path, PROTO_MAX_PLACE)


/* Shared memory of a pair beside its channel. */
enum proto_memory {
	PROTO_MEMORY_NONE,
	PROTO_MEMORY_RINGS,	/* its messages: common/ipc/ring.h */
	PROTO_MEMORY_ARENA,	/* long pieces of bodies: common/ipc/arena.h */
};

enum proto_acp {
	PROTO_ACP_UPDATE,     /* notification session/update */
	PROTO_ACP_PERMISSION, /* request session/request_permission */
	PROTO_ACP_CANCEL,     /* notification $/cancel_request */
	PROTO_ACP_RESULT,
	PROTO_ACP_ERROR,
};
#define PROTO_ACP_LAST PROTO_ACP_ERROR

enum proto_rules {
	PROTO_RULES_POLICY,
	PROTO_RULES_ANNOTATIONS,
	PROTO_RULES_LISTS,
};
#define PROTO_RULES_LAST PROTO_RULES_LISTS

/* How a tool that no annotation describes is treated. */
enum proto_unknown {
	PROTO_UNKNOWN_DENY,	/* its calls are refused */
	PROTO_UNKNOWN_HIDE,	/* and it is not offered either */
	PROTO_UNKNOWN_HOLD,	/* a person decides about each call */
};
#define PROTO_UNKNOWN_LAST PROTO_UNKNOWN_HOLD

/* The reach of a server beyond its view. */
enum proto_reach {
	PROTO_REACH_NETWORK = 1 << 0,	/* it connects to hosts */
	PROTO_REACH_SECRET = 1 << 1,	/* it has secrets of its own */
	PROTO_REACH_HOST = 1 << 2,	/* it has no sandbox */
	PROTO_REACH_AFAR = 1 << 3,	/* it is on another machine */
	PROTO_REACH_SILENT = 1 << 4,	/* it cannot ask the person */
};
#define PROTO_REACH_ALL 31U

/* The kinds of ASKED: a request of the server, or the error -32042 of a call. */
enum proto_asked { PROTO_ASKED_REQUEST, PROTO_ASKED_WANTED };
#define PROTO_ASKED_LAST PROTO_ASKED_WANTED

/* The answer to a question, as MCP has it. */
enum proto_action {
	PROTO_ACTION_ACCEPT,
	PROTO_ACTION_DECLINE,
	PROTO_ACTION_CANCEL,
};
#define PROTO_ACTION_LAST PROTO_ACTION_CANCEL

/* The access of a server to a row of its view. */
enum proto_view { PROTO_VIEW_READ, PROTO_VIEW_WRITE, PROTO_VIEW_HIDDEN };
#define PROTO_VIEW_LAST PROTO_VIEW_HIDDEN

/* policyDecision.status */
enum proto_status { PROTO_ALLOW, PROTO_DENY, PROTO_ESCALATE };
#define PROTO_STATUS_LAST PROTO_ESCALATE

/* Arguments that the log does not have in full. */
enum proto_redacted {
	PROTO_WHOLE,
	PROTO_REDACTED,
	PROTO_REDACTED_OTHER,	/* ... of which it has all that rules judge */
};
#define PROTO_REDACTED_LAST PROTO_REDACTED_OTHER

/* How a wait for approval ended; NONE: there was no wait. */
enum proto_hold {
	PROTO_HOLD_NONE,
	PROTO_HOLD_APPROVED,
	PROTO_HOLD_DENIED,
	PROTO_HOLD_EXPIRED,
	PROTO_HOLD_CANCELLED,
	PROTO_HOLD_CHANGED,
	PROTO_HOLD_RELOADED,	/* new rules decide it without a person */
};
#define PROTO_HOLD_LAST PROTO_HOLD_RELOADED

/* How a call ended that went to its server. */
enum proto_result {
	PROTO_RESULT_SUCCESS,
	PROTO_RESULT_ERROR,
	PROTO_RESULT_LOST,        /* with its server; it may have happened */
	PROTO_RESULT_UNDELIVERED, /* the server did not read it */
	PROTO_RESULT_CANCELLED,
};
#define PROTO_RESULT_LAST PROTO_RESULT_CANCELLED

/* KEPT: one of an earlier run is in force again. */
enum proto_grant {
	PROTO_GRANT_MADE,
	PROTO_GRANT_USED,
	PROTO_GRANT_ENDED,
	PROTO_GRANT_KEPT,
};
#define PROTO_GRANT_LAST PROTO_GRANT_KEPT

enum proto_object { PROTO_OBJECT_DIR, PROTO_OBJECT_FILE, PROTO_OBJECT_NAME };
#define PROTO_OBJECT_LAST PROTO_OBJECT_NAME

enum proto_list { PROTO_LIST_RESOURCES, PROTO_LIST_TEMPLATES, PROTO_LIST_PROMPTS };
#define PROTO_LIST_LAST PROTO_LIST_PROMPTS
#define PROTO_LISTS (PROTO_LIST_LAST + 1)

enum proto_discovered {
	PROTO_DISCOVERED_MODERN,     /* it speaks `version`, without initialize */
	PROTO_DISCOVERED_INITIALIZE, /* it does not know the request */
	PROTO_DISCOVERED_OTHER,	     /* it speaks revisions that we do not */
	PROTO_DISCOVERED_FAILED,     /* there is no server, or it lets nobody in */
};
#define PROTO_DISCOVERED_LAST PROTO_DISCOVERED_FAILED

enum proto_round {
	PROTO_ROUND_RETRY, /* the same request again, with answers */
	PROTO_ROUND_AGENT, /* the agent decides when to go on */
	PROTO_ROUND_FAIL,  /* there is no answer */
};
#define PROTO_ROUND_LAST PROTO_ROUND_FAIL

enum proto_changed {
	PROTO_CHANGED_TOOLS,
	PROTO_CHANGED_RESOURCES,
	PROTO_CHANGED_PROMPTS,
};
#define PROTO_CHANGED_LAST PROTO_CHANGED_PROMPTS

/* The levels of syslog that MCP has, the least first: 0 is debug, 7 emergency. */
#define PROTO_LEVEL_LAST 7U

enum proto_state {
	PROTO_STATE_STARTING,
	PROTO_STATE_LISTING,
	PROTO_STATE_READY,
	PROTO_STATE_GONE,
	PROTO_STATE_DIED,	/* is started again */
};
#define PROTO_STATE_LAST PROTO_STATE_DIED

/* Only tools that are FIRST, TRUSTED or OK may be used. */
enum proto_tool {
	PROTO_TOOL_OK,		/* as pinned; sent after a later trust */
	PROTO_TOOL_FIRST,	/* the server was never used before */
	PROTO_TOOL_TRUSTED,	/* by the user, now */
	PROTO_TOOL_NEW,
	PROTO_TOOL_CHANGED,
	PROTO_TOOL_LOOKALIKE,
	PROTO_TOOL_DRIFTED,	/* differs from its annotation */
	PROTO_TOOL_GONE,	/* no longer listed: it was one of those above */
};
#define PROTO_TOOL_LAST PROTO_TOOL_GONE

enum proto_login {
	PROTO_LOGIN_SUPERUSER = 1,	/* the user may be one */
	PROTO_LOGIN_TLS = 2,	/* over TLS, and bound to its certificate */
	PROTO_LOGIN_CA = 4,	/* which must be from ROOTS, too */
	PROTO_LOGIN_ALL = 7,
};

enum proto_key {
	PROTO_KEY_LOADED,
	PROTO_KEY_EMPTY,
	PROTO_KEY_BAD,
	PROTO_KEY_LOCKED,	/* came back in a response */
	PROTO_KEY_REFUSED,	/* can no longer be renewed */
	PROTO_KEY_WAITING,	/* for a login begun in the sandbox */
};
#define PROTO_KEY_LAST PROTO_KEY_WAITING

/* The number of a keyd's target: those below are the hosts of its provider. */
enum proto_target { PROTO_TARGET_TOKEN = PROTO_MAX_HOSTS };
#define PROTO_TARGET_LAST PROTO_TARGET_TOKEN

enum proto_want {
	PROTO_WANT_EXPIRES,	/* has expired or will soon */
	PROTO_WANT_REJECTED,	/* the provider answered 401 */
	PROTO_WANT_UNSAVED,	/* the new one is in no file yet */
	PROTO_WANT_CAPTURED,	/* begun in the sandbox: no old file */
};
#define PROTO_WANT_LAST PROTO_WANT_CAPTURED

/* The result of a SECRET_OUT. */
enum proto_done {
	PROTO_DONE_WRITTEN,	/* put the new file in place */
	PROTO_DONE_KEPT,	/* the file was good: renewed elsewhere */
	PROTO_DONE_FAILED,	/* for now */
	PROTO_DONE_REFUSED,	/* for good: a person must log in */
};
#define PROTO_DONE_LAST PROTO_DONE_REFUSED

/* The rest of the budget, beside a share of it. */
enum proto_share {
	PROTO_SHARE_MORE,	/* there may be more: SPENT.asks */
	PROTO_SHARE_FREE,	/* nothing else is free now */
	PROTO_SHARE_WHOLE,	/* nothing is left beside it */
};
#define PROTO_SHARE_LAST PROTO_SHARE_WHOLE

/* The part of a corporate proxy in a failed connection. */
enum proto_proxy {
	PROTO_PROXY_NONE,	/* none: not the proxy's fault */
	PROTO_PROXY_LOST,	/* unreachable, or does not answer */
	PROTO_PROXY_AUTH,	/* wants a credential, or another one */
	PROTO_PROXY_DENIED,	/* forbids the host */
	PROTO_PROXY_FAILED,	/* cannot reach the host */
	PROTO_PROXY_BROKEN,	/* its answer is malformed */
};
#define PROTO_PROXY_LAST PROTO_PROXY_BROKEN

/* OFFER: a text for the clipboard; an address that link_ok() accepts. */
enum proto_offer { PROTO_OFFER_COPY, PROTO_OFFER_LINK };
#define PROTO_OFFER_LAST PROTO_OFFER_LINK

/* How the agent of a conversation prints. */
enum proto_turns { PROTO_TURNS_NONE, PROTO_TURNS_LINES, PROTO_TURNS_JSON };
#define PROTO_TURNS_LAST PROTO_TURNS_JSON

/* Kinds of text of a turn. */
enum proto_turn {
	PROTO_TURN_TEXT,     /* said by the agent */
	PROTO_TURN_THINKING, /* its reasoning */
	PROTO_TURN_TOOL,     /* the name of a tool of its own that it uses */
	PROTO_TURN_RESULT,   /* its answer, if nothing was said before */
	PROTO_TURN_ERROR,
	PROTO_TURN_LOG,      /* its standard error, beside JSON */
};
#define PROTO_TURN_LAST PROTO_TURN_LOG

/* The approver's opinion of a call. */
enum proto_opinion {
	PROTO_OPINION_LEAVE, /* a person should decide */
	PROTO_OPINION_APPROVE,
	PROTO_OPINION_FAILED, /* there is none: a person decides */
};
#define PROTO_OPINION_LAST PROTO_OPINION_FAILED

/* Requests of the web page. */
enum proto_web {
	PROTO_WEB_LOGIN,
	PROTO_WEB_LOGOUT,
	PROTO_WEB_STATE,  /* once it is not the one that the page has */
	PROTO_WEB_CALL,   /* a call, whole */
	PROTO_WEB_ANSWER, /* approve or deny it */
	PROTO_WEB_REVOKE, /* a grant */
	PROTO_WEB_AUDIT,  /* records with a text */
	PROTO_WEB_POLICY, /* the rules in force */
	PROTO_WEB_ALWAYS, /* a rule for a call, or a yes to it */
	PROTO_WEB_SEND,   /* a message to the agent */
	PROTO_WEB_INTERRUPT, /* the turn of a conversation */
	PROTO_WEB_STOP,   /* the session */
	PROTO_WEB_UNDO,   /* checkpoints, a plan, or a yes to it */
};
#define PROTO_WEB_LAST PROTO_WEB_UNDO

enum proto_web_verdict {
	PROTO_WEB_DENY,
	PROTO_WEB_APPROVE,
	PROTO_WEB_FOR_SESSION,
};
#define PROTO_WEB_VERDICT_LAST PROTO_WEB_FOR_SESSION

/* Sec-Fetch-Site: the page that made the browser ask. */
enum proto_from {
	PROTO_FROM_UNSAID,
	PROTO_FROM_NONE,	/* the person */
	PROTO_FROM_SELF,	/* a page of the same origin */
	PROTO_FROM_OTHER,
};
#define PROTO_FROM_LAST PROTO_FROM_OTHER

/* Documents of a login at a remote MCP server. */
enum proto_meta {
	PROTO_META_CHALLENGE,	/* its answer to a request without a token */
	PROTO_META_RESOURCE,	/* protected resource metadata, RFC 9728 */
	PROTO_META_SERVER,	/* authorization server metadata, RFC 8414 */
};
#define PROTO_META_LAST PROTO_META_SERVER

/* Properties of an authorization server, as its document has them. */
enum proto_server {
	PROTO_SERVER_PKCE = 1 << 0,	/* takes S256 */
	PROTO_SERVER_ISS = 1 << 1,	/* names itself in its answers */
	PROTO_SERVER_DOCUMENT = 1 << 2,	/* takes a client's document as its id */
	PROTO_SERVER_NONE = 1 << 3,	/* clients without a secret */
	PROTO_SERVER_POST = 1 << 4,
	PROTO_SERVER_BASIC = 1 << 5,
	PROTO_SERVER_SAYS = 1 << 6,	/* it says which of these it takes */
	PROTO_SERVER_REFRESH = 1 << 7,	/* grant_types_supported has it */
	PROTO_SERVER_SCOPE = 1 << 8,	/* a challenge: for want of a scope */
	PROTO_SERVER_OFFLINE = 1 << 9,	/* it lists offline_access */
};
#define PROTO_SERVER_ALL 0x3ffU

/* How a client proves itself at the token endpoint. */
enum proto_auth {
	PROTO_AUTH_NONE,
	PROTO_AUTH_POST,	/* client_secret_post */
	PROTO_AUTH_BASIC,	/* client_secret_basic */
};
#define PROTO_AUTH_LAST PROTO_AUTH_BASIC

enum proto_seen {
	PROTO_SEEN_CODE,	/* passed on to mcp-grantd */
	PROTO_SEEN_ERROR,	/* the issuer refuses */
	PROTO_SEEN_OTHER,	/* not the answer that is awaited */
};
#define PROTO_SEEN_LAST PROTO_SEEN_OTHER

enum proto_cursor { PROTO_CURSOR_BLOCK, PROTO_CURSOR_LINE, PROTO_CURSOR_BAR };
#define PROTO_CURSOR_LAST PROTO_CURSOR_BAR

/* Modes of the agent's terminal that concern a viewer. */
enum proto_term {
	PROTO_TERM_CURSOR = 1 << 0,	 /* the cursor is shown */
	PROTO_TERM_BLINK = 1 << 1,	 /* and blinks */
	PROTO_TERM_ALTERNATE = 1 << 2,	 /* the alternate screen */
	PROTO_TERM_CURSOR_KEYS = 1 << 3, /* application cursor keys */
	PROTO_TERM_KEYPAD = 1 << 4,	 /* application keypad */
	PROTO_TERM_PASTE = 1 << 5,	 /* pastes are bracketed, by termd */
	PROTO_TERM_FOCUS = 1 << 6,	 /* wants FOCUS */
	PROTO_TERM_CLICKS = 1 << 7,	 /* wants MOUSE: buttons */
	PROTO_TERM_DRAGS = 1 << 8,	 /* and motion while one is down */
	PROTO_TERM_MOVES = 1 << 9,	 /* and all motion */
	PROTO_TERM_KITTY = 1 << 10,	 /* all keys are told apart: CSI u */
	PROTO_TERM_OTHER_KEYS = 1 << 11, /* xterm's way: CSI 27 ; ... ~ */
};
#define PROTO_TERM_ALL 0xfffU

enum proto_mouse { PROTO_MOUSE_DOWN, PROTO_MOUSE_UP, PROTO_MOUSE_MOVE };
#define PROTO_MOUSE_LAST PROTO_MOUSE_MOVE

/* Whether an answer's counts are the provider's, or estimates. */
enum proto_said {
	PROTO_SAID_MEASURED,
	PROTO_SAID_ENDED,	/* the answer ended before its last counts */
	PROTO_SAID_SILENT,	/* a complete answer has none */
};
/* The provider's tier that served a request. */
enum proto_tier {
	PROTO_TIER_STANDARD,
	PROTO_TIER_BATCH,
	PROTO_TIER_FLEX,
	PROTO_TIER_PRIORITY,
};

/* The hosts that a person may be asked to open. */
enum proto_hosts {
	PROTO_HOSTS_OFF,
	PROTO_HOSTS_ASK,
	PROTO_HOSTS_ASK_UNPACKED, /* and no package registry */
};
#define PROTO_HOSTS_LAST PROTO_HOSTS_ASK_UNPACKED

/* The kind of destination that such a host becomes. */
enum proto_open {
	PROTO_OPEN_WEB,
	PROTO_OPEN_GIT,
	PROTO_OPEN_NPM,
	PROTO_OPEN_PYPI,
	PROTO_OPEN_CRATES,
	PROTO_OPEN_DEBIAN,
};
#define PROTO_OPEN_LAST PROTO_OPEN_DEBIAN

/* The reasons for which such a host stays shut. */
enum proto_shut {
	PROTO_SHUT_DENIED,
	PROTO_SHUT_EXPIRED,	/* nobody answered */
	PROTO_SHUT_BUSY,	/* others wait for an answer already */
	PROTO_SHUT_FULL,	/* as many were opened as may be */
	PROTO_SHUT_OFTEN,	/* as many were asked for as may be */
	PROTO_SHUT_PACKAGES,	/* a registry, and config.json has none */
	PROTO_SHUT_CLOSED,	/* it was opened, and closed again */
	PROTO_SHUT_FAILED,	/* the question or its answer was lost */
};
#define PROTO_SHUT_LAST PROTO_SHUT_FAILED

enum proto_refused {
	PROTO_REFUSED_AUDIT,	/* the log cannot be written */
	PROTO_REFUSED_GONE,	/* no such keyd */
	PROTO_REFUSED_DENIED,	/* by a person, or by the end of the wait */
	PROTO_REFUSED_EXPIRED,	/* nobody answered */
	PROTO_REFUSED_HEADLESS,	/* nobody is there to ask */
	PROTO_REFUSED_ELSEWHERE, /* an id leads to what is not on the list */
	PROTO_REFUSED_LARGE,	/* it cannot be shown whole */
};
#define PROTO_REFUSED_LAST PROTO_REFUSED_LARGE

#define PROTO_C_u8 uint8_t
#define PROTO_C_u16 uint16_t
#define PROTO_C_u32 uint32_t
#define PROTO_C_u64 uint64_t
#define PROTO_C_str struct span
#define PROTO_C_blob struct span
#define PROTO_C_big struct span

#define PROTO_FIELD(m, kind, name, max) PROTO_C_##kind name;
#define PROTO_STRUCT(name, number, from, to, phase, fds)			\
	struct msg_##name {						\
		F_##name(PROTO_FIELD, name)				\
		uint8_t proto_pad_;					\
	};
PROTO_MSGS(PROTO_STRUCT)

/*
 * Copy the fields of a group in an initialiser from a message that has them
 * all.
 */
#define PROTO_COPY(m, kind, name, max) .name = (m)->name,

#define PROTO_ENUM(name, number, from, to, phase, fds) MSG_##name = number,
enum msg_type { PROTO_MSGS(PROTO_ENUM) };

/* The number of messages; numbers are 0xGGRR, group and row. */
#define PROTO_ONE(name, number, from, to, phase, fds) +1
#define PROTO_NMSGS (0 PROTO_MSGS(PROTO_ONE))
#define PROTO_GROUPS 32
#define PROTO_ROWS 64
#define PROTO_FITS(name, number, from, to, phase, fds)                         \
	_Static_assert((number) >> 8 > 0 && (number) >> 8 < PROTO_GROUPS &&    \
		((number)&0xff) < PROTO_ROWS,                                  \
	    #name " is not in PROTO_GROUPS and PROTO_ROWS");
PROTO_MSGS(PROTO_FITS)

#define PROTO_UNION(name, number, from, to, phase, fds) struct msg_##name name;
union proto_any {
	PROTO_MSGS(PROTO_UNION)
};

enum proto_kind {
	PROTO_u8,
	PROTO_u16,
	PROTO_u32,
	PROTO_u64,
	PROTO_str,
	PROTO_blob,
	PROTO_big,
};

struct proto_field {
	const char *name;
	enum proto_kind kind;
	size_t offset;		/* in the message's struct */
	uint64_t max;
};

struct proto_msg {
	const char *name;
	uint16_t type;
	uint32_t from, to;	/* R() bits */
	unsigned phase;
	int nfds; /* 0 or 1, not counting the memfd of a big field */
	const struct proto_field *fields;
	size_t nfields;
	size_t size;		/* the struct's, in bytes */
};

extern const struct proto_msg proto_msgs[];
extern const size_t proto_nmsgs;

/* Returns NULL if there is no such message. */
const struct proto_msg *proto_find(uint16_t type);
/* Returns the name that MCP has for a level, at most PROTO_LEVEL_LAST. */
const char *proto_level_name(unsigned level);
/* Returns the level of that name, or -1. */
int proto_level_find(struct span name);
/*
 * Returns a hash of the whole table; two binaries talk only if theirs are
 * equal.
 */
uint64_t proto_id(void);
const char *role_name(enum role);

/* clang-format on */
#endif
