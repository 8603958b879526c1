/* SPDX-License-Identifier: ISC */
/*
 * Prints ironcurtain-proto.7: the template named on the command line, with the
 * lines @CHANNELS@ and @MESSAGES@ replaced by mdoc that is made from the same
 * tables as the programs, so that the page cannot differ from the code. Runs at
 * build time; keeps no state.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ipc/proto.h"
#include "supervisor/core/topology.h"

/* Indexed by the high byte of a message's number. */
static const char *const groups[] = {
    [1] = "Start-up and end",
    [2] = "Audit log",
    [3] = "Policy and MCP servers: configuration",
    [4] = "A tool call",
    [5] = "A server's session",
    [6] = "An approval",
    [7] = "Model path: configuration",
    [8] = "A model request",
    [9] = "A connection of an MCP server",
    [10] = "A corporate proxy",
    [11] = "The agent's terminal",
    [12] = "Published ports",
    [13] = "Connections over TCP",
    [14] = "The web page",
    [21] = "A login at a remote MCP server",
    [15] = "The approver",
    [17] = "Requests to a forge",
    [22] = "Revision 2026-07-28 of MCP",
    [23] = "Questions of MCP servers",
    [25] = "A service of the session's own",
};

static const char *const kinds[] = {
    "u8", "u16", "u32", "u64", "str", "blob", "big"};

/* Write the roles, separated by ", ". */
static void
put_roles(uint32_t roles)
{
	const char *sep = "";

	if (roles == R_WORKER) {
		fputs("every worker", stdout);
		return;
	}
	for (unsigned r = 0; r < ROLE_COUNT; r++) {
		if ((roles & (1U << r)) == 0)
			continue;
		printf("%s%s", sep, role_name((enum role)r));
		sep = ", ";
	}
}

static const char *
phase_text(unsigned phase)
{
	switch (phase) {
	case PHASE_SETUP:
		return "before START";
	case PHASE_RUN:
		return "after START";
	default:
		return "at any time";
	}
}

/* Returns the largest value that the kind can have; 0 for bytes. */
static uint64_t
kind_max(enum proto_kind kind)
{
	switch (kind) {
	case PROTO_u8:
		return UINT8_MAX;
	case PROTO_u16:
		return UINT16_MAX;
	case PROTO_u32:
		return UINT32_MAX;
	case PROTO_u64:
		return UINT64_MAX;
	case PROTO_str:
	case PROTO_blob:
	case PROTO_big:
		break;
	}
	return 0;
}

static void
put_max(const struct proto_field *f)
{
	uint64_t all = kind_max(f->kind);

	if (all != 0 && f->max == all)
		return;
	if (all != 0)
		printf(" \\(<= %" PRIu64, f->max);
	else if (f->max >= 1U << 20 && f->max % (1U << 20) == 0)
		printf(" \\(<= %" PRIu64 " MiB", f->max >> 20);
	else if (f->max >= 1U << 10 && f->max % (1U << 10) == 0)
		printf(" \\(<= %" PRIu64 " KiB", f->max >> 10);
	else
		printf(" \\(<= %" PRIu64 " bytes", f->max);
}

static void
put_message(const struct proto_msg *m)
{
	printf(".It Sy %s Pq Li 0x%04x\n", m->name, m->type);
	put_roles(m->from);
	fputs(" \\(-> ", stdout);
	put_roles(m->to);
	printf("; %s%s.\n", phase_text(m->phase),
	    m->nfds != 0 ? "; carries a descriptor" : "");
	if (m->nfields == 0)
		return;
	puts(".Bd -literal -offset indent -compact");
	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];

		printf("%-12s %-4s", f->name, kinds[f->kind]);
		put_max(f);
		putchar('\n');
	}
	puts(".Ed");
}

static void
put_messages(void)
{
	unsigned group = 0;

	for (size_t i = 0; i < proto_nmsgs; i++) {
		unsigned g = proto_msgs[i].type >> 8;

		if (g != group) {
			if (group != 0)
				puts(".El");
			if (g >= nitems(groups) || groups[g] == NULL) {
				fprintf(stderr,
				    "proto_table: group 0x%02x has "
				    "no title\n",
				    g);
				exit(1);
			}
			printf(".Ss %s\n.Bl -tag -width Ds\n", groups[g]);
			group = g;
		}
		put_message(&proto_msgs[i]);
	}
	puts(".El");
}

/*
 * Write the names of the messages that `a` may send to `b`. Returns false if
 * there are none.
 */
static bool
put_names(enum role a, enum role b, bool behind)
{
	bool any = false;

	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];

		if ((m->from & (1U << a)) == 0 || (m->to & (1U << b)) == 0)
			continue;
		if (!any)
			printf("%s%s \\(-> %s:\n.Li", behind ? ".br\n" : "",
			    role_name(a), role_name(b));
		printf(" %s", m->name);
		any = true;
	}
	if (any)
		putchar('\n');
	return any;
}

static void
put_both(enum role a, enum role b)
{
	(void)put_names(b, a, put_names(a, b, false));
}

static const char *
count_text(enum topology_count count)
{
	switch (count) {
	case TOPOLOGY_ONE:
		return "one";
	case TOPOLOGY_PER_SERVER:
		return "one for each MCP server";
	case TOPOLOGY_PER_PROVIDER:
		return "one for each provider";
	case TOPOLOGY_PER_DOOR:
		return "one for each MCP server with network";
	case TOPOLOGY_IF_NETWORK:
		return "one, if there is a provider, or a server with network";
	case TOPOLOGY_IF_PROXY:
		return "one, if there is one of these and a corporate proxy";
	case TOPOLOGY_IF_AGENT:
		return "one, if icsupervisor runs the agent and no editor "
		       "talks to it";
	case TOPOLOGY_IF_EDITOR:
		return "one, if an editor talks to the agent";
	case TOPOLOGY_IF_APPROVER:
		return "one, if autoApprove is on";
	case TOPOLOGY_IF_PORTS:
		return "one, if ports of the sandbox are published";
	case TOPOLOGY_IF_GATE:
		return "one, if its connections come over TCP";
	}
	return "?";
}

static void
put_pair(enum role a, enum role b)
{
	printf(".It %s , %s\n", role_name(a), role_name(b));
	put_both(a, b);
}

static void
put_channels(void)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < topology_nworkers; i++) {
		const struct topology_worker *w = &topology_workers[i];

		printf(".It icsupervisor , %s Pq %s\n", w->program,
		    count_text(w->count));
		put_both(ROLE_SUP, w->role);
	}
	for (size_t i = 0; i < topology_npairs; i++)
		put_pair(topology_pairs[i].a, topology_pairs[i].b);
	/* Not a pair of workers: each icctl that views a session. */
	put_pair(ROLE_TERM, ROLE_VIEWER);
	put_pair(ROLE_ACP, ROLE_VIEWER);
	/* icwebd belongs to no session: `icctl web` is its supervisor. */
	put_pair(ROLE_SUP, ROLE_WEB);
	/* Nor do these: `icctl mcp login` is theirs. */
	put_pair(ROLE_SUP, ROLE_META);
	put_pair(ROLE_SUP, ROLE_GRANT);
	put_pair(ROLE_SUP, ROLE_CALLBACK);
	put_pair(ROLE_META, ROLE_DIAL);
	put_pair(ROLE_GRANT, ROLE_DIAL);
	put_pair(ROLE_CALLBACK, ROLE_GRANT);
	puts(".El");
}

int
main(int argc, char **argv)
{
	char line[1024];
	FILE *in;

	if (argc != 2 || (in = fopen(argv[1], "re")) == NULL) {
		fputs("usage: proto_table TEMPLATE\n", stderr);
		return 1;
	}
	while (fgets(line, sizeof(line), in) != NULL) {
		if (strcmp(line, "@CHANNELS@\n") == 0)
			put_channels();
		else if (strcmp(line, "@MESSAGES@\n") == 0)
			put_messages();
		else
			fputs(line, stdout);
	}
	fclose(in);
	return fflush(stdout) == 0 ? 0 : 1;
}
