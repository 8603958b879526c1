/* SPDX-License-Identifier: ISC */
/*
 * A connection from ic-bridge in the agent's sandbox to portd on the host, over
 * publish.sock.  portd writes one byte, the number of a published port in their
 * list, when a browser has connected to it; ic-bridge answers with one byte,
 * which says whether something in the sandbox listens there.  Everything after
 * that is the browser's and the sandbox's.  Only libc is needed.
 */
#ifndef PUBLISH_STREAM_H
#define PUBLISH_STREAM_H

#define PUBLISH_MAX_PORTS 8U
#define PUBLISH_NO 0U  /* nothing listens there; the end follows */
#define PUBLISH_YES 1U

#endif
