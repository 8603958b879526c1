/* SPDX-License-Identifier: ISC */
/*
 * From a constitution to a policy: the parts of `icctl policy compile` and of
 * the commands beside it. A model proposes, in a session of its own; everything
 * that it says is hostile input here. Nothing that it proposes comes into force
 * before policyd has decided every scenario, and a person has agreed to exactly
 * what is newly allowed.
 */
#ifndef COMPILE_H
#define COMPILE_H

#include <limits.h>

#include <json-c/json_types.h>

#include "common/sha256.h"
#include "common/time_text.h"
#include "files/persona.h"
#include "icctl/policy/policy.h"

#define COMPILE_MAX_TEXT (256U << 10) /* the constitution */
#define COMPILE_MAX_SERVERS 64U
#define COMPILE_MAX_RULES 2000U
#define COMPILE_MAX_LISTS 64U
#define COMPILE_MAX_VALUES 10000U
#define COMPILE_MAX_QUOTE 4096U /* a third party's text in a prompt */
#define COMPILE_MAX_SCENARIOS 4000U
#define COMPILE_ROUNDS 3U
#define COMPILE_REPAIRS 2U /* by default, and at most */

struct compile_box;

/* The options of all these commands. */
struct compile_opts {
	const char *constitution, *dir, *server, *list, *model, *accept;
	const char *audit; /* the log to replay, instead of the newest */
	const char *task; /* compile rules for this task, instead */
	const char *into; /* a name for the policy, or NULL */
	const char *persona;	   /* a name, or NULL */
	const struct persona *who; /* the persona, or NULL */
	bool all, no_mcp, with_mcp, yes, no_cache;
	bool usual; /* the task has the directory that is its own */
	unsigned repairs;
};

/* A server of the policy, while it is compiled. */
struct compile_server {
	struct span name;
	const struct value *tools; /* from tool-annotations.json */
	bool skipped;
	struct span why_skipped;
	const struct value *rules;     /* array */
	const struct value *lists;     /* array of definitions, or NULL */
	const struct value *scenarios; /* array */
	char hash[SHA256_HEX];	       /* inputHash of the rules */
};

struct compile {
	struct icctl *ctl;
	struct compile_opts o;
	char dir[PATH_MAX];	/* the artefacts in force */
	char pending[PATH_MAX]; /* those that are not */
	char cache[PATH_MAX];
	char datadir[PATH_MAX];
	char shipped[PATH_MAX]; /* the shipped policies */
	struct value_pool *pool;
	char *constitution; /* text, NUL-terminated */
	char hash[SHA256_HEX];
	char now[TIME_TEXT]; /* generatedAt */
	struct policy_file annotations;
	struct compile_server servers[COMPILE_MAX_SERVERS];
	unsigned nservers;
	/* The servers that have annotations; refresh-lists has no others. */
	struct compile_server annotated[COMPILE_MAX_SERVERS];
	unsigned nannotated;
	const struct value *lists; /* resolved: name -> dynamic list */
	struct compile_box *box;
	int log;  /* llm-interactions.jsonl */
	int lock; /* held as long as the process lives */
	unsigned hits, misses;
};

/* A person or a script has to do something before a policy is in force. */
#define COMPILE_WAITS 2

/* open.c */
/*
 * Find the directories, take the lock and read the clock. Returns 0, or -1
 * with the fault set.
 */
int compile_open(struct compile *, struct icctl *, const struct compile_opts *,
    struct fault *);
void compile_close(struct compile *);
/* Read the constitution. Returns 0, or -1 with the fault set. */
int compile_constitution(struct compile *, struct fault *);
/* Check that the constitution is still the one that was read. */
int compile_unchanged(const struct compile *, struct fault *);
/*
 * Read the annotations that the policy is made with, and name its servers.
 * Returns 0, or -1 with the fault set.
 */
int compile_annotations(struct compile *, struct fault *);
struct compile_server *compile_server(struct compile *, struct span name);
/* Returns the annotation of a tool, or NULL. */
const struct value *compile_tool(const struct compile_server *, struct span);

/* place.c */
#define PLACE_STATUS "status.json"

/* The directory of a policy, and the constitution that it is made from. */
struct compile_place {
	char dir[PATH_MAX], constitution[PATH_MAX];
	struct persona persona;
};

/*
 * Set the directory and the constitution that --persona, --into or --task stand
 * for. The options then point into the place, which place_close() frees. Returns
 * 0, or -1 after it said why.
 */
int place_open(struct compile_place *, const struct icctl *, struct compile_opts *);
void place_close(struct compile_place *);
/* Write beside the drafts why they are not in force: "waits", "unverified". */
int place_status(const struct compile *, const char *status, struct fault *);

/* box.c */
/*
 * Start the session in which ic-compile runs. With a directory in `policy`, it
 * has the user's MCP servers, under that policy. Returns NULL with the fault
 * set.
 */
struct compile_box *box_start(
    const struct compile *, const char *policy, struct fault *);
/*
 * Send one step and collect the reply. Returns 0, or -1 with the fault set.
 */
int box_ask(
    struct compile_box *, struct span message, struct buf *reply, struct fault *);
void box_end(struct compile_box *);

/* ask.c */
struct ask_part {
	const char *name;
	struct span text;
};

struct ask {
	const char *prompt; /* NAME.txt and NAME.json */
	const struct ask_part *parts;
	unsigned nparts;
	/*
	 * Check what the schema cannot say. Returns 0, or -1 with the fault set
	 * to the place and the reason.
	 */
	int (*check)(void *arg, const struct value *reply, struct fault *);
	void *arg;
	/*
	 * The model may call tools of this server, in a session with the policy
	 * in this directory.
	 */
	struct span server;
	const char *policy;
};

/*
 * Ask the model, or take its earlier reply to the same question. Returns the
 * checked reply, which lives in the pool, or NULL with the fault set. `hash`
 * may be NULL.
 */
const struct value *compile_ask(
    struct compile *, const struct ask *, char hash[SHA256_HEX], struct fault *);

/* absent.c: Name the compiled servers that the user's sessions do not have. */
void absent_say(const struct compile *);

/* progress.c */
void progress_show(const struct ask *);
void progress_end(void);

/* text.c: texts in prompts, and texts of a model */
/*
 * Append text for a prompt, without control characters except for newlines, and
 * cut after `max` bytes.
 */
void quote_add(struct buf *, struct span text, size_t max);
/* Returns true if the text has no control, bidi or zero-width characters. */
bool text_plain(struct span text);
/* Returns true for [a-z][a-z0-9-]*. */
bool text_is_name(struct span);
/* Copy bytes into the pool. Ends the process without memory. */
struct span pool_text(struct compile *, struct span);
struct span pool_printf(struct compile *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Parse JSON that was composed here. Never returns NULL. */
const struct value *pool_json(struct compile *, struct span);

/* rules.c */
/*
 * Check rules and list definitions for a server, beyond the schema; rules of
 * earlier servers keep their names. Returns 0, or -1 with the fault set to the
 * place and the reason.
 */
int rules_check(const struct compile *, const struct compile_server *,
    const struct value *rules, const struct value *lists, struct fault *);
/* Check one rule at a place. */
int rules_check_one(const struct compile_server *, const struct value *rule,
    const struct value *lists, const char *place, struct fault *);
/* Returns the element with this "name", or NULL. */
const struct value *rules_named(const struct value *array, struct span name);

/* server.c */
/* Compose what a model is told about a server's tools. */
void server_describe(const struct compile_server *, struct buf *);
/* Say which servers the constitution is about. */
int server_prefilter(struct compile *, struct fault *);
/* Compile the rules of one server. */
int server_compile(struct compile *, struct compile_server *, struct fault *);

/* lists.c */
/*
 * Resolve every list that a rule refers to. `old` is the file that has its
 * earlier values and manual changes. Returns 0, or -1 with the fault set.
 */
int lists_resolve(struct compile *, const struct policy_file *old,
    struct fault *);
/*
 * values.c: Returns the reason why a value is no member of a list of this type,
 * or NULL.
 */
const char *list_value_bad(struct span type, struct span value);

/* scenarios.c */
int scenarios_make(struct compile *, struct compile_server *, struct fault *);
/* Append the two that are always there. */
void scenarios_put_fixed(struct buf *);

/* verify.c */
/*
 * Let policyd decide every scenario, a model judge, and rules be repaired.
 * Returns 0 if all is as the constitution wants, 1 if not, which was printed,
 * or -1 with the fault set.
 */
int verify_run(struct compile *, struct fault *);

/* repair.c */
/*
 * Ask for a patch of a server's rules. `failed` describes the scenarios;
 * `blamed` is an array of names of rules that may be changed.
 */
int repair_ask(struct compile *, struct compile_server *, struct span failed,
    const struct value *blamed, struct fault *);

/* artefact.c */
/* Compose the artefacts from what is in memory. */
void artefact_policy(struct compile *, struct buf *);
void artefact_lists(struct compile *, struct buf *);
void artefact_scenarios(struct compile *, struct buf *);
void artefact_server(
    struct compile *, const struct compile_server *, struct buf *);
/*
 * Write a file below `dir` at once, in readable form. A file that differs in
 * "generatedAt" alone stays as it is. Returns 0, or -1 with the fault set.
 */
int artefact_write(const struct compile *, const char *dir, const char *name,
    const struct buf *json, struct fault *);
/*
 * Write the other files of a policy as well, where no policy is in force in the
 * directory: one file is of no use alone.
 */
int artefact_rest(const struct compile *, const struct policy_set *,
    unsigned except, struct fault *);
/* Make a policy of what is in memory, for policyd. */
int artefact_set(struct compile *, struct policy_set *, struct fault *);

/* install.c */
/* Returns true if the file says the same as `now`, except for "generatedAt". */
bool artefact_same(const char *path, struct json_object *now);
/*
 * Put the pending files in force. Returns 0, or -1 with the fault set; then all
 * that was in force still is.
 */
int artefact_install(const struct compile *, struct fault *);

/* sets.c */
/*
 * Read the policy that is in force where the new one will be. Returns 0, or -1
 * with the fault set.
 */
int compile_old_set(struct compile *, struct policy_set *old, struct fault *);
/*
 * Read the new policy: pending files, else those in force, which are named in
 * the options. Returns 0, or -1 with the fault set.
 */
int compile_new_set(const struct compile *, struct policy_opts *,
    struct policy_set *new, struct fault *);

/* grants.c */
/*
 * Write what `new` allows and `old` does not, for a person. Returns the number
 * of such grants, or -1 with the fault set.
 */
int grants_new(struct compile *, const struct policy_set *old,
    const struct policy_set *new, struct buf *statement, struct fault *);

/* recorded.c */
/* Check that the log of --audit is there. Returns 0, or -1 with the fault set. */
int recorded_check(const struct compile *, struct fault *);
/*
 * Print the recorded calls that the new policy decides differently: those of
 * --audit, or of the newest sessions. Returns 0, or -1 after an error was
 * reported or with the fault set.
 */
int recorded_show(struct compile *, const struct policy_set *old,
    const struct policy_set *new, struct fault *);

/* again.c */
/* Append "COMMAND OPTIONS", which does the same again, and a NUL. */
void again_put(const struct compile *, const char *command, struct buf *);

/* consent.c */
/*
 * Show a statement, below its title, and get a yes for it: on the terminal, or
 * by --accept with its digest. `again` is the command that asks for it again.
 * Returns 0, or COMPILE_WAITS if there is none.
 */
int consent_get(struct compile *, const char *title, const struct buf *statement,
    const struct policy_set *new, const char *again);

#endif
