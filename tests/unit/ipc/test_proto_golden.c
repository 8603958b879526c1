/* SPDX-License-Identifier: ISC */
/*
 * The message table and the topology against their golden copies, and against
 * each other: a pair that may exchange a message has a channel, and no channel
 * is useless.  A change to either changes which process may tell another what,
 * and must be made twice on purpose.  test_proto_golden FILE compares;
 * test_proto_golden --print prints the contents that FILE should have.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ipc/proto.h"
#include "supervisor/core/topology.h"
#include "tap.h"

static const char *const kinds[] = {
    "u8", "u16", "u32", "u64", "str", "blob", "big"};

static void
put_roles(FILE *to, uint32_t roles)
{
	const char *sep = "";

	for (unsigned r = 0; r < ROLE_COUNT; r++) {
		if ((roles & (1U << r)) == 0)
			continue;
		fprintf(to, "%s%s", sep, role_name((enum role)r));
		sep = ",";
	}
}

static const char *
phase_text(unsigned phase)
{
	switch (phase) {
	case PHASE_SETUP:
		return "setup";
	case PHASE_RUN:
		return "run";
	case PHASE_BOTH:
		return "both";
	default:
		return "never";
	}
}

static const char *
count_text(enum topology_count count)
{
	switch (count) {
	case TOPOLOGY_ONE:
		return "one";
	case TOPOLOGY_PER_SERVER:
		return "per-server";
	case TOPOLOGY_PER_PROVIDER:
		return "per-provider";
	case TOPOLOGY_PER_DOOR:
		return "per-door";
	case TOPOLOGY_IF_NETWORK:
		return "if-network";
	case TOPOLOGY_IF_PROXY:
		return "if-proxy";
	case TOPOLOGY_IF_AGENT:
		return "if-agent";
	case TOPOLOGY_IF_EDITOR:
		return "if-editor";
	case TOPOLOGY_IF_APPROVER:
		return "if-approver";
	case TOPOLOGY_IF_PORTS:
		return "if-ports";
	case TOPOLOGY_IF_GATE:
		return "if-gate";
	}
	return "?";
}

static const char *
memory_text(enum proto_memory memory)
{
	switch (memory) {
	case PROTO_MEMORY_NONE:
		return "";
	case PROTO_MEMORY_RINGS:
		return " ring";
	case PROTO_MEMORY_ARENA:
		return " arena";
	}
	return " ?";
}

static void
dump(FILE *to)
{
	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];

		fprintf(to, "message %s 0x%04x ", m->name, m->type);
		put_roles(to, m->from);
		fputs(" > ", to);
		put_roles(to, m->to);
		fprintf(to, " %s fds=%d\n", phase_text(m->phase), m->nfds);
		for (size_t f = 0; f < m->nfields; f++)
			fprintf(to, "\t%s %s %" PRIu64 "\n", m->fields[f].name,
			    kinds[m->fields[f].kind], m->fields[f].max);
	}
	for (size_t i = 0; i < topology_nworkers; i++)
		fprintf(to, "worker %s %s %s\n",
		    role_name(topology_workers[i].role),
		    topology_workers[i].program,
		    count_text(topology_workers[i].count));
	for (size_t i = 0; i < topology_npairs; i++)
		fprintf(to, "channel %s %s%s\n", role_name(topology_pairs[i].a),
		    role_name(topology_pairs[i].b),
		    memory_text(topology_pairs[i].memory));
}

/* Compare line by line, so that a failure shows the line. */
static bool
same_lines(FILE *golden, char *text)
{
	char want[4096], *line, *rest = text;
	unsigned number = 0;

	while (fgets(want, sizeof(want), golden) != NULL) {
		number++;
		want[strcspn(want, "\n")] = '\0';
		line = strsep(&rest, "\n");
		if (line != NULL && strcmp(line, want) == 0)
			continue;
		printf("# line %u\n#  golden: %s\n#  now:    %s\n", number,
		    want, line == NULL ? "(nothing)" : line);
		return false;
	}
	if (rest == NULL || *rest == '\0')
		return true;
	printf("# line %u\n#  golden: (nothing)\n#  now:    %.*s\n", number + 1,
	    (int)strcspn(rest, "\n"), rest);
	return false;
}

static void
test_golden(const char *path)
{
	FILE *golden, *mem;
	char *text = NULL;
	size_t len = 0;

	if ((golden = fopen(path, "re")) == NULL) {
		ok(false, "%s: %s", path, strerror(errno));
		return;
	}
	if ((mem = open_memstream(&text, &len)) == NULL)
		abort();
	dump(mem);
	fclose(mem);
	ok(same_lines(golden, text),
	    "messages, workers and channels are those of proto_golden.txt");
	free(text);
	fclose(golden);
}

static bool
has_channel(unsigned a, unsigned b)
{
	for (size_t i = 0; i < topology_npairs; i++) {
		const struct topology_pair *p = &topology_pairs[i];

		if ((p->a == a && p->b == b) || (p->a == b && p->b == a))
			return true;
	}
	return false;
}

/* Returns true if `m` may be sent from `a` to `b`. */
static bool
goes(const struct proto_msg *m, unsigned a, unsigned b)
{
	return (m->from & (1U << a)) != 0 && (m->to & (1U << b)) != 0;
}

static void
test_messages_have_channels(void)
{
	unsigned bad = 0;

	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];

		for (unsigned a = 0; a < ROLE_COUNT; a++)
			for (unsigned b = 0; b < ROLE_COUNT; b++) {
				if (!goes(m, a, b))
					continue;
				/*
				 * Every worker starts with a channel to
				 * icsupervisor.
				 */
				if (a != b && (a == ROLE_SUP || b == ROLE_SUP))
					continue;
				if (a != b && has_channel(a, b))
					continue;
				/* followd has streams for mitmd alone. */
				if (m->type == MSG_STREAM && a == ROLE_FOLLOW)
					continue;
				/* `icctl mcp login` pairs its programs. */
				if ((a == ROLE_DIAL &&
					(b == ROLE_META || b == ROLE_GRANT)) ||
				    (b == ROLE_DIAL &&
					(a == ROLE_META || a == ROLE_GRANT)) ||
				    (a == ROLE_CALLBACK && b == ROLE_GRANT))
					continue;
				/* icsupervisor gives a viewer its channel. */
				if (((a == ROLE_TERM || a == ROLE_ACP) &&
					b == ROLE_VIEWER) ||
				    (a == ROLE_VIEWER &&
					(b == ROLE_TERM || b == ROLE_ACP)))
					continue;
				bad++;
				printf("# %s: %s to %s\n", m->name,
				    role_name((enum role)a),
				    role_name((enum role)b));
			}
	}
	is_int(bad, 0, "every message has a channel to go on");
}

static void
test_channels_have_messages(void)
{
	for (size_t i = 0; i < topology_npairs; i++) {
		const struct topology_pair *p = &topology_pairs[i];
		unsigned n = 0;

		for (size_t k = 0; k < proto_nmsgs; k++)
			n += goes(&proto_msgs[k], p->a, p->b) ||
			     goes(&proto_msgs[k], p->b, p->a);
		ok(n != 0, "%s and %s have something to say to each other",
		    role_name(p->a), role_name(p->b));
	}
}

static void
test_channels_once(void)
{
	unsigned twice = 0;

	for (size_t i = 0; i < topology_npairs; i++)
		for (size_t k = 0; k < i; k++) {
			const struct topology_pair *p = &topology_pairs[i];
			const struct topology_pair *q = &topology_pairs[k];

			twice += (p->a == q->a && p->b == q->b) ||
				 (p->a == q->b && p->b == q->a);
		}
	is_int(twice, 0, "no channel is listed twice");
}

static void
test_workers(void)
{
	uint32_t must = CONFINE_DUMPABLE0 | CONFINE_NNP, seen = 0;

	if (pledge_enforced())
		must |= CONFINE_SECCOMP | CONFINE_LANDLOCK;
	for (size_t i = 0; i < topology_nworkers; i++) {
		const struct topology_worker *w = &topology_workers[i];

		seen |= 1U << w->role;
		is_str(w->program, role_name(w->role), "%s runs under its name",
		    role_name(w->role));
		is_int(w->required, must, "%s may not run without its locks",
		    w->program);
	}
	is_int(seen, R_WORKER, "every worker is in the topology");
	/* All but icsupervisor, viewers, and programs of icctl's own. */
	is_int(topology_nworkers, ROLE_COUNT - 6, "and each once");
}

/*
 * After HELLO, the parsers can tell icsupervisor nothing more, with one
 * exception: what the agent says in a conversation, which icsupervisor checks
 * and passes on to people as text, without reading it.
 */
static void
test_parsers_are_mute(void)
{
	const uint32_t parsers = R(PROXY) | R(BACK) | R(MITM) | R(TERM) |
				 R(ACP) | R(APPROVE) | R(FOLLOW);
	unsigned bad = 0;

	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];

		if ((m->from & parsers) == 0 || (m->to & R(SUP)) == 0 ||
		    (m->phase & PHASE_RUN) == 0 || m->type == MSG_TURN_TEXT ||
		    m->type == MSG_TURN_DONE ||
		    m->type == MSG_PERSON_SAID) /* one bit */
			continue;
		bad++;
		printf("# %s\n", m->name);
	}
	is_int(bad, 0, "no parser says anything to icsupervisor after START");
}

/*
 * Descriptors go from icsupervisor to workers, from dialerd to those it
 * connects for, from keyd and followd to mitmd, from keyd to mcp-backd, from
 * pgkeyd to egressd, between dialerd and tunneld, and from gated to icsupervisor,
 * which passes them on.
 */
static void
test_descriptors(void)
{
	unsigned bad = 0;

	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];

		if (m->nfds == 0 || m->from == R(SUP) ||
		    (m->from == R(DIAL) &&
			m->to == (R(KEY) | R(EGRESS) | R(META) | R(GRANT) |
				     R(FOLLOW))) ||
		    (m->from == (R(KEY) | R(FOLLOW)) &&
			m->to == (R(MITM) | R(APPROVE))) ||
		    (m->from == R(KEY) &&
			(m->to == R(BACK) || m->to == R(EGRESS))) ||
		    (m->from == R(DIAL) && m->to == R(TUNNEL)) ||
		    (m->from == R(TUNNEL) && m->to == R(DIAL)) ||
		    (m->from == R(GATE) && m->to == R(SUP)))
			continue;
		bad++;
		printf("# %s\n", m->name);
	}
	is_int(bad, 0, "descriptors flow the ways of the design only");
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--print") == 0) {
		dump(stdout);
		return 0;
	}
	if (argc != 2) {
		fputs("usage: test_proto_golden FILE | --print\n", stderr);
		return 2;
	}
	test_golden(argv[1]);
	test_messages_have_channels();
	test_channels_have_messages();
	test_channels_once();
	test_workers();
	test_parsers_are_mute();
	test_descriptors();
	return tap_done();
}
