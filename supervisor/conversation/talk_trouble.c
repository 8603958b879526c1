/* SPDX-License-Identifier: ISC */
#include "conversation/talk_trouble.h"

#include <stdio.h>
#include <time.h>

#include "conversation/talk_events.h"
#include "json_put.h"
#include "sup.h"

static struct {
	/* The first that the running turn showed: of its errors, of its text. */
	enum adapter_trouble error, said;
	int64_t error_reset, said_reset;
	/* The latest answer to a model request, if it was an error. */
	unsigned provider, status;
	uint32_t retry;
	bool quota; /* used up, as the last turn showed */
	int64_t until;
} trouble_env;

void
talk_trouble_begin(void)
{
	trouble_env.error = trouble_env.said = TROUBLE_NONE;
	trouble_env.error_reset = trouble_env.said_reset = 0;
	trouble_env.status = 0;
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

void
talk_trouble_answer(unsigned provider, unsigned status, uint32_t retry)
{
	if (status == 0)
		return;
	trouble_env.provider = provider;
	trouble_env.status = status < 400 ? 0 : status;
	trouble_env.retry = retry;
}

/* Returns the trouble that the provider's status means. */
static enum adapter_trouble
trouble_by_status(int64_t *reset)
{
	*reset = 0;
	if (trouble_env.status == 401 || trouble_env.status == 403)
		return TROUBLE_AUTHENTICATION;
	if (trouble_env.status == 429 && trouble_env.retry != 0) {
		*reset = (int64_t)time(NULL) + trouble_env.retry;
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

/* Returns the name of the provider that the trouble is about, or "". */
static const char *
trouble_provider(void)
{
	if (trouble_env.status != 0 && trouble_env.provider < sup.providers.n)
		return sup.providers.list[trouble_env.provider].name;
	for (unsigned i = 0; i < sup.providers.n; i++)
		if (sup.providers.list[i].env != NULL)
			return sup.providers.list[i].name;
	return "";
}

const char *
talk_trouble_time(int64_t when, char dst[TALK_UNTIL])
{
	time_t t = (time_t)when;
	struct tm tm;

	dst[0] = '\0';
	if (when != 0 && gmtime_r(&t, &tm) != NULL)
		(void)strftime(dst, TALK_UNTIL, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return dst;
}

static void
trouble_tell(enum adapter_trouble kind, int64_t reset)
{
	struct json_object *o = json_object_new_object();
	char when[TALK_UNTIL], text[400], status[24] = "";
	const char *name = trouble_provider();

	(void)talk_trouble_time(reset, when);
	if (trouble_env.status != 0)
		snprintf(status, sizeof(status), " (%u)", trouble_env.status);
	switch (kind) {
	case TROUBLE_QUOTA:
		snprintf(text, sizeof(text),
		    "the provider's quota is used up%s%s. The conversation "
		    "is kept: send the message again %s. If the session has "
		    "ended by then: icctl resume %s",
		    when[0] != '\0' ? " until " : "", when,
		    when[0] != '\0' ? "then" : "later", sup.session.id);
		break;
	case TROUBLE_TRANSIENT:
		snprintf(text, sizeof(text),
		    "the provider is overloaded, or was not reached%s: send "
		    "the message again in a minute",
		    status);
		break;
	case TROUBLE_AUTHENTICATION:
		snprintf(text, sizeof(text),
		    "the provider refused the credential%s. Log in again, or "
		    "find out how to give a new key: icctl login %s. Then: "
		    "icctl keys reload %s",
		    status, name, name);
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
talk_trouble_end(bool failed)
{
	enum adapter_trouble kind;
	int64_t reset;

	kind = trouble_choose(&reset);
	if (!failed)
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
talk_trouble_quota(char until[TALK_UNTIL])
{
	if (trouble_env.until != 0 && trouble_env.until <= (int64_t)time(NULL))
		trouble_env.quota = false;
	if (trouble_env.quota && until != NULL)
		(void)talk_trouble_time(trouble_env.until, until);
	return trouble_env.quota;
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
