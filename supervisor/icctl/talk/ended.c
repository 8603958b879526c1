/* SPDX-License-Identifier: ISC */
/* `icctl status` of a session that has ended: what its files say. */
#include "icctl/talk/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/plural.h"

void
talk_put_later(json_object *row, bool none)
{
	json_object *o, *list = NULL, *item;
	int64_t total;

	if (!json_object_object_get_ex(row, "runsLater", &o) ||
	    !json_object_object_get_ex(o, "files", &list))
		return;
	total = icctl_number(o, "total");
	if (total == 0 && !none)
		return;
	printf("%lld changed file%s may run on this machine later%s\n",
	    (long long)total, plural((uint64_t)total), total != 0 ? ":" : "");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		item = json_object_array_get_idx(list, i);
		fputs("  ", stdout);
		icctl_put_str(icctl_text(item, "path"));
		fputs(" (", stdout);
		icctl_put_str(icctl_text(item, "by"));
		puts(")");
	}
	if (total > (int64_t)json_object_array_length(list))
		puts("  and more that are not listed");
	if (json_object_object_get_ex(o, "whole", &item) &&
	    !json_object_get_boolean(item))
		puts("  the workspace is too large or too deep for this list "
		     "to be whole");
}

static void
ended_clone(json_object *row, const char *id)
{
	json_object *c;

	if (!json_object_object_get_ex(row, "clone", &c))
		return;
	printf("%-12s", "clone of");
	icctl_put_str(icctl_text(
	    c, icctl_text(c, "dir")[0] != '\0' ? "dir" : "url"));
	putchar('\n');
	if (!json_object_object_get_ex(c, "commits", NULL))
		printf("%-12snot counted; icctl diff %s\n", "to pull", id);
	else
		printf("%-12s%lld commit%s, %lld file%s in no commit; icctl "
		       "pull %s\n",
		    "to pull", (long long)icctl_number(c, "commits"),
		    plural((uint64_t)icctl_number(c, "commits")),
		    (long long)icctl_number(c, "files"),
		    plural((uint64_t)icctl_number(c, "files")), id);
}

bool
talk_ended(struct icctl *ctl)
{
	static const char *const rows[] = {
	    "dir", "state", "why", "agent", "workspace"};
	const char *id = strrchr(ctl->dir, '/');
	char path[ICCTL_PATH], until[ICCTL_UNTIL], *real;
	json_object *row;
	const char *text;
	int fd;

	if ((fd = icctl_dial(ctl->dir)) != -1) {
		close(fd);
		return false;
	}
	id = id == NULL ? ctl->dir : id + 1;
	/* The link of a session that died is still in run/. */
	real = realpath(ctl->dir, NULL);
	row = talk_row(real != NULL ? real : ctl->dir, id);
	free(real);
	if (row == NULL)
		return false;
	put_bool(row, "ok", true);
	if (ctl->json) {
		icctl_put_json(row);
		json_object_put(row);
		return true;
	}
	printf("%-12s%s\n", "session", id);
	for (size_t i = 0; i < nitems(rows); i++) {
		if ((text = icctl_text(row, rows[i]))[0] == '\0')
			continue;
		printf("%-12s", rows[i]);
		icctl_put_str(icctl_path(text, path));
		putchar('\n');
	}
	if (icctl_until(icctl_text(row, "quotaUntil"), until)[0] != '\0')
		printf("%-12sused up until %s\n", "quota", until);
	ended_clone(row, id);
	if (strcmp(icctl_text(row, "state"), "stopping") != 0 &&
	    icctl_text(row, "workspace")[0] != '\0')
		printf("%-12sicctl resume %s\n", "to go on", id);
	talk_put_later(row, true);
	json_object_put(row);
	return true;
}
