/* SPDX-License-Identifier: ISC */
/* The JDKs that the sandbox sees. */
#ifndef BOX_CLIENTS_JDK_H
#define BOX_CLIENTS_JDK_H

#include <stddef.h>

enum jdk_kind {
	JDK_PROPERTIES, /* net.properties, which names the proxy */
	JDK_STORE       /* the certificates that it trusts */
};

struct jdk_file {
	char *path; /* without links, on the host and in the sandbox */
	enum jdk_kind kind;
};

#define JDK_MAX_FILES 32U

/*
 * Look for files of JDKs that a bubblewrap sandbox sees. Returns the nth, or
 * NULL; they are looked for once.
 */
const struct jdk_file *jdk_nth(size_t n);

#endif
