/* SPDX-License-Identifier: ISC */
/*
 * A subscription: sessions use the login that the agent has on this machine, or
 * one that it makes in its first session. And the request that tells whether a
 * provider accepts the key or the login.
 */
#include "icctl/settings/setup.h"

#include <sys/stat.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "icctl/doctor/doctor.h"
#include "icctl/login.h"

/* Name the login in config.json, under "login" or "capture". */
static int
login_name(struct setup *s, const char *member)
{
	json_object *o = json_object_new_object();
	char key[128];

	put_str(o, member, s->provider->login);
	snprintf(key, sizeof(key), "credentials.%s", s->provider->provider);
	return setup_put(s, key, o);
}

/* Returns true if config.json names this login, in either way. */
static bool
login_is_named(struct setup *s, const char *member)
{
	json_object *o = NULL;

	return json_object_object_get_ex(s->file.root, "credentials", &o) &&
	       json_object_object_get_ex(o, s->provider->provider, &o) &&
	       strcmp(icctl_text(o, member), s->provider->login) == 0;
}

int
setup_login(struct setup *s)
{
	char path[4096], shown[ICCTL_PATH];
	const char *bad = login_path(s->provider->login, path, sizeof(path));

	putchar('\n');
	(void)icctl_path(path, shown);
	if (login_is_named(s, "capture")) {
		setup_say("config.json already says that the agent logs in "
			  "from within its sessions.");
		return 0;
	}
	if (bad == NULL || login_is_named(s, "login")) {
		setup_say("Sessions use the login in %s. It stays outside of "
			  "the sandbox, where the agent has a placeholder of "
			  "it.",
		    shown);
		if (bad != NULL)
			setup_say("But %s: %s.", shown, bad);
		s->given = bad == NULL;
		return login_name(s, "login");
	}
	setup_say(
	    "There is no login that sessions can use: %s: %s.", shown, bad);
	setup_say("So log in from within the first session, %s. Your browser "
		  "shows the page, and what it gives you stays outside of the "
		  "sandbox. To log in outside first: icctl login %s",
	    s->provider->how, s->provider->login);
	return login_name(s, "capture");
}

void
setup_leaves(const struct setup *s)
{
	if (s->provider->stays == NULL)
		return;
	putchar('\n');
	setup_say("Of your own setup, sessions see %s, read-only copies. What "
		  "stays outside: %s, because they run programs or name "
		  "servers. icctl mcp import takes over the MCP servers that "
		  "you use.",
	    s->provider->comes, s->provider->stays);
}

static void
login_checked(
    enum grade g, const char *what, const char *found, const char *remedy)
{
	(void)what;
	setup_say("%s", found);
	if (g != GOOD && remedy[0] != '\0')
		setup_say("-> %s", remedy);
}

void
setup_test(struct setup *s)
{
	const char *provider = s->provider->provider;

	for (unsigned i = 0; s->given && i < SETUP_TRIES; i++) {
		putchar('\n');
		setup_say("Does %s accept it? One request, which costs "
			  "nothing:",
		    provider);
		fflush(stdout);
		if (doctor_api_one(s->ctl, login_checked, provider) !=
			ICCTL_API_REFUSED ||
		    s->path[0] == '\0' || !setup_key_again(s))
			return;
	}
}
