/* SPDX-License-Identifier: ISC */
#include "conversation/talk_trouble.h"

#include <stdio.h>
#include <time.h>

#include "base/json_put.h"
#include "common/log.h"
#include "common/time_text.h"
#include "conversation/talk_events.h"
#include "core/sup.h"

#define TROUBLE_FAILS 3U /* in a row, before the person is told */

static struct {
	/*
	 * The first that the running turn showed: of its errors, of its text.
	 */
	enum adapter_trouble error, said;
	int64_t error_reset, said_reset;
	/* The latest answer to a model request, if it was an error. */
	unsigned provider, status;
	int64_t answer_reset; /* when it may be tried again, or 0 */
	/* A turn runs; failed answers in a row; they have been told. */
	bool runs, told;
	uint32_t fails;
	bool quota; /* used up, as the last turn showed */
	int64_t until;
} trouble_env;

void
talk_trouble_begin(void)
{
	trouble_env.error = trouble_env.said = TROUBLE_NONE;
	trouble_env.error_reset = trouble_env.said_reset = 0;
	trouble_env.status = 0;
	trouble_env.answer_reset = 0;
	trouble_env.runs = true;
	trouble_env.told = false;
	trouble_env.fails = 0;
}

void
talk_trouble_see(struct span text, bool error)
{
	enum adapter_trouble *kind =
	    error ? &trouble_env.error : &trouble_env.said;

	if (*kind == TROUBLE_NONE && sup.opt.command == NULL)
		*kind = adapter_errors_find(&sup.adapter.errors, text,
		    (int64_t)time(NULL),
		    error ? &trouble_env.error_reset : &trouble_env.said_reset);
}

/* Returns true if a provider's latest answer allows requests only later. */
static bool
trouble_limited(void)
{
	return trouble_env.status == 429 &&
	       trouble_env.answer_reset > (int64_t)time(NULL);
}

/* Returns true while the agent of the running turn may wait for a quota. */
static bool
trouble_waits(void)
{
	return trouble_env.runs && trouble_limited();
}

/*
 * An agent tries again, or waits, without a word: tell the person for what.
 * Single failures are no news.
 */
static void
trouble_tell_waiting(unsigned provider, struct span why)
{
	struct json_object *o;
	char when[TIME_TEXT], vis[300], text[600];
	bool waits = trouble_waits();

	if (!trouble_env.runs || trouble_env.told ||
	    (!waits && trouble_env.fails < TROUBLE_FAILS) ||
	    provider >= sup.providers.n)
		return;
	trouble_env.told = true;
	(void)time_text(waits ? trouble_env.answer_reset : 0, when);
	snprintf(text, sizeof(text),
	    "provider %s: %s%s%s. The agent may %s by itself. To end its turn: "
	    "icctl interrupt",
	    sup.providers.list[provider].name, log_vis(why, vis, sizeof(vis)),
	    waits ? ", until " : "", when,
	    waits ? "wait for that" : "try again");
	o = json_object_new_object();
	put_str(o, "text", text);
	talk_event_now("error", o);
}

void
talk_trouble_answer(unsigned provider, struct span why, uint32_t count,
    unsigned status, uint32_t retry)
{
	if (status != 0) {
		trouble_env.provider = provider;
		trouble_env.status = status < 400 ? 0 : status;
		trouble_env.answer_reset =
		    retry == 0 ? 0 : (int64_t)time(NULL) + retry;
	}
	if (status != 0 && status < 400) {
		trouble_env.fails = 0;
		return;
	}
	trouble_env.fails += count < TROUBLE_FAILS ? count : TROUBLE_FAILS;
	trouble_tell_waiting(provider, why);
}

/* Returns the trouble that the provider's status means. */
static enum adapter_trouble
trouble_by_status(int64_t *reset)
{
	*reset = 0;
	if (trouble_env.status == 401 || trouble_env.status == 403)
		return TROUBLE_AUTHENTICATION;
	if (trouble_env.status == 402)
		return TROUBLE_QUOTA;
	if (trouble_env.status == 429 && trouble_env.answer_reset != 0) {
		*reset = trouble_env.answer_reset;
		return TROUBLE_QUOTA;
	}
	return trouble_env.status != 0 ? TROUBLE_TRANSIENT : TROUBLE_NONE;
}

/* Choose between the agent's words and the provider's status. */
static enum adapter_trouble
trouble_choose(int64_t *reset)
{
	enum adapter_trouble kind = trouble_env.error, provider;
	int64_t when;

	*reset = trouble_env.error_reset;
	if (kind == TROUBLE_NONE) {
		kind = trouble_env.said;
		*reset = trouble_env.said_reset;
	}
	provider = trouble_by_status(&when);
	/* The same 429 is an overload to some agents; its time says more. */
	if (kind == TROUBLE_NONE ||
	    (kind == TROUBLE_TRANSIENT && provider == TROUBLE_QUOTA) ||
	    (kind == TROUBLE_QUOTA && *reset == 0)) {
		*reset = when;
		kind = kind == TROUBLE_QUOTA ? kind : provider;
	}
	return kind;
}

/* Returns the provider that the trouble is about, or NULL. */
static const struct provider *
trouble_provider(void)
{
	if (trouble_env.status != 0 && trouble_env.provider < sup.providers.n)
		return &sup.providers.list[trouble_env.provider];
	for (unsigned i = 0; i < sup.providers.n; i++)
		if (sup.providers.list[i].env != NULL)
			return &sup.providers.list[i];
	return NULL;
}

const char *
talk_trouble_who(void)
{
	const struct provider *p = trouble_provider();

	return p != NULL && p->config != NULL && p->config->nupstreams != 0
		   ? "gateway"
		   : "provider";
}

static void
trouble_tell(enum adapter_trouble kind, int64_t reset)
{
	struct json_object *o = json_object_new_object();
	char when[TIME_TEXT], text[400], status[24] = "";
	const char *who = talk_trouble_who();
	const struct provider *p = trouble_provider();
	const char *name = p != NULL ? p->name : "";

	(void)time_text(reset, when);
	if (trouble_env.status != 0)
		snprintf(status, sizeof(status), " (%u)", trouble_env.status);
	switch (kind) {
	case TROUBLE_QUOTA:
		snprintf(text, sizeof(text),
		    "the %s's quota is used up%s%s. The conversation "
		    "is kept: send the message again %s. %s: icctl resume %s",
		    who, when[0] != '\0' ? " until " : "", when,
		    when[0] != '\0' ? "then" : "later",
		    sup.opt.one_turn ? "For that"
				     : "If the session has ended by then",
		    sup.session.id);
		break;
	case TROUBLE_TRANSIENT:
		snprintf(text, sizeof(text),
		    "the %s is overloaded, or was not reached%s: send "
		    "the message again in a minute",
		    who, status);
		break;
	case TROUBLE_AUTHENTICATION:
		snprintf(text, sizeof(text),
		    "the %s refused the credential%s. Log in again, or "
		    "find out how to give a new key: icctl login %s. Then: "
		    "icctl keys reload %s",
		    who, status, name, name);
		break;
	case TROUBLE_HARD:
	case TROUBLE_NONE:
		snprintf(text, sizeof(text),
		    "the agent cannot continue its conversation. The next "
		    "message begins a new one, which remembers nothing of "
		    "this one; the files are as they were");
		break;
	}
	put_str(o, "text", text);
	put_str(o, "kind", adapter_trouble_name(kind));
	if (when[0] != '\0')
		put_str(o, "until", when);
	talk_event_now("error", o);
}

const char *
talk_trouble_end(bool failed, bool cut)
{
	enum adapter_trouble kind;
	bool waits = trouble_waits();
	int64_t reset;

	trouble_env.runs = false;
	kind = trouble_choose(&reset);
	/* A turn that waited for a quota is cut short because of that. */
	if (!failed || (cut && !waits))
		kind = TROUBLE_NONE;
	trouble_env.quota = kind == TROUBLE_QUOTA;
	trouble_env.until = reset;
	if (kind == TROUBLE_NONE)
		return NULL;
	if (kind == TROUBLE_HARD)
		sup.conversation.talked = false;
	trouble_tell(kind, reset);
	return adapter_trouble_name(kind);
}

bool
talk_trouble_kept(void)
{
	return trouble_env.quota || trouble_env.told;
}

bool
talk_trouble_quota(char until[TIME_TEXT])
{
	if (trouble_env.runs) {
		if (trouble_waits() && until != NULL)
			(void)time_text(trouble_env.answer_reset, until);
		return trouble_waits();
	}
	if (trouble_env.until != 0 && trouble_env.until <= (int64_t)time(NULL))
		trouble_env.quota = false;
	if (trouble_env.quota && until != NULL)
		(void)time_text(trouble_env.until, until);
	return trouble_env.quota;
}

bool
talk_trouble_left(char until[TIME_TEXT])
{
	until[0] = '\0';
	if (sup.opt.conversation)
		return talk_trouble_quota(until);
	if (!trouble_limited())
		return false;
	(void)time_text(trouble_env.answer_reset, until);
	return true;
}

uint64_t
talk_trouble_quota_ms(void)
{
	int64_t now = (int64_t)time(NULL);

	return talk_trouble_quota(NULL) && trouble_env.until > now
		   ? (uint64_t)(trouble_env.until - now) * 1000
		   : 0;
}

void
talk_trouble_carry(const char *until)
{
	int64_t when;

	if (until[0] == '\0' ||
	    reset_time(span_str(until), (int64_t)time(NULL), &when) == -1)
		return;
	trouble_env.quota = true;
	trouble_env.until = when;
}
