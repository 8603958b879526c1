#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A name server on 127.0.0.1:53, for tests in a network of their own; shares no
code with the product.  The last label but one says how a name is answered:
`good` with 127.0.0.1; `chain` with a message full of aliases that lead to
another such name; `endless` with a message that never ends; `silent` not at
all; all others do not exist."""
import json
import os
import socket
import struct
import sys
import threading
import time

CLASS_IN, TYPE_A, TYPE_CNAME = 1, 1, 5
ALIASES = 1000


def question(q):
    """Returns the labels, the type and the bytes of the question."""
    at, labels = 12, []
    while q[at] != 0:
        labels.append(q[at + 1:at + 1 + q[at]].decode())
        at += 1 + q[at]
    return labels, struct.unpack(">H", q[at + 1:at + 3])[0], q[12:at + 5]


def message(q, asked, records, code=0, cut=False):
    flags = 0x8580 | code | (0x0200 if cut else 0)
    return q[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + \
        asked + b"".join(records)


def name(*labels):
    return b"".join(bytes([len(x)]) + x.encode() for x in labels) + b"\0"


def record(owner, kind, data):
    return owner + struct.pack(">HHIH", kind, CLASS_IN, 0, len(data)) + data


def aliases(labels, kind):
    """Returns a chain of aliases whose last one is asked for next."""
    found, owner = [], b"\xc0\x0c"
    for i in range(ALIASES):
        to = name(f"{labels[0]}-{i}"[-40:], *labels[1:])
        found.append(record(owner, TYPE_CNAME, to))
        owner = to
        if len(b"".join(found)) > 60000:
            break
    return found


def udp(sock):
    while True:
        q, peer = sock.recvfrom(4096)
        labels, kind, asked = question(q)
        how = labels[-2] if len(labels) > 1 else ""
        if how == "good":
            records = [] if kind != TYPE_A else [
                record(b"\xc0\x0c", TYPE_A, socket.inet_aton("127.0.0.1"))]
            sock.sendto(message(q, asked, records), peer)
        elif how in ("chain", "endless"):
            sock.sendto(message(q, asked, [], cut=True), peer)
        elif how != "silent":
            sock.sendto(message(q, asked, [], code=3), peer)


def stream(s):
    with s:
        size = struct.unpack(">H", s.recv(2, socket.MSG_WAITALL))[0]
        q = s.recv(size, socket.MSG_WAITALL)
        labels, kind, asked = question(q)
        if labels[-2] == "chain":
            m = message(q, asked, aliases(labels, kind))
            s.sendall(struct.pack(">H", len(m)) + m)
            s.recv(1)
            return
        # As long as a message can be, and a byte now and then.
        s.sendall(struct.pack(">H", 65535) + message(q, asked, []))
        while True:
            time.sleep(0.2)
            s.sendall(b"\0")


def guarded(s):
    try:
        stream(s)
    except (OSError, struct.error):
        pass


def main():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 53))
    listener = socket.create_server(("127.0.0.1", 53), backlog=128)
    threading.Thread(target=udp, args=(sock,), daemon=True).start()
    print(json.dumps({"pid": os.getpid()}), flush=True)
    while True:
        s, _ = listener.accept()
        threading.Thread(target=guarded, args=(s,), daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
