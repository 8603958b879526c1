#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A provider over plain HTTP whose answers never end: the request's body says
which of KINDS they are.  Ends with its parent."""
import json
import os
import socket
import threading
import time

OK = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
      b"Transfer-Encoding: chunked\r\n\r\n")
EVENT = b'data: {"id":"x","choices":[{"delta":{"content":"a"}}]}\n\n'


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


# The beginning, and the part that follows again and again, 64 KiB at a time.
KINDS = {
    "chunks": (OK, chunk(b"\n")),
    "events": (OK, chunk(EVENT)),
    "comments": (OK, chunk(b":\n")),
    "interim": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "trailers": (OK + b"0\r\n", b"a: b\r\n"),
    "head": (b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n"),
}


def serve(c):
    head = b""
    with c:
        try:
            while b"flood-" not in head or b"\r\n\r\n" not in head:
                got = c.recv(65536)
                if not got:
                    return
                head += got
            kind = head.split(b"flood-")[1].split(b'"')[0].decode()
            first, more = KINDS[kind]
            c.sendall(first)
            more *= 65536 // len(more)
            while True:
                c.sendall(more)
        except OSError:
            pass


def main():
    parent = os.getppid()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        print(json.dumps({"port": listener.getsockname()[1]}), flush=True)

        def accept():
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],),
                                 daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        while os.getppid() == parent:
            time.sleep(1)


if __name__ == "__main__":
    main()
