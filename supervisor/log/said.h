/* SPDX-License-Identifier: ISC */
/* Words of icsupervisor's lines for a person by which icctl divides them. */
#ifndef LOG_SAID_H
#define LOG_SAID_H

/* Between the reason why a server does not run and the path of session.log. */
#define SAID_LOG ". Log: "

#endif
