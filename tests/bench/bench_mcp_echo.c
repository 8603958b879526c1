/* SPDX-License-Identifier: ISC */
/*
 * A minimal MCP server on stdio, so that the path to it is measured: its tools,
 * read_file and echo, return their argument. Trusts its input to be well-formed
 * lines of JSON.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define ECHO_MAX_LINE (1U << 20)

static const char echo_tools[] =
    "{\"tools\":[{\"name\":\"read_file\",\"description\":\"Reads a file.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"path\":"
    "{\"type\":\"string\"},\"head\":{\"type\":\"number\"}},"
    "\"required\":[\"path\"]}},"
    "{\"name\":\"echo\",\"description\":\"Gives back its text.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":"
    "{\"type\":\"string\"}},\"required\":[\"text\"]}}]}";

static char echo_in[2 * ECHO_MAX_LINE];
static char echo_out[2 * ECHO_MAX_LINE];
static size_t echo_len;

static void
echo_flush(void)
{
	size_t done = 0;
	ssize_t n;

	while (done < echo_len) {
		n = write(STDOUT_FILENO, echo_out + done, echo_len - done);
		if (n == -1)
			err(1, "write");
		done += (size_t)n;
	}
	echo_len = 0;
}

static void
echo_put(const char *p, size_t len)
{
	if (len > sizeof(echo_out) - echo_len)
		echo_flush();
	if (len > sizeof(echo_out))
		errx(1, "too long a line");
	memcpy(echo_out + echo_len, p, len);
	echo_len += len;
}

static void
echo_text(const char *text)
{
	echo_put(text, strlen(text));
}

static void
echo_initialize(struct bench_slice params)
{
	struct bench_slice version;

	version = bench_json_member(params, "protocolVersion");
	echo_text("{\"protocolVersion\":");
	if (version.p != NULL)
		echo_put(version.p, version.len);
	else
		echo_text("\"2025-06-18\"");
	echo_text(",\"capabilities\":{\"tools\":{}},\"serverInfo\":"
		  "{\"name\":\"bench\",\"version\":\"1\"}}");
}

static void
echo_call(struct bench_slice params)
{
	struct bench_slice args, text;

	args = bench_json_member(params, "arguments");
	text = bench_json_member(args, "path");
	if (text.p == NULL)
		text = bench_json_member(args, "text");
	echo_text("{\"content\":[{\"type\":\"text\",\"text\":");
	if (text.p != NULL)
		echo_put(text.p, text.len);
	else
		echo_text("\"\"");
	echo_text("}]}");
}

static void
echo_line(struct bench_slice line)
{
	struct bench_slice id, method, params;

	id = bench_json_member(line, "id");
	method = bench_json_member(line, "method");
	if (id.p == NULL || method.p == NULL)
		return;
	params = bench_json_member(line, "params");
	echo_text("{\"jsonrpc\":\"2.0\",\"id\":");
	echo_put(id.p, id.len);
	if (bench_json_is(method, "\"tools/call\"")) {
		echo_text(",\"result\":");
		echo_call(params);
	} else if (bench_json_is(method, "\"tools/list\"")) {
		echo_text(",\"result\":");
		echo_text(echo_tools);
	} else if (bench_json_is(method, "\"initialize\"")) {
		echo_text(",\"result\":");
		echo_initialize(params);
	} else if (bench_json_is(method, "\"ping\"")) {
		echo_text(",\"result\":{}");
	} else {
		echo_text(",\"error\":{\"code\":-32601,"
			  "\"message\":\"no such method\"}");
	}
	echo_text("}\n");
}

int
main(void)
{
	const char *p, *end;
	size_t have = 0;
	ssize_t n;

	for (;;) {
		n = read(STDIN_FILENO, echo_in + have, sizeof(echo_in) - have);
		if (n == -1)
			err(1, "read");
		if (n == 0)
			return 0;
		have += (size_t)n;
		p = echo_in;
		while ((end = memchr(p, '\n', have - (size_t)(p - echo_in))) !=
		       NULL) {
			echo_line((struct bench_slice){p, (size_t)(end - p)});
			p = end + 1;
		}
		have -= (size_t)(p - echo_in);
		memmove(echo_in, p, have);
		if (have == sizeof(echo_in))
			errx(1, "too long a line");
		echo_flush();
	}
}
