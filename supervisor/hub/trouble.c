/* SPDX-License-Identifier: ISC */
/*
 * Reports why providers fail, as their keyd says: one line on standard error
 * for each reason, and the last one with its time and count for `icctl status`
 * and `icctl keys`. Without this, a failing provider looks like a hang.
 */
#include "hub/control.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_put.h"
#include "common/log.h"
#include "common/time_text.h"
#include "conversation/talk_trouble.h"
#include "core/sup.h"

/*
 * Remember the reason. Returns true if it is new and not too many were
 * reported.
 */
static bool
is_new(struct trouble *t, const char *text)
{
	for (unsigned i = 0; i < t->nsaid; i++) {
		if (strcmp(t->said[i], text) == 0)
			return false;
	}
	if (t->nsaid == TROUBLE_REASONS)
		return false;
	snprintf(t->said[t->nsaid++], sizeof(t->said[0]), "%s", text);
	return true;
}

void
trouble_take(
    unsigned provider, struct span text, uint32_t count, uint32_t retry)
{
	struct trouble *t = &sup.keys[provider].trouble;
	char vis[sizeof(t->text)], when[TIME_TEXT];
	bool task = sup.opt.viewer != NULL && !sup.opt.conversation, refused;

	log_vis(text, vis, sizeof(vis));
	if (strcmp(vis, t->text) != 0) {
		snprintf(t->text, sizeof(t->text), "%s", vis);
		t->count = 0;
	}
	t->count += count;
	t->at = loop_now(&sup.loop);
	t->until = retry == 0 ? 0 : (int64_t)time(NULL) + retry;
	(void)time_text(t->until, when);
	refused =
	    strstr(vis, "REFUSED (401)") != NULL && !(task && when[0] != '\0');
	if (is_new(t, vis))
		sup_warn("provider %s: %s%s%s. %s%s%s%s",
		    sup.providers.list[provider].name, vis,
		    when[0] != '\0' ? ", until " : "", when,
		    /* At its end, summary.c names the next command. */
		    task && when[0] != '\0'
			? "The agent may wait for that by itself"
		    : refused ? "To put that right: icctl "
			      : "See: icctl status",
		    refused ? sup_login(provider) : "", refused ? " " : "",
		    refused ? sup_login_name(provider) : "");
}

struct json_object *
trouble_json(unsigned provider)
{
	const struct trouble *t = &sup.keys[provider].trouble;
	struct json_object *o;
	char when[TIME_TEXT];

	if (t->count == 0)
		return NULL;
	o = json_object_new_object();
	put_str(o, "text", t->text);
	if (t->until != 0)
		put_str(o, "until", time_text(t->until, when));
	put_int(o, "count", (int64_t)t->count);
	put_int(o, "ago_ms", (int64_t)(loop_now(&sup.loop) - t->at));
	return o;
}

struct json_object *
trouble_list(void)
{
	struct json_object *list = json_object_new_array(), *o;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		if ((o = trouble_json(i)) == NULL)
			continue;
		put_str(o, "provider", sup.providers.list[i].name);
		json_object_array_add(list, o);
	}
	return list;
}
