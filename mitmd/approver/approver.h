/* SPDX-License-Identifier: ISC */
/*
 * Internals of the approver: one call at a time is considered, with one request
 * to the model.
 */
#ifndef APPROVER_H
#define APPROVER_H

#include "approver/opinion.h"
#include "body/meter.h"
#include "common/ipc/stream.h"
#include "common/ipc/worker.h"
#include "provider/question.h"

/* icsupervisor waits no longer, either. */
#define APPROVER_MS 20000U

/* The request about one call. */
struct exchange {
	uint32_t stream; /* 0: there is none */
	uint64_t call;
	uint8_t digest[32];
	int fd; /* the stream, once keyd has made it */
	struct loop_io io;
	struct loop_timer timer;
	struct buf out; /* the body, as a frame */
	uint32_t length;
	uint8_t fhead[STREAM_HEADER];
	size_t fhave;
	struct stream_frame frame;
	struct buf in;     /* its contents so far */
	struct buf answer; /* bodies so far */
	unsigned status;   /* 0: no head yet */
	bool whole;        /* its end was read */
	bool unsent;       /* keyd did not send the request */
	struct meter meter;
};

struct approver_env {
	struct worker w;
	struct provider *provider;
	unsigned index; /* the index of its keyd */
	char model[129];
	unsigned route;
	char path[QUESTION_MAX_PATH];
	uint32_t last; /* number of the last stream, without the bit */
	struct exchange x;
};

extern struct approver_env approver_env;

/* exchange.c */
void exchange_init(void);
/* Ask the model about this call. An earlier request ends as failed. */
void exchange_begin(const struct msg_CONSIDER *);
/* keyd has made the stream. Takes `fd`. */
void exchange_stream(uint32_t stream, int fd);
/* auditd refuses the request. */
void exchange_refused(uint32_t stream, enum proto_refused);

/* serve.c */
void approver_serve(void) __attribute__((noreturn));

#endif
