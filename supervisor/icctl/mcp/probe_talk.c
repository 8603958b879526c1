/* SPDX-License-Identifier: ISC */
/*
 * Asks a probed server for its tools, and calls one, over proxy.sock as an
 * agent does: mcp-proxyd composes the answers.
 */
#include "icctl/mcp/probe_priv.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"

int
probe_left(const struct probe *p)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - p->began.tv_sec) * 1000 +
	     (now.tv_nsec - p->began.tv_nsec) / 1000000;
	return ms < PROBE_MS ? (int)(PROBE_MS - ms) : 0;
}

int
probe_line(struct probe *p, int fd, struct buf *b)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	const uint8_t *end;
	size_t len;
	ssize_t n;

	buf_reset(b, PROBE_LINE);
	for (;;) {
		len = p->have - p->taken;
		end = memchr(p->in + p->taken, '\n', len);
		if (end != NULL)
			len = (size_t)(end - (p->in + p->taken));
		if (len != 0)
			buf_add(b, p->in + p->taken, len);
		if (b->failed)
			return -1;
		p->taken += len + (end != NULL);
		if (end != NULL)
			return 0;
		if (poll(&pfd, 1, probe_left(p)) != 1 ||
		    (n = read(fd, p->in, sizeof(p->in))) <= 0)
			return -1;
		p->have = (size_t)n;
		p->taken = 0;
	}
}

int
probe_connect(struct probe *p, struct fault *fault)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	snprintf(sun.sun_path, sizeof(sun.sun_path),
	    "%s/session/sockets/proxy.sock", p->dir);
	p->have = p->taken = 0;
	p->sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->sock == -1 ||
	    connect(p->sock, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		return fault_errno(fault, "%s", sun.sun_path);
	return 0;
}

/*
 * Read until the answer with this id. Returns all of it, or NULL with the fault
 * set.
 */
static struct json_object *
probe_answer(struct probe *p, int wanted, struct fault *fault)
{
	struct json_object *reply = NULL, *id;
	struct buf b;

	buf_init(&b, PROBE_LINE);
	while (probe_line(p, p->sock, &b) == 0) {
		reply = jsonfile_parse("the answer", buf_span(&b), fault);
		if (reply == NULL)
			break;
		id = get_typed(reply, "id", json_type_int);
		if (id != NULL && json_object_get_int(id) == wanted)
			break;
		json_object_put(reply);
		reply = NULL;
	}
	buf_free(&b);
	return reply;
}

struct json_object *
probe_tools(struct probe *p, const char *name, struct fault *fault)
{
	static const char hello[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
	    "\"params\":{\"protocolVersion\":\"2025-06-18\","
	    "\"capabilities\":{},\"clientInfo\":{\"name\":\"icctl\","
	    "\"version\":\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":"
	    "\"notifications/initialized\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"tools/list\"}\n";
	struct json_object *reply = NULL, *tools = NULL;

	if (send(p->sock, hello, sizeof(hello) - 1, MSG_NOSIGNAL) != -1)
		reply = probe_answer(p, 2, fault);
	tools = get_typed(get_typed(reply, "result", json_type_object), "tools",
	    json_type_array);
	json_object_get(tools);
	json_object_put(reply);
	if (tools == NULL)
		fault_set(fault, "%s did not list its tools in %d s", name,
		    PROBE_MS / 1000);
	return tools;
}

/* Returns the line that calls the tool. */
static struct json_object *
probe_request(const struct probe *p, const char *name)
{
	struct json_object *o = json_object_new_object(),
			   *params = json_object_new_object();
	char full[300];

	snprintf(full, sizeof(full), "%.64s__%.200s", name, p->how->call);
	put_str(o, "jsonrpc", "2.0");
	put_int(o, "id", 3);
	put_str(o, "method", "tools/call");
	put_str(params, "name", full);
	json_object_object_add(params, "arguments",
	    p->how->args != NULL ? json_object_get(p->how->args)
				 : json_object_new_object());
	json_object_object_add(o, "params", params);
	return o;
}

struct json_object *
probe_tool(struct probe *p, const char *name, struct fault *fault)
{
	struct json_object *o = probe_request(p, name), *reply = NULL, *answer;
	struct buf b;

	buf_init(&b, PROBE_LINE);
	buf_adds(&b, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	buf_addc(&b, '\n');
	json_object_put(o);
	if (!b.failed &&
	    send(p->sock, b.p, b.len, MSG_NOSIGNAL) == (ssize_t)b.len)
		reply = probe_answer(p, 3, fault);
	buf_free(&b);
	answer = get_member(reply, "result");
	if (answer == NULL)
		answer = get_member(reply, "error");
	json_object_get(answer);
	json_object_put(reply);
	if (answer == NULL)
		fault_set(
		    fault, "%s did not answer in %d s", name, PROBE_MS / 1000);
	return answer;
}
