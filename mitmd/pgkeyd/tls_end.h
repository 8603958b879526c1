/* SPDX-License-Identifier: ISC */
/*
 * The process that ends TLS for pgkeyd. It is given connections of one
 * database, and gives back sockets that carry what is inside: to pgkeyd first,
 * and then, without noticing, to egressd.
 */
#ifndef TLS_END_H
#define TLS_END_H

/* Confine this process, which was just forked, and serve `link`. */
void tls_end_run(int link) __attribute__((noreturn));

#endif
