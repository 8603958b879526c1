/* SPDX-License-Identifier: ISC */
/*
 * Waits for the answers that are needed before START: the rules are in force,
 * mitmd has its CA, every keyd its credential. A mistake in rules or
 * credentials is the user's to correct and ends the start with a message that
 * says how.
 */
#include "core/sup.h"

#include <sys/stat.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool
wait_over(void)
{
	if (sup.rules_good < sup.rules_sent || sup.ca_pem == NULL ||
	    !sup.logged)
		return false;
	for (unsigned i = 0; i < sup.providers.n; i++)
		if (!sup.keys[i].known || sup.keys[i].cred.command.pidfd != -1)
			return false;
	return !sup.proxy.auth || child_find(ROLE_TUNNEL, 0) == NULL ||
	       (sup.proxy.known && sup.proxy.cred.command.pidfd == -1);
}

/* Reap a credential command; keyd also sees the end of its pipe. */
static int
wait_command(struct credential *c, struct host_command *command,
    const char *where, struct fault *fault)
{
	char how[128], lost[600];
	int code, status;

	if (c->command.pidfd == -1 ||
	    spawn_reap(c->command.pidfd, false, &code, &status) != 1)
		return 0;
	close(c->command.pidfd);
	c->command = (struct spawned)SPAWNED_INIT;
	if (spawn_status(code, status) == 0)
		return 0;
	return fault_set_kind(fault, FAULT_CONFIG, "%s.command: %s %s%s", where,
	    command->def.argv[0],
	    spawn_describe(code, status, how, sizeof(how)),
	    host_command_lost(command, where, lost, sizeof(lost)));
}

static int
wait_commands(struct fault *fault)
{
	const struct provider *p;
	char where[96];

	for (unsigned i = 0; i < sup.providers.n; i++) {
		p = &sup.providers.list[i];
		snprintf(where, sizeof(where), "credentials.%.64s", p->name);
		if (wait_command(&sup.keys[i].cred, &sup.keys[i].command, where,
			fault) == -1)
			return -1;
	}
	return wait_command(
	    &sup.proxy.cred, &sup.proxy.command, "proxy.credential", fault);
}

static int
wait_proxy(struct fault *fault)
{
	const struct proxy *p = &sup.proxy;

	if (!p->known || p->key == PROTO_KEY_LOADED)
		return 0;
	return fault_set_kind(fault, FAULT_CONFIG,
	    "credential of the corporate proxy (%s): %s",
	    p->escaped ? p->from : "proxy.credential",
	    p->key_text[0] != '\0' ? p->key_text : "refused");
}

/* The command may have succeeded and printed nothing. */
static int
wait_empty(unsigned i, struct fault *fault)
{
	struct host_command *command = &sup.keys[i].command;
	const char *name = sup.providers.list[i].name;
	char where[96], lost[600] = "";

	snprintf(where, sizeof(where), "credentials.%.64s", name);
	if (command->program.nfiles != 0)
		host_command_lost(command, where, lost, sizeof(lost));
	return fault_set_kind(
	    fault, FAULT_CONFIG, "credential of %s: empty%s", name, lost);
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
		if (!k->known || sup.providers.list[i].env == NULL ||
		    k->state == PROTO_KEY_WAITING)
			continue;
		if (k->state == PROTO_KEY_EMPTY)
			return wait_empty(i, fault);
		if (k->state != PROTO_KEY_LOADED)
			return fault_set_kind(fault, FAULT_CONFIG,
			    "credential of %s: %s", name,
			    k->text[0] != '\0' ? k->text : "refused");
		/* A password of a database is never sent. */
		if (k->length < 16 && !provider_is(&sup.providers.list[i],
					  PROVIDER_POSTGRES))
			sup_warn("credential of %s: %u characters are too few "
				 "to be recognised in responses",
			    name, k->length);
	}
	return wait_proxy(fault);
}

int
setup_wait(struct fault *fault)
{
	uint64_t now, until = clock_mono_us() / 1000 + SUP_CREDENTIAL_MS;
	bool command = sup.proxy.cred.command.pidfd != -1;

	for (unsigned i = 0; i < sup.providers.n; i++)
		if (sup.keys[i].cred.command.pidfd != -1)
			command = true;
	while (!wait_over()) {
		if (sup.ending)
			return fault_set(fault, "%s", sup.end_why);
		if (sup.rules_refused)
			break;
		if (sup.audit_failed[0] != '\0')
			return fault_set(fault,
			    "the audit log cannot be written: %s",
			    sup.audit_failed);
		if (wait_commands(fault) == -1)
			return -1;
		now = clock_mono_us() / 1000;
		if (now >= until)
			return fault_set(fault, "not ready within %u s: %s",
			    SUP_CREDENTIAL_MS / 1000,
			    command ? "a credential command does not finish"
			    : sup.ca_pem == NULL ? "mitmd has no certificate"
			    : !sup.logged
				? "auditd has written no record"
				: "policyd, a keyd or tunneld does not "
				  "answer");
		/* Nothing reports the end of a command, so poll for it. */
		if (loop_once(&sup.loop, command && until - now > 20
					     ? 20
					     : (int)(until - now)) == -1)
			return fault_errno(fault, "epoll_wait");
	}
	return wait_result(fault);
}
