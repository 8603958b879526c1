/* SPDX-License-Identifier: ISC */
/*
 * The login of a remote MCP server in words, for `icctl status`, `watch` and
 * the page: how long its token lasts, and why it was not renewed.
 */
#include "icctl/token.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_get.h"
#include "icctl/icctl.h"

const char *
icctl_token(json_object *row, char *dst, size_t cap)
{
	json_object *failure = get_member(row, "failure");
	int64_t expires = icctl_number(row, "expires"),
		left = expires - (int64_t)time(NULL);
	char span[32], ago[32];

	dst[0] = '\0';
	if (expires != 0 && left > 0)
		snprintf(dst, cap, "token for %s",
		    icctl_span(left * 1000, span, sizeof(span)));
	else if (expires != 0)
		snprintf(dst, cap, "token expired %s ago",
		    icctl_span(-left * 1000, span, sizeof(span)));
	if (get_true(row, "refused"))
		snprintf(dst, cap, "needs a login: icctl mcp login %s",
		    icctl_text(row, "name"));
	if (failure == NULL)
		return dst;
	if (dst[0] != '\0')
		strlcat(dst, "; ", cap);
	snprintf(dst + strlen(dst), cap - strlen(dst), "failed %s ago: %s",
	    icctl_span(icctl_number(failure, "ago_ms"), ago, sizeof(ago)),
	    icctl_text(failure, "text"));
	return dst;
}
