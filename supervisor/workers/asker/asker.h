/* SPDX-License-Identifier: ISC */
/*
 * Between `icctl doctor --check-api` and ic-asker. Standard input has the host
 * on a line of its own, then the request as it is sent. Standard output has
 * one line: "status NUMBER", or "failed REASON".
 *
 * If "list LIMIT" follows the host, the answers are what a forge says about a
 * token. There are several requests then, one for each page of at most LIMIT
 * repositories, which are sent until a page is the last one. The lines of
 * list.h precede the status; "rest" says that there are more repositories than
 * were read.
 */
#ifndef ASKER_H
#define ASKER_H

#define ASKER_FD_PROXY 3 /* connected to mitm-proxy.sock */
#define ASKER_FD_CA 4    /* the session's certificate, PEM */
#define ASKER_MAX_INPUT 65536U

#endif
