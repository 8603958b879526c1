/* SPDX-License-Identifier: ISC */
/*
 * Internals of ic-bridge: the TCP listener of the sandbox, the command that it
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

#define BRIDGE_PAIRS_MAX 1280U /* as many as mitmd accepts */
#define BRIDGE_BUF 65536U
#define BRIDGE_PATH sizeof(((struct sockaddr_un *)0)->sun_path)

/* Exit statuses of ic-bridge itself. */
#define BRIDGE_EXIT_USAGE 2
#define BRIDGE_EXIT_SESSION 125 /* the session ended before the command */

/* One direction: bytes read from `from` that `to` has not accepted yet. */
struct flow {
	int from, to;
	size_t off, len;
	bool eof;  /* `from` has no more bytes */
	bool done; /* `to` has been told of the end */
	uint8_t bytes[BRIDGE_BUF];
};

/*
 * forward.c: `ic-bridge forward`, the sidecar of a container that reaches no
 * Unix socket of the host: carry connections to sockets in a directory over TCP
 * to gated.  Returns an exit status.
 */
int forward_run(int argc, char **argv);

/* limits.c: 0 means that there is no limit. */
struct bridge_limits {
	unsigned long long processes; /* including threads */
	unsigned long long file;      /* bytes per file */
	unsigned cpus;
};

/* Parse "processes=N,file=N,cpus=N".  Returns false if `text` is not that. */
bool limits_parse(const char *text, struct bridge_limits *);
/* Set the limits for this process and everything that it starts. */
void limits_apply(const struct bridge_limits *);
/* `ic-bridge limit`: set the limits and become the command. */
int limits_run(const struct bridge_limits *, char **argv)
    __attribute__((noreturn));

void bridge_die(const char *what) __attribute__((noreturn));
/* Returns the time of the monotonic clock, in ms. */
uint64_t bridge_now_ms(void);
/* Connect to the Unix socket `path`.  Returns -1 with errno set on failure. */
int unix_connect(const char *path, int flags);
/*
 * Read (`in`) or write exactly `len` bytes.  Returns false if that cannot be
 * done.
 */
bool unix_whole(int fd, void *bytes, size_t len, bool in);

/* flow.c */
/* Move whatever can be moved now.  Returns false if the flow broke. */
bool flow_move(struct flow *);
/* Returns the events of `fd`, one of its two ends, that it waits for. */
short flow_wants(const struct flow *, int fd);
/* Returns true if poll() saw something that lets the flow continue. */
bool flow_ready(short from, short to);
/* `ic-bridge stdio`: connect stdin and stdout to the socket `path`. */
int stdio_run(const char *path);

/*
 * pairs.c: connections to the TCP listener, each paired with one to `socket`.
 */
int pairs_listen(const char *where);
int pairs_target(const char *socket);
void pairs_accept(int listener);
/*
 * Pair two connections, which are taken. `out` may be -1: then `in` is closed.
 * The bytes `first` are sent to `out` before anything else.
 */
void pairs_add(int in, int out, const void *first, size_t len);
/* Add the descriptors of all pairs to p[].  Returns their number. */
nfds_t pairs_poll(struct pollfd *p, nfds_t first);
void pairs_move(const struct pollfd *p);
/* The most entries that pairs_poll() adds. */
#define PAIRS_POLLS (2 * BRIDGE_PAIRS_MAX)

/*
 * publish.c: connections that the user's browser makes to ports of this
 * sandbox. A few connections to the session's publish.sock wait for one; portd
 * writes the number of a port on it, and bytes are copied from then on.
 */
/* Parse "3000,5173". Returns false if that is no list of ports. */
bool bridge_publish_ports(const char *text);
/* Connect to `socket` as soon as publish_poll() is called. */
int publish_target(const char *socket);
/* A service is behind the port: the first connections wait until it listens. */
void publish_await(void);
/* Returns true if nobody takes connections at the target any more. */
bool publish_lost(void);
nfds_t publish_poll(struct pollfd *p, nfds_t first);
/* Returns how long poll() may wait, in ms, or -1 for no limit. */
int publish_timeout(void);
void publish_move(const struct pollfd *p);
#define PUBLISH_IDLE 8U
#define PUBLISH_STREAMS (64U + PUBLISH_IDLE)
/* The most entries that publish_poll() adds. */
#define PUBLISH_POLLS (2 * PUBLISH_STREAMS)

/*
 * health.c: take the command, of `n` words, that says whether the service is
 * healthy. Returns false if that is impossible.
 */
bool health_take(int n, char **argv);
/* Returns true if the service was healthy once. Runs the check if not. */
bool health_ok(void);
/* A child has ended, which may be the check. */
void health_reaped(pid_t, int status);

/*
 * ports.c: append the ports of "5432,6379" to a list of at most `max`, which
 * has
 * `*n`. Returns false if that is no list of ports, or too long.
 */
bool ports_read(const char *text, uint16_t *ports, unsigned max, unsigned *n);

/*
 * services.c: services of the host, at ports of this sandbox's own loopback
 * addresses. Each connection becomes one to the session's services.sock, which
 * begins with a byte, the service's index.
 */
#define SERVICES_MAX 16U
/* Parse "5432,6379". Returns false if that is no list of ports. */
bool services_ports(const char *text);
/* Listen on those ports, for `socket`. Exits if a port is in use. */
void services_open(const char *socket);
nfds_t services_poll(struct pollfd *p);
void services_move(const struct pollfd *p, nfds_t n);
/* The most entries that services_poll() adds: both families. */
#define SERVICES_POLLS (2 * SERVICES_MAX)

/*
 * terminal.c: the command's standard input and output, a pseudo-terminal or
 * pipes of this sandbox, carried over one connection to the session's terminal
 * socket.
 */
enum terminal_kind {
	TERMINAL_NONE,  /* the command inherits ic-bridge's own */
	TERMINAL_PTY,   /* a pseudo-terminal of its own */
	TERMINAL_PIPES, /* three pipes */
};

struct terminal_how {
	enum terminal_kind kind;
	bool input; /* pipes: stdin is a pipe too, otherwise /dev/null */
	bool merge; /* pipes: stdout and stderr are the same pipe */
	bool turns; /* pipes: they are made for each turn */
};

#define TERMINAL_POLLS 4

/* Connect, make the pseudo-terminal or pipes, and wait for the size. */
int bridge_terminal_open(const struct terminal_how *, const char *socket);
/*
 * A turn begins: make its pipes. `input`, which is taken, becomes the command's
 * standard input; -1 stands for /dev/null.
 */
int terminal_turn(int input);
/* All output of the turn has been sent: tell termd. */
void terminal_turn_end(uint32_t turn);
/*
 * The command comes next: become the leader of its terminal's session, if this
 * process can, so that the kernel lets the command stop at ^Z.
 */
void terminal_lead(void);
/*
 * In the command's process: make it the leader of a process group, in front on
 * its terminal, and of a new session where this process leads none.
 */
int terminal_child(void);
/* The command runs: close its ends here. */
void terminal_started(pid_t command);
/*
 * Tell termd that the command has stopped. Returns false if it has no terminal,
 * or if there is nobody to be told.
 */
bool terminal_stopped(void);
/* Fill in TERMINAL_POLLS entries.  Returns TERMINAL_POLLS. */
nfds_t terminal_poll(struct pollfd *p);
/* Returns how long poll() may wait, in ms, or -1 for no limit. */
int terminal_timeout(void);
void terminal_move(const struct pollfd *p);
/*
 * The command has ended: read everything left in its terminal or pipes.
 * Returns false once all of it has been sent to the session; until then keep
 * polling and calling terminal_move().
 */
bool terminal_pending(void);

/* stopped.c: a command that has stopped itself. */
bool stopped_is(void);
/*
 * It has. `told`: the person's viewer is asked; otherwise the command is
 * continued soon.
 */
void stopped_begin(pid_t command, bool told);
/* Nobody waits for it to be stopped, or the person is back. */
void stopped_continue(void);
/* Continue it now, because a signal must reach it. */
void stopped_end(void);
/* It has ended. */
void stopped_gone(void);
/* Returns how long poll() may wait, in ms, or -1 for no limit. */
int stopped_timeout(void);
void stopped_move(void);

/*
 * attempts.c: the break-out test, in a process of its own.  It reads a struct
 * attempt_ask from `in`, writes what attempts.h says to `out`, and returns an
 * exit status.
 */
int probe_run(int in, int out);

/*
 * session.c: connect to icsupervisor, make the break-out test, and wait until
 * icsupervisor lets the agent start; exits if it does not.  Returns the
 * connection, which ends with the session.
 */
int bridge_session_open(const char *path, const struct bridge_limits *);

/*
 * setup.c: set the variables in the lines of a file; add a system-call filter,
 * which is a file of instructions. They exit if they cannot.
 */
void setup_environment(const char *path);
void setup_filter(const char *path);

/* own_network.c: Enter a network of our own; exits if it cannot be. */
void own_network(void);

/*
 * turns.c: a conversation. icsupervisor sends a command for each turn, on the
 * connection that bridge_session_open() returned; one runs at a time.
 */
struct turn {
	uint32_t number; /* 0: none runs */
	uint32_t flags;  /* BRIDGE_TURN_* */
	char **argv;
	int input;       /* its standard input; -1: none */
};

/*
 * Read what icsupervisor sends. Returns false when the connection has ended. If
 * a turn begins, it is in `*t`; a signal for the turn is in `*sig`, otherwise
 * 0.
 */
bool turns_read(int fd, struct turn *t, int *sig);
/* Report the end of the turn and forget it. Returns false as turns_read(). */
bool turns_ended(int fd, struct turn *, int status, unsigned leftovers);

/* run.c */
struct run {
	struct terminal_how terminal;
	struct bridge_limits limits;
	const char *listen;
	const char *environment, *filter; /* files; NULL: none */
	const char *where; /* the session's sockets, or egressd's socket */
	bool agent;        /* ends with its session */
	bool supervised;   /* icsupervisor made the sandbox, and tests it */
	bool turns;        /* it sends the commands, too: argv is NULL */
	bool publish;      /* bridge_publish_ports() has been called */
	bool services;     /* services_ports() has been called */
	bool service;      /* `serve`: the command is a service */
	bool own_network;  /* leave the container's network first */
	char **argv;
};
int run_command(const struct run *);

#endif
