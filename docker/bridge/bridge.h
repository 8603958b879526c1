/* SPDX-License-Identifier: ISC */
/*
 * Internals of ic-bridge: the TCP door of the sandbox, the command that it
 * starts, and the command's terminal or pipes.
 */
#ifndef BRIDGE_H
#define BRIDGE_H

#include <sys/types.h>
#include <sys/un.h>

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BRIDGE_PAIRS_MAX 1280U /* as many as mitmd takes */
#define BRIDGE_BUF 65536U
#define BRIDGE_PATH sizeof(((struct sockaddr_un *)0)->sun_path)

/* Exit statuses of its own. */
#define BRIDGE_EXIT_USAGE 2
#define BRIDGE_EXIT_SESSION 125 /* the session ended before the command */

/* One direction: bytes read from `from` that `to` has not taken yet. */
struct flow {
	int from, to;
	size_t off, len;
	bool eof;  /* `from` has no more bytes */
	bool done; /* and `to` has been told */
	uint8_t bytes[BRIDGE_BUF];
};

/* limits.c: 0 means that there is no limit. */
struct bridge_limits {
	unsigned long long processes; /* threads included */
	unsigned long long file;      /* bytes of one file */
	unsigned cpus;
};

/* Reads "processes=N,file=N,cpus=N". Returns false if it is not that. */
bool limits_parse(const char *text, struct bridge_limits *);
/* Sets them for this process and all that it starts. */
void limits_apply(const struct bridge_limits *);
/* `ic-bridge limit`: becomes the command. */
int limits_run(const struct bridge_limits *, char **argv)
    __attribute__((noreturn));

void bridge_die(const char *what) __attribute__((noreturn));
/* Connects to the Unix socket `path`; -1 with errno. */
int unix_connect(const char *path, int flags);

/* flow.c */
/* Moves whatever can be moved now. Returns false if the flow broke. */
bool flow_move(struct flow *);
/* `ic-bridge stdio`: stdin and stdout against the socket `path`. */
int stdio_run(const char *path);

/* pairs.c: connections to the TCP door, each with one of ours to `socket`. */
int pairs_listen(const char *where);
int pairs_target(const char *socket);
void pairs_accept(int listener);
/* Adds the descriptors of all pairs to p[]; returns how many. */
nfds_t pairs_poll(struct pollfd *p, nfds_t first);
void pairs_move(const struct pollfd *p);
/* The most that pairs_poll adds. */
#define PAIRS_POLLS (2 * BRIDGE_PAIRS_MAX)

/*
 * terminal.c: the command's standard input and output, which are a
 * pseudo-terminal or pipes of this sandbox, carried over one connection to
 * the session's terminal socket.
 */
enum terminal_kind {
	TERMINAL_NONE,  /* the command inherits ours */
	TERMINAL_PTY,   /* a pseudo-terminal of its own */
	TERMINAL_PIPES, /* three pipes */
};

struct terminal_how {
	enum terminal_kind kind;
	bool input; /* pipes: stdin is a pipe too, else /dev/null */
	bool merge; /* pipes: stdout and stderr are the same pipe */
};

#define TERMINAL_POLLS 4

/* Connects, makes the pseudo-terminal or pipes, and waits for the size. */
int terminal_open(const struct terminal_how *, const char *socket);
/* In the command's process: makes it the leader of a session of its own. */
int terminal_child(void);
/* The command runs: closes its ends here. */
void terminal_started(pid_t command);
/* Always sets TERMINAL_POLLS entries. Returns them. */
nfds_t terminal_poll(struct pollfd *p);
/* How long poll may wait for the terminal's sake in ms; -1: for ever. */
int terminal_timeout(void);
void terminal_move(const struct pollfd *p);
/*
 * The command has ended: reads what it left in its terminal or pipes. False
 * once all of it is with the session; until then poll and move on.
 */
bool terminal_pending(void);

/* run.c */
struct run {
	struct terminal_how terminal;
	struct bridge_limits limits;
	const char *listen;
	const char *where; /* the session's sockets, or egressd's socket */
	bool agent;        /* it ends with its session */
	char **argv;
};
int run_command(const struct run *);

#endif
