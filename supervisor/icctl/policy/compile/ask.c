/* SPDX-License-Identifier: ISC */
/*
 * One question to the model. The reply is read strictly, must fit the schema of
 * the question, and is checked by whoever asks; one that is refused is asked
 * for once more, with the reason. Replies that were accepted are kept by the
 * hash of everything that the model was told, and are checked like fresh ones
 * when they are used again. A reply is kept before it is recorded, and used
 * after both.
 */
#include "icctl/policy/compile/compile.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/json/json.h"
#include "common/visible.h"
#include "icctl/schema/schema.h"

#define ASK_REPLY (1U << 20)
#define ASK_FILE (1U << 20)
#define CACHE_NEW ".new" /* while the log does not have it yet */

/* The texts of a question. */
struct asked {
	struct policy_file prompt, schema;
	const struct value *want; /* the schema, in the pool */
	struct buf message;
};

static void
asked_free(struct asked *a)
{
	free(a->prompt.path);
	free(a->prompt.text);
	free(a->schema.path);
	free(a->schema.text);
	buf_free(&a->message);
}

/* Read the prompt and its schema. */
static int
asked_open(struct compile *c, struct asked *a, const char *name,
    struct fault *fault)
{
	char path[PATH_MAX];
	struct schema_fail bad;

	memset(a, 0, sizeof(*a));
	buf_init(&a->message, ASK_FILE);
	snprintf(path, sizeof(path), "%.4000s/prompts/%s.txt", c->datadir, name);
	if (policy_file_read(&a->prompt, path, fault) == -1)
		return -1;
	snprintf(
	    path, sizeof(path), "%.4000s/prompts/%s.json", c->datadir, name);
	if (policy_file_read(&a->schema, path, fault) == -1)
		return -1;
	a->want = json_read(c->pool,
	    pool_text(c, span_of(a->schema.text, a->schema.len)), NULL);
	if (a->want == NULL || schema_check(a->want, &bad) == -1)
		return fault_set(fault, "%s: is no schema", path);
	return 0;
}

static void
put_part(struct buf *b, const char *name, struct span text)
{
	buf_adds(b, ",{\"name\":");
	(void)json_write_string(b, span_str(name));
	buf_adds(b, ",\"text\":");
	(void)json_write_string(b, text);
	buf_addc(b, '}');
}

/* Compose the step; `refused` says why the last reply was, or is NULL. */
static int
asked_compose(struct asked *a, const struct ask *q, const struct fault *refused,
    struct fault *fault)
{
	struct buf *b = &a->message, schema;

	buf_reset(b, ASK_FILE);
	buf_adds(b, "{\"step\":");
	(void)json_write_string(b, span_str(q->prompt));
	if (q->server.p != NULL) {
		buf_adds(b, ",\"server\":");
		(void)json_write_string(b, q->server);
	}
	buf_adds(b, ",\"prompt\":");
	(void)json_write_string(b, span_of(a->prompt.text, a->prompt.len));
	buf_init(&schema, ASK_FILE);
	(void)json_write(&schema, a->want);
	buf_adds(b, ",\"parts\":[{\"name\":\"schema of the answer\",\"text\":");
	(void)json_write_string(b, buf_span(&schema));
	buf_addc(b, '}');
	buf_free(&schema);
	for (unsigned i = 0; i < q->nparts; i++)
		put_part(b, q->parts[i].name, q->parts[i].text);
	if (refused != NULL)
		put_part(b, "why the previous answer was refused",
		    span_str(refused->text));
	buf_adds(b, "]}");
	if (b->failed)
		return fault_set(fault,
		    "the question about %s is larger than 1 MiB: shorten the "
		    "constitution, or compile one --server at a time",
		    q->prompt);
	return 0;
}

static void
asked_hash(const struct asked *a, const char *model, char hash[SHA256_HEX])
{
	uint8_t sum[SHA256_SIZE];
	const struct span s[] = {buf_span(&a->message), SPAN("\n"),
	    span_str(model == NULL ? "" : model)};

	sha256_spans(s, nitems(s), sum);
	sha256_hex(sum, hash);
}

/* Set the fault to a place in a reply and what is wrong there. */
static int
asked_bad(const char *prompt, const char *place, const char *why,
    struct fault *fault)
{
	return fault_set(fault, "the model's reply to \"%s\" was refused: %s%s%s",
	    prompt, place, place[0] != '\0' ? ": " : "", why);
}

/* Judge a reply. Returns it, in the pool, or NULL with the fault set. */
static const struct value *
asked_judge(struct compile *c, const struct asked *a, const struct ask *q,
    struct span reply, struct fault *fault)
{
	const struct value *v;
	struct schema_fail bad = {0};
	struct json_fail fail;
	struct fault why = {""};
	char at[32];

	if (reply.len == 0) {
		asked_bad(q->prompt, "", "it is empty", fault);
		return NULL;
	}
	v = json_read(c->pool, pool_text(c, reply), &fail);
	if (v == NULL) {
		snprintf(at, sizeof(at), "byte %zu", fail.at);
		asked_bad(q->prompt, at, json_strerror(fail.error), fault);
		return NULL;
	}
	if (schema_match(a->want, v, &bad) == -1) {
		asked_bad(q->prompt, bad.path, bad.text, fault);
		return NULL;
	}
	if (q->check != NULL && q->check(q->arg, v, &why) == -1) {
		asked_bad(q->prompt, "", why.text, fault);
		return NULL;
	}
	return v;
}

/* Append a line to llm-interactions.jsonl, or nothing. */
static int
asked_append(const struct compile *c, struct span line, struct fault *fault)
{
	off_t before = lseek(c->log, 0, SEEK_END);
	int rv;

	if (span_write(c->log, line) == 0)
		return 0;
	rv = fault_errno(fault, "%s/llm-interactions.jsonl", c->dir);
	/* Without the part of it that there was room for. */
	if (before != -1 && ftruncate(c->log, before) == -1)
		return -1;
	return rv;
}

/* Append a record of a question to llm-interactions.jsonl. */
static int
asked_log(const struct compile *c, const struct asked *a, const struct ask *q,
    const char *hash, bool cached, struct span reply, const char *refused,
    struct fault *fault)
{
	struct buf b;
	int rv;

	buf_init(&b, (size_t)8 << 20);
	buf_printf(&b, "{\"timestamp\":\"%s\",\"stepName\":\"%s\","
		       "\"inputHash\":\"%s\",\"cached\":%s,",
	    c->now, q->prompt, hash, cached ? "true" : "false");
	if (!cached) {
		buf_adds(&b, "\"request\":");
		buf_addspan(&b, buf_span(&a->message));
		buf_addc(&b, ',');
	}
	buf_adds(&b, "\"reply\":");
	(void)json_write_string(&b, reply);
	if (refused != NULL) {
		buf_adds(&b, ",\"refused\":");
		(void)json_write_string(&b, span_str(refused));
	}
	buf_adds(&b, "}\n");
	rv = b.failed ? 0 : asked_append(c, buf_span(&b), fault);
	buf_free(&b);
	return rv;
}

static void
cache_path(const struct compile *c, const char *hash, const char *suffix,
    char dst[PATH_MAX])
{
	snprintf(dst, PATH_MAX, "%.4000s/%s.json%s", c->cache, hash, suffix);
}

/*
 * Keep a reply, under a name that says that the log does not have it yet: a
 * crash, or a disk without room for the log, must not cost the reply.
 */
static int
cache_keep(const struct compile *c, const char *hash, struct span reply,
    struct fault *fault)
{
	char path[PATH_MAX];

	cache_path(c, hash, CACHE_NEW, path);
	if (jsonfile_replace(path, reply) == -1)
		return fault_errno(fault, "%s", path);
	return 0;
}

/* Give a kept reply its lasting name: the log has it. */
static int
cache_settle(const struct compile *c, const char *hash, struct fault *fault)
{
	char from[PATH_MAX], to[PATH_MAX];

	cache_path(c, hash, CACHE_NEW, from);
	cache_path(c, hash, "", to);
	if (rename(from, to) == -1)
		return fault_errno(fault, "%s", to);
	return 0;
}

/*
 * Take the reply from one file of the cache, if it is there and still good.
 * Returns it, or NULL; `*lost` with the fault set if it could not be recorded.
 */
static const struct value *
cache_read(struct compile *c, const struct asked *a, const struct ask *q,
    const char *hash, const char *suffix, bool *lost, struct fault *fault)
{
	const bool logged = suffix[0] == '\0';
	const struct value *v = NULL;
	struct policy_file f;
	char path[PATH_MAX];
	struct fault ignored;

	cache_path(c, hash, suffix, path);
	if (access(path, F_OK) == -1 ||
	    policy_file_read(&f, path, &ignored) == -1)
		return NULL;
	v = asked_judge(c, a, q, span_of(f.text, f.len), &ignored);
	if (v == NULL) {
		(void)unlink(path);
	} else if (asked_log(c, a, q, hash, logged, span_of(f.text, f.len),
		       NULL, fault) == -1 ||
	    (!logged && cache_settle(c, hash, fault) == -1)) {
		*lost = true;
		v = NULL;
	}
	free(f.path);
	free(f.text);
	return v;
}

/* The same, of whichever file has it; none if the cache is not to be read. */
static const struct value *
cache_take(struct compile *c, const struct asked *a, const struct ask *q,
    const char *hash, bool *lost, struct fault *fault)
{
	const struct value *v;

	*lost = false;
	if (c->o.no_cache)
		return NULL;
	v = cache_read(c, a, q, hash, CACHE_NEW, lost, fault);
	if (v == NULL && !*lost)
		v = cache_read(c, a, q, hash, "", lost, fault);
	return v;
}

/* Ask once. Returns the checked reply, or NULL; `*lost` if there was none. */
static const struct value *
asked_once(struct compile *c, struct asked *a, const struct ask *q,
    const char *hash, bool *lost, struct fault *fault)
{
	struct compile_box *box = c->box;
	const struct value *v = NULL;
	struct buf reply;

	*lost = true;
	buf_init(&reply, ASK_REPLY);
	progress_show(q);
	if (q->policy != NULL)
		box = box_start(c, q->policy, fault);
	else if (box == NULL)
		box = c->box = box_start(c, NULL, fault);
	if (box != NULL &&
	    box_ask(box, buf_span(&a->message), &reply, fault) == 0)
		*lost = false;
	progress_end();
	if (*lost)
		goto out;
	v = asked_judge(c, a, q, buf_span(&reply), fault);
	if ((v != NULL &&
		cache_keep(c, hash, buf_span(&reply), fault) == -1) ||
	    asked_log(c, a, q, hash, false, buf_span(&reply),
		v == NULL ? fault->text : NULL, fault) == -1 ||
	    (v != NULL && cache_settle(c, hash, fault) == -1)) {
		*lost = true;
		v = NULL;
	}
out:
	if (q->policy != NULL)
		box_end(box);
	buf_free(&reply);
	return v;
}

const struct value *
compile_ask(struct compile *c, const struct ask *q, char hash[SHA256_HEX],
    struct fault *fault)
{
	char own[SHA256_HEX], *key = hash != NULL ? hash : own;
	const struct value *v = NULL;
	struct fault refused;
	struct asked a;
	bool lost;

	if (asked_open(c, &a, q->prompt, fault) == -1 ||
	    asked_compose(&a, q, NULL, fault) == -1)
		goto out;
	asked_hash(&a, c->o.model, key);
	if ((v = cache_take(c, &a, q, key, &lost, fault)) != NULL) {
		c->hits++;
		goto out;
	}
	if (lost)
		goto out;
	c->misses++;
	v = asked_once(c, &a, q, key, &lost, fault);
	if (v != NULL || lost)
		goto out;
	refused = *fault;
	if (asked_compose(&a, q, &refused, fault) == 0)
		v = asked_once(c, &a, q, key, &lost, fault);
out:
	asked_free(&a);
	return v;
}
