/* SPDX-License-Identifier: ISC */
/* Runs the instructions of seccomp filters that compilers use. */
#include "unit/confine/bpf_run.h"

#include <linux/seccomp.h>

#include <string.h>

uint32_t
bpf_run(const struct sock_filter *code, size_t n, const struct seccomp_data *d)
{
	const struct sock_filter *i;
	uint32_t a = 0;
	bool yes;

	for (size_t pc = 0; pc < n; pc++) {
		i = &code[pc];
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k > sizeof(*d) - sizeof(a) || i->k % 4 != 0)
				return BPF_BROKEN;
			memcpy(&a, (const uint8_t *)d + i->k, sizeof(a));
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			continue;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_RET | BPF_K:
			return i->k;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = a == i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = a >= i->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			yes = a > i->k;
			break;
		default:
			return BPF_BROKEN;
		}
		pc += yes ? i->jt : i->jf;
	}
	return BPF_BROKEN;
}
