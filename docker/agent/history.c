/* SPDX-License-Identifier: ISC */
/*
 * The file is rewritten only to shorten it, under another name that is then
 * renamed.  It is read strictly; what follows a line that cannot be read is
 * dropped, for a conversation with a hole in it is refused by providers.
 */
#include "docker/agent/history.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/json/json.h"

#define HISTORY_DIR ".ic-agent"
#define HISTORY_LINE_MAX (40U << 20)
#define HISTORY_FILE_MAX (256U << 20)
#define HISTORY_POOL (64U << 20)
#define HISTORY_NODES 1000000U

static const char *const role_names[] = {"user", "assistant", "tool"};
static const char *const dialect_names[] = {
    "anthropic", "responses", "chat", "gemini"};

static void
put(struct buf *b, const char *name, const char *text)
{
	if (text == NULL)
		return;
	buf_printf(b, ",\"%s\":", name);
	if (utf8_valid(span_str(text)))
		json_write_string(b, span_str(text));
	else
		buf_adds(b, "\"?\"");
}

static void
line_compose(struct buf *b, const struct model_message *m, uint64_t tokens)
{
	buf_printf(b, "{\"role\":\"%s\"", role_names[m->role]);
	if (m->role == MODEL_ASSISTANT)
		buf_printf(b, ",\"tokens\":%llu", (unsigned long long)tokens);
	put(b, "text", m->text);
	put(b, "id", m->call_id);
	put(b, "name", m->call_name);
	if (m->is_error)
		buf_adds(b, ",\"error\":true");
	if (m->native != NULL) {
		put(b, "dialect", dialect_names[m->dialect]);
		put(b, "native", m->native);
	}
	for (size_t i = 0; i < m->ncalls; i++) {
		buf_adds(b, i == 0 ? ",\"calls\":[{" : ",{");
		buf_printf(b, "\"bad\":%s",
		    m->calls[i].args == NULL ? "true" : "false");
		put(b, "id", m->calls[i].id);
		put(b, "name", m->calls[i].name);
		put(b, "args", m->calls[i].args);
		buf_addc(b, '}');
	}
	buf_adds(b, m->ncalls != 0 ? "]}\n" : "}\n");
}

static int
line_write(int fd, const struct model_message *m, uint64_t tokens)
{
	struct buf b;
	int r;

	buf_init(&b, HISTORY_LINE_MAX);
	line_compose(&b, m, tokens);
	r = buf_check(&b) == 0 ? span_write(fd, buf_span(&b)) : -1;
	buf_free(&b);
	return r;
}

static char *
text_of(const struct value *v, const char *name)
{
	struct span s = value_str(v, name);

	return s.p != NULL ? span_dup(s) : NULL;
}

static int
index_of(const char *const *names, size_t n, struct span s)
{
	for (size_t i = 0; i < n; i++)
		if (span_is(s, names[i]))
			return (int)i;
	return -1;
}

static bool
calls_read(const struct value *list, struct model_message *m)
{
	struct model_call *c;

	if (list == NULL)
		return true;
	if (list->type != VALUE_ARRAY || list->count > MODEL_CALLS_MAX ||
	    (m->calls = calloc(list->count + 1U, sizeof(*m->calls))) == NULL)
		return false;
	for (const struct value *v = list->child; v != NULL; v = v->next) {
		c = &m->calls[m->ncalls++];
		c->id = text_of(v, "id");
		c->name = text_of(v, "name");
		c->args = text_of(v, "args");
		if (c->id == NULL || c->name == NULL)
			return false;
	}
	return true;
}

/* Returns true if the line is a message, which is then in `*m`. */
static bool
line_read(struct value_pool *pool, struct span line, struct model_message *m,
    uint64_t *tokens)
{
	int64_t n;
	const struct value *v;
	int role, dialect;

	*m = (struct model_message){0};
	value_pool_reset(pool);
	v = json_read_large(pool, line, HISTORY_NODES, HISTORY_LINE_MAX, NULL);
	role = index_of(role_names, nitems(role_names), value_str(v, "role"));
	if (role == -1)
		return false;
	m->role = (enum model_role)role;
	m->text = text_of(v, "text");
	m->call_id = text_of(v, "id");
	m->call_name = text_of(v, "name");
	m->is_error = value_bool(v, "error", false);
	if (value_int(value_get(v, "tokens"), 0, INT32_MAX, &n) == 0)
		*tokens = (uint64_t)n;
	dialect = index_of(
	    dialect_names, nitems(dialect_names), value_str(v, "dialect"));
	if (dialect != -1) {
		m->dialect = (enum model_dialect)dialect;
		m->native = text_of(v, "native");
	}
	if (!calls_read(value_get(v, "calls"), m) ||
	    (m->role == MODEL_TOOL && m->call_id == NULL)) {
		model_message_free(m);
		return false;
	}
	return true;
}

/* Take the message over.  Returns 0; or -1, and frees it. */
static int
keep(struct history *h, struct model_message *m)
{
	struct model_message *more;
	size_t room;

	if (h->n == h->room) {
		room = h->room != 0 ? h->room * 2 : 64;
		more = h->n < HISTORY_MESSAGES_MAX
			   ? reallocarray(h->messages, room, sizeof(*more))
			   : NULL;
		if (more == NULL) {
			model_message_free(m);
			return -1;
		}
		h->messages = more;
		h->room = room;
	}
	h->messages[h->n++] = *m;
	*m = (struct model_message){0};
	return 0;
}

/* Read the file, and cut it where it cannot be read. */
static int
file_read(struct history *h)
{
	struct model_message m;
	struct value_pool *pool;
	struct span rest, line;
	struct stat st;
	off_t good = 0;
	char *text = NULL;
	int r = -1;

	if (fstat(h->fd, &st) == -1)
		return -1;
	if (st.st_size > HISTORY_FILE_MAX) {
		errno = EFBIG;
		return -1;
	}
	pool = value_pool_new(HISTORY_POOL);
	text = malloc((size_t)st.st_size + 1);
	if (pool == NULL || text == NULL ||
	    pread(h->fd, text, (size_t)st.st_size, 0) != st.st_size)
		goto out;
	rest = span_of(text, (size_t)st.st_size);
	while (rest.len != 0 && memchr(rest.p, '\n', rest.len) != NULL &&
	       span_line(&rest, &line)) {
		if (!line_read(pool, line, &m, &h->tokens) || keep(h, &m) == -1)
			break;
		good = st.st_size - (off_t)rest.len;
	}
	r = good == st.st_size ? 0 : ftruncate(h->fd, good);
out:
	value_pool_free(pool);
	free(text);
	return r;
}

static bool
name_ok(const char *name)
{
	size_t n = strlen(name);

	return n != 0 && n <= HISTORY_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
			    "XYZ0123456789-") == n;
}

static int
dir_open(const char *home)
{
	int fd, dir;

	if ((fd = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return -1;
	if (mkdirat(fd, HISTORY_DIR, 0700) == -1 && errno != EEXIST)
		dir = -1;
	else
		dir = openat(fd, HISTORY_DIR,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(fd);
	return dir;
}

long
history_open(struct history *h, const char *home, const char *name)
{
	uint64_t random;

	*h = (struct history){.dir = -1, .fd = -1};
	if (name != NULL && !name_ok(name)) {
		errno = EINVAL;
		return -1;
	}
	if (name == NULL) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(h->name, sizeof(h->name), "%016llx.jsonl",
		    (unsigned long long)random);
	} else {
		snprintf(h->name, sizeof(h->name), "%s.jsonl", name);
	}
	if ((h->dir = dir_open(home)) == -1)
		return -1;
	h->fd = openat(h->dir, h->name,
	    O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (h->fd == -1 || file_read(h) == -1)
		return -1;
	return (long)h->n;
}

bool
history_latest(const char *home, char name[HISTORY_NAME_MAX + 1])
{
	struct timespec best = {0};
	struct dirent *e;
	struct stat st;
	size_t len;
	DIR *d;
	int fd;

	name[0] = '\0';
	if ((fd = dir_open(home)) == -1)
		return false;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return false;
	}
	while ((e = readdir(d)) != NULL) {
		len = strlen(e->d_name);
		if (len <= 6 || len > HISTORY_NAME_MAX + 6 ||
		    strcmp(e->d_name + len - 6, ".jsonl") != 0 ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
		    !S_ISREG(st.st_mode) || st.st_size == 0)
			continue;
		if (st.st_mtim.tv_sec > best.tv_sec ||
		    (st.st_mtim.tv_sec == best.tv_sec &&
			st.st_mtim.tv_nsec > best.tv_nsec)) {
			best = st.st_mtim;
			snprintf(name, HISTORY_NAME_MAX + 1, "%.*s",
			    (int)(len - 6), e->d_name);
		}
	}
	closedir(d);
	return name[0] != '\0' && name_ok(name);
}

void
history_close(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		model_message_free(&h->messages[i]);
	free(h->messages);
	if (h->fd != -1)
		close(h->fd);
	if (h->dir != -1)
		close(h->dir);
	*h = (struct history){.dir = -1, .fd = -1};
}

int
history_add(struct history *h, struct model_message *m)
{
	if (h->fd != -1 && !h->lost && line_write(h->fd, m, h->tokens) == -1)
		h->lost = true;
	return keep(h, m);
}

int
history_add_text(struct history *h, enum model_role role, const char *text)
{
	struct model_message m = {.role = role, .text = strdup(text)};

	if (m.text == NULL)
		return -1;
	return history_add(h, &m);
}

static bool
answered(const struct history *h, size_t from, const char *id)
{
	for (size_t i = from; i < h->n && h->messages[i].role == MODEL_TOOL;
	     i++)
		if (h->messages[i].call_id != NULL &&
		    strcmp(h->messages[i].call_id, id) == 0)
			return true;
	return false;
}

/* Only the last answer can have calls without results. */
size_t
history_mend(struct history *h, const char *text)
{
	const struct model_call *c;
	struct model_message m;
	size_t at = h->n, made = 0;

	while (at > 0 && h->messages[at - 1].role == MODEL_TOOL)
		at--;
	if (at == 0 || h->messages[at - 1].role != MODEL_ASSISTANT)
		return 0;
	for (size_t i = 0; i < h->messages[at - 1].ncalls; i++) {
		c = &h->messages[at - 1].calls[i];
		if (answered(h, at, c->id))
			continue;
		m = (struct model_message){.role = MODEL_TOOL,
		    .is_error = true,
		    .text = strdup(text),
		    .call_id = strdup(c->id),
		    .call_name = strdup(c->name)};
		made += history_add(h, &m) == 0;
	}
	return made;
}

/* Write all messages to a new file, and let it take the other's place. */
static int
file_rewrite(struct history *h)
{
	char name[sizeof(h->name) + 8];
	int fd;

	if (h->dir == -1)
		return 0;
	snprintf(name, sizeof(name), "%s.new", h->name);
	fd = openat(h->dir, name,
	    O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd == -1)
		return -1;
	for (size_t i = 0; i < h->n; i++) {
		if (line_write(fd, &h->messages[i], h->tokens) == -1)
			goto failed;
	}
	if (renameat(h->dir, name, h->dir, h->name) == -1)
		goto failed;
	close(h->fd);
	h->fd = fd;
	return 0;
failed:
	unlinkat(h->dir, name, 0);
	close(fd);
	return -1;
}

int
history_replace(struct history *h, size_t n, const char *text)
{
	char *copy = strdup(text);

	if (n == 0 || copy == NULL) {
		free(copy);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		model_message_free(&h->messages[i]);
	memmove(h->messages + 1, h->messages + n,
	    (h->n - n) * sizeof(h->messages[0]));
	h->n -= n - 1;
	h->messages[0] =
	    (struct model_message){.role = MODEL_USER, .text = copy};
	if (file_rewrite(h) == -1)
		h->lost = true;
	return 0;
}
