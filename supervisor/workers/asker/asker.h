/* SPDX-License-Identifier: ISC */
/*
 * Between `icctl doctor --check-api` and ic-asker. Standard input has the host
 * on a line of its own, then the request as it is sent. Standard output has
 * one line: "status NUMBER", or "failed REASON". If "list" follows the host,
 * the answer is a forge's list of repositories, and lines as in list.h follow
 * the status.
 */
#ifndef ASKER_H
#define ASKER_H

#define ASKER_FD_PROXY 3 /* connected to mitm-proxy.sock */
#define ASKER_FD_CA 4    /* the session's certificate, PEM */
#define ASKER_MAX_INPUT 65536U

#endif
