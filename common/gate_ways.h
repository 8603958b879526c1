/* SPDX-License-Identifier: ISC */
/*
 * A sandbox whose container cannot use Unix sockets of the host: `ic-bridge
 * forward` carries its connections over TCP, one listener of gated for each of
 * the session's sockets.  Each connection begins with GATE_TOKEN bytes.  Only
 * libc is needed, because ic-bridge has nothing else.
 *
 * The first connection is made to the way CHECK, and lasts as long as the
 * session. icsupervisor writes which addresses to try: their number, and for
 * each an IPv4 address and a port in network byte order.  The answer is a byte
 * for each: 0 if a connection was made, otherwise 1; then a byte: 0 if there is
 * a default route of IPv6, otherwise 1; the address to which the default route
 * of IPv4 leads, in network byte order, or 0; and device and inode of the
 * directory with the sockets, 64 bits each, as the machine has them.
 */
#ifndef GATE_WAYS_H
#define GATE_WAYS_H

enum gate_way {
	GATE_CHECK,	/* icsupervisor */
	GATE_BRIDGE,	/* icsupervisor: bridge.sock */
	GATE_PROXY,	/* mcp-proxyd: proxy.sock */
	GATE_MITM,	/* mitmd: mitm-proxy.sock */
	GATE_TERM,	/* termd: terminal.sock */
	GATE_PORTS,	/* portd: publish.sock */
	GATE_SERVICES,	/* the egressd of services: services.sock */
	GATE_WAYS,
};

#define GATE_TOKEN 44U
#define GATE_MAX_TRIES 16U
#define GATE_TRY_SIZE 6U
#define GATE_ROUTES_SIZE 5U
#define GATE_PLACE_SIZE 16U
/* The answer to so many tries. */
#define GATE_ANSWER_SIZE(n) ((n) + GATE_ROUTES_SIZE + GATE_PLACE_SIZE)

#endif
