# SPDX-License-Identifier: ISC
"""Bytes written to control.sock, and the replies: name, bytes, code, error.
One call is held; ID and DIGEST are replaced by its own."""

CONTROL = [
    ("an empty line", b"\n", "bad-request",
     "a request is one JSON object on one line: request:1:1: ends too early "
     "(it is empty: write {} at least)"),
    ("a word", b"status\n", "bad-request",
     "a request is one JSON object on one line: request:1:1: not JSON "
     "(strings in double quotes, no comments, no comma before ] or })"),
    ("binary", bytes(range(128, 256)) + b"\n", "bad-request",
     "a request is one JSON object on one line: request:1:1: not well-formed "
     "Unicode"),
    ("a NUL", b"\0\n", "bad-request",
     "a request is one JSON object on one line: request:1:1: not JSON "
     "(strings in double quotes, no comments, no comma before ] or })"),
    ("a list", b'["status"]\n', "bad-request",
     "a request is one JSON object on one line: request:1:1: must be an "
     "object: {...}"),
    ("cut short", b'{"op":"status"\n', "bad-request",
     "a request is one JSON object on one line: request:1:15: ends too early "
     "(a bracket or quote is not closed)"),
    ("no op", b"{}\n", "bad-request",
     "a request is one JSON object on one line: request: \"op\" is missing"),
    ("op a number", b'{"op":1}\n', "bad-request",
     "a request is one JSON object on one line: request: op: must be a "
     "string, is a number"),
    ("op empty", b'{"op":""}\n', "bad-request",
     "unknown \"op\": known are ping, status, pending, show, approve, "
     "attach, deny, watch, budget, budget-set, checkpoint, events, interrupt, keys, "
     "keys-reload, metrics, paste, reload, revoke, send, tools, trust, undo, undone, unlock, stop"),
    ("an unknown op", b'{"op":"approve-all"}\n', "bad-request",
     "unknown \"op\": known are ping, status, pending, show, approve, "
     "attach, deny, watch, budget, budget-set, checkpoint, events, interrupt, keys, "
     "keys-reload, metrics, paste, reload, revoke, send, tools, trust, undo, undone, unlock, stop"),
    ("an op with a NUL", b'{"op":"stop\\u0000"}\n', "bad-request",
     "a request is one JSON object on one line: request: op: must not hold a "
     "NUL"),
    ("op twice", b'{"op":"ping","op":"stop"}\n', "bad-request",
     "a request is one JSON object on one line: request:1:14: duplicate "
     "member name"),
    ("an unknown member", b'{"op":"ping","force":true}\n', "bad-request",
     "a request is one JSON object on one line: request: force: unknown key. "
     "Known here: op, id, digest, because, by, key, value, path, message, session, "
     "server, tool, policy, annotations, lists, times, answer, signed, typed"),
    ("two objects", b'{"op":"ping"}{"op":"stop"}\n', "bad-request",
     "a request is one JSON object on one line: request:1:14: something "
     "after the value"),
    ("nested 9 deep", b'{"op":' + b"[" * 9 + b"]" * 9 + b"}\n", "bad-request",
     "a request is one JSON object on one line: request: op: must be a "
     "string, is an array"),
    ("bad UTF-8", b'{"op":"\xff"}\n', "bad-request",
     "a request is one JSON object on one line: request:1:8: not well-formed "
     "Unicode"),
    ("over 64 KiB", b'{"op":"' + b"x" * 80000 + b'"}\n', "bad-request",
     "a request is one line of at most 64 KiB"),
    ("show without an id", b'{"op":"show"}\n', "bad-request",
     "\"id\" is missing: the short id of a pending call"),
    ("show a number", b'{"op":"show","id":7}\n', "bad-request",
     "a request is one JSON object on one line: request: id: must be a "
     "string, is a number"),
    ("show nothing", b'{"op":"show","id":""}\n', "not-found",
     "no pending call has this id; it may be mistyped. See: icctl pending"),
    ("show another", b'{"op":"show","id":"0000"}\n', "not-found",
     "no pending call has this id; it may be mistyped. See: icctl pending"),
    ("show one that is too long", b'{"op":"show","id":"IDIDID"}\n',
     "not-found",
     "no pending call has this id; it may be mistyped. See: icctl pending"),
    ("show with a NUL", b'{"op":"show","id":"ID\\u0000"}\n', "bad-request",
     "a request is one JSON object on one line: request: id: must not hold a "
     "NUL"),
    ("approve without an id", b'{"op":"approve"}\n', "bad-request",
     "\"id\" is missing: the short id of a pending call"),
    ("approve without a digest", b'{"op":"approve","id":"ID"}\n',
     "bad-request",
     "\"digest\" must be the 64 hex digits that `show` gives for this call"),
    ("approve with a short digest",
     b'{"op":"approve","id":"ID","digest":"00"}\n', "bad-request",
     "\"digest\" must be the 64 hex digits that `show` gives for this call"),
    ("approve with another digest",
     b'{"op":"approve","id":"ID","digest":"' + b"0" * 64 + b'"}\n', "changed",
     "this is not the call that was shown: its digest differs. Look again: "
     "icctl show ID"),
    ("approve with a digest in capitals",
     b'{"op":"approve","id":"ID","digest":"' + b"A" * 64 + b'"}\n',
     "bad-request",
     "\"digest\" must be the 64 hex digits that `show` gives for this call"),
    ("deny with a long because", b'{"op":"deny","id":"ID","digest":"DIGEST",'
     b'"because":"' + b"x" * 513 + b'"}\n', "bad-request",
     "\"because\" must be text of at most 512 bytes"),
    ("deny because of a number",
     b'{"op":"deny","id":"ID","digest":"DIGEST","because":1}\n', "bad-request",
     "a request is one JSON object on one line: request: because: must be a "
     "string, is a number"),
    ("a limit without its number", b'{"op":"budget-set","key":"maxSteps"}\n',
     "bad-request", "\"key\" or \"value\" is missing: a limit and its "
     "number"),
    ("unlock what is not locked", b'{"op":"unlock"}\n', "not-found",
     "no provider is locked"),
]
