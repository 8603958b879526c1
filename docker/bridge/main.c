/* SPDX-License-Identifier: ISC */
/*
 * ic-bridge runs inside the agent's sandbox and is not trusted with anything:
 * it carries bytes between what agents can use (a TCP proxy on 127.0.0.1, an
 * MCP server's stdio, a terminal) and the sockets of the session.
 *
 *   ic-bridge run [--pty | --pipes [--input] [--merge]] [--supervised]
 *       [--env FILE] [--filter FILE] [--limits LIMITS] [--publish PORT,...]
 *       [--listen ADDRESS:PORT] DIR -- COMMAND...
 *   ic-bridge egress [--limits LIMITS] [--listen ADDRESS:PORT] SOCKET --
 *       COMMAND...
 *   ic-bridge serve [--limits LIMITS] --publish PORT [--health N WORD...]
 *       SOCKET -- COMMAND...
 *   ic-bridge limit LIMITS -- COMMAND...
 *   ic-bridge exec FD -- NAME ARGUMENT...
 *   ic-bridge stdio PATH
 *   ic-bridge forward TOKENFILE CHECK DIR NAME=ADDRESS:PORT...
 *   ic-bridge probe IN OUT
 *
 * `run` starts the command, reaps all orphans (it is process 1 of the sandbox),
 * and ends with the command's status, or when the session ends: for that it
 * holds one connection to DIR/proxy.sock, or with --supervised to
 * DIR/bridge.sock, on which icsupervisor has the break-out test made first;
 * with --turns it sends the commands there as well, one after the other.
 * With --pty the command gets a pseudo-terminal made here, with --pipes it gets
 * pipes; both lead to DIR/terminal.sock, so that no descriptor of the host is
 * in the sandbox. With --publish it keeps connections to DIR/publish.sock, by
 * which portd reaches these ports of the sandbox.
 * --env adds the variables in FILE, and --filter a system-call filter: an
 * engine's container has neither.
 * `egress` does the same for an MCP server that may connect to named hosts:
 * SOCKET belongs to its egressd.  `serve` is for a service of the session's
 * own, which dialerd reaches by the connections that it keeps to SOCKET; it
 * ends with them.  `forward` is not in the sandbox but beside
 * it: it makes the sockets DIR/NAME and carries their connections to gated.
 * `limit` only sets limits and becomes the command. `exec` becomes the program
 * of an open descriptor, for commands of the user's that run on the host where
 * the agent's files are hidden.
 *
 * The program is static and needs only libc, so that it runs in any container.
 */
#include "bridge.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
usage(FILE *to)
{
	fputs("usage: ic-bridge run [--pty | --pipes [--input] [--merge]]\n"
	      "                     [--limits LIMITS] [--listen ADDRESS:PORT] "
	      "DIR -- COMMAND...\n"
	      "       ic-bridge egress [--limits LIMITS] [--listen "
	      "ADDRESS:PORT] SOCKET --\n"
	      "                     COMMAND...\n"
	      "       ic-bridge serve [--limits LIMITS] --publish PORT "
	      "[--health N WORD...]\n"
	      "                     SOCKET -- COMMAND...\n"
	      "       ic-bridge limit LIMITS -- COMMAND...\n"
	      "       ic-bridge exec FD -- NAME ARGUMENT...\n"
	      "       ic-bridge stdio PATH\n"
	      "       ic-bridge forward TOKENFILE ADDRESS:PORT DIR "
	      "NAME=ADDRESS:PORT...\n"
	      "       ic-bridge probe IN OUT\n\n"
	      "run    forward 127.0.0.1:18080 to DIR/mitm-proxy.sock while "
	      "COMMAND runs;\n"
	      "       --pty gives COMMAND a terminal, --pipes gives it pipes, "
	      "both carried\n"
	      "       over DIR/terminal.sock; --input makes standard input one "
	      "of them, and\n"
	      "       --merge makes one of standard output and error; "
	      "--own-network leaves\n"
	      "       the container's network for one that has nothing but "
	      "the loopback\n"
	      "egress forward 127.0.0.1:18080 to SOCKET while COMMAND runs\n"
	      "serve  keep connections to SOCKET, by which PORT is reached, "
	      "while COMMAND\n"
	      "       runs\n"
	      "limit  become COMMAND under LIMITS, which are "
	      "processes=N,file=BYTES,cpus=N\n"
	      "       (0 is no limit)\n"
	      "exec   become the program of the descriptor FD, called NAME\n"
	      "stdio  connect stdin and stdout to the socket PATH (for MCP "
	      "configurations)\n"
	      "forward\n"
	      "       make the sockets DIR/NAME and carry their connections "
	      "to addresses,\n"
	      "       each after the bytes in TOKENFILE\n"
	      "probe  make the break-out test, for icsupervisor\n",
	    to);
}

static int
misused(const char *what)
{
	fprintf(stderr, "ic-bridge: %s\n", what);
	usage(stderr);
	return BRIDGE_EXIT_USAGE;
}

/* Parse the options of `run` and `egress`.  Returns the index after them. */
static int
run_options(struct run *r, int argc, char **argv)
{
	int i = 0, n;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--listen") == 0 && i + 1 < argc)
			r->listen = argv[++i];
		else if (strcmp(argv[i], "--limits") == 0 && i + 1 < argc &&
			 limits_parse(argv[i + 1], &r->limits))
			i++;
		else if (r->service && strcmp(argv[i], "--publish") == 0 &&
			 i + 1 < argc && bridge_publish_ports(argv[i + 1]))
			i++;
		else if (r->service && strcmp(argv[i], "--health") == 0 &&
			 i + 1 < argc && (n = (int)strtol(argv[i + 1], NULL, 10)) > 0 &&
			 n < argc - i - 1 && health_take(n, argv + i + 2))
			i += n + 1;
		else if (r->agent && strcmp(argv[i], "--env") == 0 &&
			 i + 1 < argc)
			r->environment = argv[++i];
		else if (r->agent && strcmp(argv[i], "--filter") == 0 &&
			 i + 1 < argc)
			r->filter = argv[++i];
		else if (r->agent && strcmp(argv[i], "--publish") == 0 &&
			 i + 1 < argc && bridge_publish_ports(argv[i + 1])) {
			r->publish = true;
			i++;
		} else if (r->agent && strcmp(argv[i], "--services") == 0 &&
			   i + 1 < argc && services_ports(argv[i + 1])) {
			r->services = true;
			i++;
		} else if (r->agent && strcmp(argv[i], "--own-network") == 0)
			r->own_network = true;
		else if (r->agent && strcmp(argv[i], "--supervised") == 0)
			r->supervised = true;
		else if (r->agent && strcmp(argv[i], "--turns") == 0)
			r->turns = r->terminal.turns = true;
		else if (r->agent && strcmp(argv[i], "--pty") == 0)
			r->terminal.kind = TERMINAL_PTY;
		else if (r->agent && strcmp(argv[i], "--pipes") == 0)
			r->terminal.kind = TERMINAL_PIPES;
		else if (r->agent && strcmp(argv[i], "--input") == 0)
			r->terminal.input = true;
		else if (r->agent && strcmp(argv[i], "--merge") == 0)
			r->terminal.merge = true;
		else
			break;
	}
	return i;
}

static int
cmd_run(int argc, char **argv, const char *name)
{
	const bool agent = strcmp(name, "run") == 0;
	struct run r = {.listen = "127.0.0.1:18080",
	    .agent = agent,
	    .service = strcmp(name, "serve") == 0};
	int i = run_options(&r, argc, argv);

	if (r.turns) {
		if (argc - i != 1 || !r.supervised)
			return misused("--turns needs --supervised and a "
				       "directory");
		r.terminal.kind = TERMINAL_PIPES;
		r.where = argv[i];
		i = run_command(&r);
		return i == -1 ? misused("--listen takes ADDRESS:PORT, as "
					 "127.0.0.1:18080")
			       : i;
	}
	if (argc - i < 3 || argv[i][0] == '-' || strcmp(argv[i + 1], "--") != 0)
		return misused(
		    agent ? "run needs a directory, --, and a command"
			  : "egress and serve need a socket, --, and a "
			    "command");
	r.where = argv[i];
	r.argv = argv + i + 2;
	i = run_command(&r);
	if (i == -1)
		return misused("--listen takes ADDRESS:PORT, as "
			       "127.0.0.1:18080");
	return i;
}

static int
cmd_limit(int argc, char **argv)
{
	struct bridge_limits l;

	if (argc < 3 || !limits_parse(argv[0], &l) ||
	    strcmp(argv[1], "--") != 0)
		return misused("limit needs processes=N,file=BYTES,cpus=N, --, "
			       "and a command");
	limits_run(&l, argv + 2);
}

static int
cmd_exec(int argc, char **argv)
{
	char *end;
	long fd = strtol(argv[0], &end, 10);
	int save;

	if (argc < 3 || *end != '\0' || fd < 3 || fd > 65535 ||
	    strcmp(argv[1], "--") != 0)
		return misused("exec needs a descriptor, --, and a name");
	if (fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0)
		(void)syscall(SYS_execveat, (int)fd, "", argv + 2, environ,
		    AT_EMPTY_PATH);
	save = errno;
	fprintf(stderr, "ic-bridge: %s: %s\n", argv[2], strerror(save));
	return save == ENOENT ? 127 : 126;
}

int
main(int argc, char **argv)
{
	/*
	 * The agent must not inspect or trace a process that guards its
	 * session.
	 */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		bridge_die("prctl");
	if (argc >= 2 &&
	    (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		usage(stdout);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "stdio") == 0)
		return stdio_run(argv[2]);
	if (argc == 4 && strcmp(argv[1], "probe") == 0)
		return probe_run((int)strtol(argv[2], NULL, 10),
		    (int)strtol(argv[3], NULL, 10));
	if (argc >= 3 &&
	    (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "egress") == 0 ||
		strcmp(argv[1], "serve") == 0))
		return cmd_run(argc - 2, argv + 2, argv[1]);
	if (argc >= 6 && strcmp(argv[1], "forward") == 0)
		return forward_run(argc - 2, argv + 2);
	if (argc >= 3 && strcmp(argv[1], "limit") == 0)
		return cmd_limit(argc - 2, argv + 2);
	if (argc >= 3 && strcmp(argv[1], "exec") == 0)
		return cmd_exec(argc - 2, argv + 2);
	return misused(
	    argc < 2 ? "no command is given"
		     : "the commands are `run`, `egress`, `serve`, `forward`, `limit`, "
		       "`exec` and `stdio PATH`");
}
