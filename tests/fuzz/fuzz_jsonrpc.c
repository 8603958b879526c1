/* SPDX-License-Identifier: ISC */
/*
 * The JSON-RPC envelope on arbitrary bytes, cut into lines as from a stream:
 * every line is classified as exactly one kind, and the answer to it is one
 * line that the strict reader accepts.
 */
#include "mcp-proxyd/mcp/jsonrpc.h"
#include "mcp-proxyd/mcp/lines.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
require(bool good)
{
	if (!good)
		abort();
}

/* An answer is one line of JSON with the id of its request. */
static void
check_answer(struct value_pool *pool, const struct jsonrpc_id *id,
    struct span text, bool failed)
{
	struct value_pool *other;
	struct jsonrpc back;

	require(!failed && text.len != 0 && text.p[text.len - 1] == '\n');
	require(memchr(text.p, '\n', text.len) == text.p + text.len - 1);
	if ((other = value_pool_new(1 << 20)) == NULL)
		return;
	jsonrpc_read(other, text, &back);
	require(back.kind == JSONRPC_ERROR || back.kind == JSONRPC_RESULT);
	require(jsonrpc_id_eq(&back.id, id));
	value_pool_free(other);
}

static void
check_line(struct value_pool *pool, struct span line)
{
	struct jsonrpc m;
	uint64_t found;
	struct buf b;
	int64_t id;

	value_pool_reset(pool);
	jsonrpc_read(pool, line, &m);
	if (jsonrpc_find_id(line, &found) == 0 && m.kind == JSONRPC_RESULT &&
	    m.rid != NULL && value_int(m.rid, 0, INT64_MAX, &id) == 0)
		require(found == (uint64_t)id);
	buf_init(&b, 1 << 20);
	switch (m.kind) {
	case JSONRPC_BAD:
		require(m.why[0] != '\0');
		for (const char *p = m.why; *p != '\0'; p++)
			require(*p >= 0x20 && *p < 0x7f);
		(void)jsonrpc_add_error(&b, &m.id, m.code, span_str(m.why));
		check_answer(pool, &m.id, buf_span(&b), b.failed);
		break;
	case JSONRPC_REQUEST:
		require(m.rid != NULL && m.id.len != 0);
		(void)jsonrpc_add_text(&b, &m.id, m.method, true);
		check_answer(pool, &m.id, buf_span(&b), b.failed);
		break;
	case JSONRPC_NOTIFICATION:
		require(m.rid == NULL);
		break;
	case JSONRPC_RESULT:
		require(m.rid != NULL && m.result != NULL);
		break;
	case JSONRPC_ERROR:
		require(m.message.p != NULL);
		break;
	}
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct value_pool *pool;
	struct lines lines;
	struct span line;
	uint8_t *room;
	size_t n, step;

	if (size == 0 || (pool = value_pool_new(4U << 20)) == NULL)
		return 0;
	/* The first byte is the size of the pieces. */
	step = (size_t)data[0] + 1;
	data++;
	size--;
	lines_init(&lines, 4096);
	for (; size != 0; data += n, size -= n) {
		n = size < step ? size : step;
		if ((room = lines_room(&lines)) == NULL)
			break;
		memcpy(room, data, n);
		lines_filled(&lines, n);
		while (lines_next(&lines, &line) == LINES_ONE)
			check_line(pool, line);
		if (lines_rest(&lines) > 4096)
			break;
		lines_done(&lines);
	}
	lines_free(&lines);
	value_pool_free(pool);
	return 0;
}
