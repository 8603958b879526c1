#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Compares our parser of HTTP/1.1 with Node's, over the kept corpus and over
messages composed at random of what readers of HTTP have disagreed about.

usage: http_peer.py OURS [--messages N | --seconds N] [--seed N]

OURS is the program of http_peer.c. A message that both accept must have the same
first line, headers and body in both, and end at the same byte; and one that ours
accepts, Node's must not refuse, but for the reasons in OWN. Node's parser may
accept what ours refuses: ours is the stricter one. TAP; skipped without Node."""
import argparse
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "corpus_http1")
BATCH = 2000
# Node's parser knows a list of methods and has limits of its own; a target that is
# no URL is refused by us where the host is checked (http1_request_hop).
OWN = {"HPE_INVALID_METHOD", "HPE_INVALID_URL", "HPE_HEADER_OVERFLOW"}

NAMES = ["Host", "Content-Length", "content-length", "Transfer-Encoding", "TE", "Connection",
         "Content_Length", "Content-Length ", " Content-Length", "Transfer-Encoding\t", "X",
         "X-Long-Name", "Expect", "Upgrade", "Content-Lengt\x68", "Trailer", "", "a b", "\x00",
         "Transfer\xadEncoding", "Keep-Alive", "Cookie"]
VALUES = ["3", "0", "+3", "-1", "03", "0x3", "3, 3", "3,4", " 3", "3 ", "\t3\t", "3\x00", "3;q=1",
          "99999999999999999999", "18446744073709551619", "chunked", "Chunked", "CHUNKED",
          "chunked, chunked", "gzip, chunked", "chunked, gzip", "identity", " chunked",
          "chunked ", "\tchunked", "chunked;a", "xchunked", "\"chunked\"", "close", "upgrade",
          "keep-alive", "h.co", "a\r\n b", "a\rb", "a\nb", "", "\x7f", "\x80", "trailers",
          "100-continue", "websocket"]
SPLITS = [": ", ":", ":  ", ":\t", " : ", " :", "\t: ", "", "::", ":\r\n "]
ENDS = ["\r\n"] * 30 + ["\n", "\r", "\r\r\n", "\n\r\n", "\r\n\r\n", "\x0b", "\r\n "]
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "CONNECT", "get", "G ET",
           "TRACE", "POST\t", "QUERY"]
TARGETS = ["/", "/x?y=1", "*", "http://h.co/", "h.co:443", "/a b", "/a\tb", "/\x80", "", "/#f", "//"]
VERSIONS = ["HTTP/1.1"] * 12 + ["HTTP/1.0", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", "HTTP/1.10",
                                "HTTP/01.1", "HTTP /1.1", "HTTP/1", "ICE/1.0", "RTSP/1.0"]
STATUSES = ["200", "204", "304", "100", "101", "404", "099", "600", "20", "2000", "+200", "2e2"]
BODIES = ["", "abc", "abcGET /2 HTTP/1.1\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "0\r\n\r\n",
          "3\nabc\n0\n\n", "3\r\nabc\r\n0\r\nX: y\r\n\r\n", "3;a=b\r\nabc\r\n0\r\n\r\n",
          "0x3\r\nabc\r\n0\r\n\r\n", "03\r\nabc\r\n0\r\n\r\n", "3 \r\nabc\r\n0\r\n\r\n",
          " 3\r\nabc\r\n0\r\n\r\n", "+3\r\nabc\r\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n",
          "3\r\nabc0\r\n\r\n", "3\r\nabc\r0\r\n\r\n", "3\r\nabc\r\n0\r\n", "3\r\nab",
          "ffffffffffffffff\r\nabc", "10000000000000003\r\nabc\r\n0\r\n\r\n", "-3\r\nabc\r\n",
          "3\r\r\nabc\r\n0\r\n\r\n", "3;\r\nabc\r\n0\r\n\r\n", "3;\nabc\r\n0\r\n\r\n",
          "A\r\nabcdefghij\r\n0\r\n\r\n", "0\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n"]


def composed(rnd):
    """Returns a message of odd parts, of which most have few."""
    odd = rnd.choice((0, 0.1, 0.3))

    def pick(parts):
        return rnd.choice(parts) if rnd.random() < odd else parts[0]

    request = rnd.random() < 0.6
    if request:
        first = " ".join((rnd.choice(METHODS[:4]) if rnd.random() > odd else rnd.choice(METHODS),
                          pick(TARGETS), pick(VERSIONS)))
    else:
        first = " ".join((pick(VERSIONS), pick(STATUSES), pick(["OK", "", "a b", "\x80", "\x01"])))
    text = first + pick(ENDS)
    for _ in range(rnd.choice((0, 1, 1, 2, 2, 3, 4))):
        i = rnd.randrange(3)
        name, value = ((NAMES[1], VALUES[0]), (NAMES[3], VALUES[15]), (NAMES[0], "h.co"))[i]
        text += ((rnd.choice(NAMES) if rnd.random() < odd else name) + pick(SPLITS) +
                 (rnd.choice(VALUES) if rnd.random() < odd else value) + pick(ENDS))
    text += pick(ENDS)
    return request, (text + rnd.choice(BODIES)).encode("latin1")


def changed(rnd, kept):
    """Returns a message of the corpus with a few bytes changed, cut or doubled."""
    request, text = rnd.choice(kept)
    text = bytearray(text)
    for _ in range(rnd.randrange(3)):
        at = rnd.randrange(len(text) + 1)
        how = rnd.randrange(4)
        if how == 0:
            text[at:at + 1] = bytes([rnd.choice(b"\r\n\t :;,0\x00\x7f\xff-_aA")])
        elif how == 1:
            del text[at:at + rnd.randrange(1, 4)]
        elif how == 2:
            text[at:at] = rnd.choice(BODIES + VALUES).encode("latin1")
        else:
            text[at:at] = text[at:at + rnd.randrange(1, 30)]
    return request, bytes(text)


def corpus():
    kept = []
    for name in sorted(os.listdir(CORPUS)):
        with open(os.path.join(CORPUS, name), "rb") as f:
            data = f.read()
        # fuzz_http1.c: the first byte chooses the reader, the second cuts.
        if len(data) > 2 and data[0] % 4 < 2:
            kept.append((data[0] % 4 == 0, data[2:]))
    return kept


def lines(command, messages):
    data = b"".join((b"Q" if q else b"S") + struct.pack(">I", len(m)) + m for q, m in messages)
    said = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
    return said.decode("ascii").split("\n")[:-1]


def is_lenient(request, message, b):
    """Returns True for a response that ours reads as RFC 9112 has it, and Node's does
    not: with white space or an empty extension after the size of a chunk, or tabs
    around a length."""
    if request:
        return False
    if b[0] == "bad":
        return b[1] == "HPE_INVALID_CONTENT_LENGTH" and b"\t" in message
    return b[5] == "bad" and re.search(
        rb"\n[0-9A-Fa-f]+(?:[ \t]+|[ \t]*;[^\r\n]*)(?:\r|\Z)", message) is not None


def differ(request, message, ours, theirs):
    """Returns the reason why the two lines contradict each other, or None."""
    a, b = ours.split(" "), theirs.split(" ")
    if a[0] != "ok" or is_lenient(request, message, b):
        return None
    if b[0] == "bad":
        return None if b[1] in OWN else "only ours accepts it"
    if b[0] == "more":
        return "Node's parser waits for more of the head"
    if a[1:4] != b[1:4]:
        return "the heads differ"
    # After an upgrade the bytes are not HTTP; CONNECT is one.
    if b[6:] == ["upgrade"]:
        return None
    if a[5] == "bad":
        return None
    if a[4] != b[4]:
        return "the bodies differ"
    if {"close": "open"}.get(a[5], a[5]) != b[5]:
        return "their ends differ"
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("ours")
    p.add_argument("--messages", type=int, default=20000)
    p.add_argument("--seconds", type=int)
    p.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    args = p.parse_args()
    node = shutil.which("node")
    if node is None:
        print("1..0 # SKIP Node is not here")
        return 0
    rnd, kept, met, seen, accepted = random.Random(args.seed), corpus(), {}, 0, 0
    end = time.monotonic() + (args.seconds or 0)
    batch = kept
    while True:
        ours = lines([args.ours], batch)
        theirs = lines([node, "--no-deprecation", os.path.join(HERE, "http_peer.js")], batch)
        assert len(ours) == len(theirs) == len(batch), (len(ours), len(theirs), len(batch))
        for message, a, b in zip(batch, ours, theirs):
            accepted += a.startswith("ok") and b.startswith("ok")
            why = differ(*message, a, b)
            if why and len(met.setdefault(why, [])) < 3:
                met[why].append((message, a, b))
        seen += len(batch)
        if time.monotonic() > end if args.seconds else seen >= args.messages:
            break
        batch = [composed(rnd) if rnd.random() < 0.7 else changed(rnd, kept)
                 for _ in range(BATCH)]
    for why, cases in met.items():
        for (request, message), a, b in cases:
            print(f"# {why}: {'request' if request else 'response'} {message!r}\n#   ours: {a}\n"
                  f"#   Node: {b}")
    print("not ok 1" if met else "ok 1", f"- {seen} messages mean the same to Node's parser and "
          f"to ours, or ours refuses them (seed {args.seed})")
    # Otherwise nothing was compared.
    few = accepted < seen // 20
    print("not ok 2" if few else "ok 2", "- enough of them are accepted by both")
    print(f"# {accepted} of them\n1..2")
    return 1 if met or few else 0


sys.exit(main())
