/* SPDX-License-Identifier: ISC */
/*
 * What must be known before START: the rules are in force, mitmd has its CA,
 * every keyd its credential.  Rules or credentials that are wrong are the
 * user's to mend and end the start with a text that says how.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sup.h"

static bool
wait_over(void)
{
	if (sup.rules_good < sup.rules_sent || sup.ca_pem == NULL)
		return false;
	for (unsigned i = 0; i < sup.providers.n; i++)
		if (!sup.keys[i].known || sup.keys[i].cred.command.pidfd != -1)
			return false;
	return true;
}

/* A credential command ended; keyd has seen the end of its pipe, too. */
static int
wait_command(unsigned i, struct fault *fault)
{
	struct credential *c = &sup.keys[i].cred;
	char how[128];
	int code, status;

	if (c->command.pidfd == -1 ||
	    spawn_reap(c->command.pidfd, false, &code, &status) != 1)
		return 0;
	close(c->command.pidfd);
	c->command = (struct spawned)SPAWNED_INIT;
	if (spawn_status(code, status) == 0)
		return 0;
	return fault_set(fault, "credentials.%s.command: %s %s",
	    sup.providers.list[i].name,
	    sup.providers.list[i].config->command[0],
	    spawn_describe(code, status, how, sizeof(how)));
}

static int
wait_result(struct fault *fault)
{
	const struct key *k;
	const char *name;

	if (sup.rules_refused)
		return fault_set(fault, "%s", sup.rules_text);
	for (unsigned i = 0; i < sup.providers.n; i++) {
		k = &sup.keys[i];
		name = sup.providers.list[i].name;
		if (!k->known || sup.providers.list[i].env == NULL)
			continue;
		if (k->state == PROTO_KEY_EMPTY)
			return fault_set(
			    fault, "credential of %s: empty", name);
		if (k->state != PROTO_KEY_LOADED)
			return fault_set(fault, "credential of %s: %s", name,
			    k->text[0] != '\0' ? k->text : "refused");
		if (k->length < 16)
			sup_warn("credential of %s: %u characters are too few "
				 "to be searched for in responses",
			    name, k->length);
	}
	return 0;
}

int
setup_wait(struct fault *fault)
{
	uint64_t now, until = clock_mono_us() / 1000 + SUP_CREDENTIAL_MS;
	bool command = false;

	for (unsigned i = 0; i < sup.providers.n; i++)
		if (sup.keys[i].cred.command.pidfd != -1)
			command = true;
	while (!wait_over()) {
		if (sup.ending)
			return fault_set(fault, "%s", sup.end_why);
		if (sup.rules_refused)
			break;
		for (unsigned i = 0; i < sup.providers.n; i++)
			if (wait_command(i, fault) == -1)
				return -1;
		now = clock_mono_us() / 1000;
		if (now >= until)
			return fault_set(fault, "not ready within %u s: %s",
			    SUP_CREDENTIAL_MS / 1000,
			    command ? "a credential command does not end"
			    : sup.ca_pem == NULL
				? "mitmd has no certificate"
				: "policyd or a keyd does not answer");
		/* A command's end is looked for, not told. */
		if (loop_once(&sup.loop, command && until - now > 20
					     ? 20
					     : (int)(until - now)) == -1)
			return fault_errno(fault, "epoll_wait");
	}
	return wait_result(fault);
}
