/* SPDX-License-Identifier: ISC */
/*
 * ic-look looks at the services of config.json for icsupervisor and for icctl
 * doctor: who listens there, and what the services answer. It and
 * services_look.c include this file. Reports (base/report.h) on its standard
 * input name the services; those on its standard output begin with SEEN_AT for
 * each. What is known without a service's answer is reported before ic-look
 * gives up every right, which it does before it reads an answer.
 */
#ifndef HOST_SERVICES_SEEN_H
#define HOST_SERVICES_SEEN_H

#define SEEN_PROGRAM "ic-look"

/* Given to ic-look: "PORT ADDRESS" of each service, in their order. */
#define SEEN_SERVICE 's'

enum seen_report {
	SEEN_AT = 'a',      /* the number of the service that follows */
	SEEN_LOCAL = 'l',   /* its address is one of this machine */
	SEEN_USER = 'u',    /* it has a listener, of this user */
	SEEN_MIXED = 'm',   /* several users have one */
	SEEN_NAME = 'p',    /* the listener's program */
	SEEN_REFUSED = 'r', /* its kind, which no agent may have */
	SEEN_KIND = 'k',    /* its kind */
	SEEN_CAN = 'c',     /* its powers */
	SEEN_ERRNO = 'e',   /* the kernel does not tell who listens */
};

#endif
