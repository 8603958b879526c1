/* SPDX-License-Identifier: ISC */
/*
 * Names of tools.  Servers' names come from the user, tools' names from
 * servers, checked by policyd.  The hash is no secret and protects nothing: a
 * server that finds two names with one hash loses the second.
 */
#include "common/tool_name.h"

#include <stdio.h>

#define HASH_LETTERS 6U

/* FNV-1a. */
static uint64_t
hash_add(uint64_t hash, struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		hash = (hash ^ s.p[i]) * 0x100000001b3ULL;
	return hash;
}

static void
hash_write(uint64_t hash, char dst[HASH_LETTERS + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";

	hash ^= hash >> 32;
	for (unsigned i = 0; i < HASH_LETTERS; i++, hash >>= 5)
		dst[i] = letters[hash & 31];
	dst[HASH_LETTERS] = '\0';
}

static bool
is_plain(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '.')
			return false;
	return true;
}

/* Write at most `max` letters of the name: its beginning, "_" and the hash. */
static size_t
shorten(struct span name, uint64_t hash, size_t max, char *dst)
{
	size_t n = max - HASH_LETTERS - 1;

	if (n > name.len)
		n = name.len;
	for (size_t i = 0; i < n; i++)
		dst[i] = name.p[i] == '.' ? '_' : (char)name.p[i];
	dst[n] = '_';
	hash_write(hash, dst + n + 1);
	return n + 1 + HASH_LETTERS;
}

size_t
tool_name_server(struct span server, char dst[TOOL_SERVER_SHOWN + 1])
{
	if (server.len > TOOL_SERVER_SHOWN)
		return shorten(server, hash_add(0xcbf29ce484222325ULL, server),
		    TOOL_SERVER_SHOWN, dst);
	memcpy(dst, server.p, server.len);
	dst[server.len] = '\0';
	return server.len;
}

size_t
tool_name_show(
    struct span server, struct span tool, char dst[TOOL_NAME_SHOWN + 1])
{
	uint64_t hash = hash_add(0xcbf29ce484222325ULL, server);
	size_t at;

	if (is_plain(tool) && server.len < TOOL_NAME_SHOWN &&
	    server.len + 2 + tool.len <= TOOL_NAME_SHOWN) {
		at = server.len + 2;
		memcpy(dst, server.p, server.len);
		memcpy(dst + server.len, "__", 2);
		memcpy(dst + at, tool.p, tool.len);
		dst[at + tool.len] = '\0';
		return at;
	}
	hash = hash_add(hash_add(hash, SPAN("\n")), tool);
	at = tool_name_server(server, dst);
	memcpy(dst + at, "__", 2);
	at += 2;
	(void)shorten(tool, hash, TOOL_NAME_SHOWN - at, dst + at);
	return at;
}
