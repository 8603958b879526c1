/* SPDX-License-Identifier: ISC */
/* How many digits of an amount of money people are shown. */
#ifndef AMOUNT_H
#define AMOUNT_H

/*
 * Returns the decimals that show three significant digits, but at least
 * `least`: a small amount is not shown as 0.
 */
int amount_places(double n, int least);
/* Returns the amount, rounded down: what is not reached is not shown as if. */
double amount_floor(double n);

#endif
