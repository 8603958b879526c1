/* SPDX-License-Identifier: ISC */
/*
 * Begins another file of the audit log when one has its size (`audit.rotate`).
 * auditd counts what it writes and asks; icsupervisor makes the file, gives the
 * old one its number, and sends auditd a descriptor of the new one.
 */
#ifndef AUDITROTATE_H
#define AUDITROTATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns the bytes that auditd may write to a file of this size before it asks
 * for another one.
 */
uint64_t rotate_room(uint64_t size);
/* Returns true if the newest file has the size, and auditd has taken it. */
bool rotate_due(void);
/* auditd asks for another file. */
void rotate_full(void);
/* auditd writes to the new file. */
void rotate_taken(void);

#endif
