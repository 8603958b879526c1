# SPDX-License-Identifier: ISC
"""WebSocket (RFC 6455) for tests: frames are written as told to, well-formed
or not, and read strictly.  It has a provider's side, and functions for tests.
"""
import base64
import hashlib
import json
import os
import struct

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def accept_of(key):
    return base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()


def frame(op, payload=b"", fin=True, mask=None, rsv=0, length=None):
    """Returns a frame; mask: four bytes, True for random ones, None for none.
    """
    n = len(payload) if length is None else length
    mask = os.urandom(4) if mask is True else mask
    out = bytes([(0x80 if fin else 0) | rsv << 4 | op])
    bit = 0x80 if mask else 0
    if n < 126:
        out += bytes([bit | n])
    elif n < 65536:
        out += bytes([bit | 126]) + struct.pack(">H", n)
    else:
        out += bytes([bit | 127]) + struct.pack(">Q", n)
    if mask:
        payload = bytes(b ^ mask[i & 3] for i, b in enumerate(payload))
        out += mask
    return out + payload


class Bad(Exception):
    """The peer violates the protocol."""


class Frames:
    """Reads frames; take(n) returns n bytes or raises."""

    def __init__(self, take, masked):
        self.take, self.masked = take, masked
        self.heads = []

    def frame(self):
        """Returns op, fin, payload."""
        a, b = self.take(2)
        if a & 0x70:
            raise Bad("a reserved bit")
        if bool(b & 0x80) != self.masked:
            raise Bad("masked" if b & 0x80 else "not masked")
        n, op = b & 0x7f, a & 15
        if n == 126:
            n = struct.unpack(">H", self.take(2))[0]
            if n < 126:
                raise Bad("long form of a length")
        elif n == 127:
            n = struct.unpack(">Q", self.take(8))[0]
            if n < 65536:
                raise Bad("long form of a length")
        if op >= 8 and (n > 125 or not a & 0x80):
            raise Bad("a control frame in pieces, or too large")
        mask = self.take(4) if self.masked else b""
        data = self.take(n) if n else b""
        if mask:
            wide = (mask * (n // 4 + 1))[:n]
            data = (int.from_bytes(data, "big") ^ int.from_bytes(wide, "big")
                    ).to_bytes(n, "big")
        self.heads.append((op, bool(a & 0x80), n))
        return op, bool(a & 0x80), data

    def message(self, control=None):
        """Returns op and payload of the next message or close; control(op,
        data)."""
        first, parts = None, []
        while True:
            op, fin, data = self.frame()
            if op == CLOSE:
                return op, data
            if op >= 8:
                if control:
                    control(op, data)
                continue
            if (op == CONT) != (first is not None):
                raise Bad("fragments out of order")
            first = op if first is None else first
            parts.append(data)
            if fin:
                return first, b"".join(parts)


class Server:
    """The server after the handshake of provider.py; conn: its Connection."""

    def __init__(self, conn, key, log, answer):
        self.conn, self.key, self.log, self.answer = conn, key, log, answer
        self.frames = Frames(conn.take, True)

    def send(self, *args, **kw):
        self.conn.sock.sendall(frame(*args, **kw))

    def control(self, op, data):
        self.log("control", op=op, data=data.decode("latin-1"))
        if op == PING:
            self.send(PONG, data)

    def run(self):
        while True:
            op, data = self.frames.message(self.control)
            self.log("message", op=op, bytes=len(data),
                     text=data[:4000].decode("latin-1"),
                     sha256=hashlib.sha256(data).hexdigest(),
                     frames=len(self.frames.heads))
            self.frames.heads.clear()
            if op == CLOSE:
                self.send(CLOSE, data)
                return
            try:
                body = json.loads(data)
            except ValueError:
                body = None
            if not isinstance(body, dict):
                self.send(op, data)
            elif "do" in body:
                if self.do(body["do"], body) is False:
                    return
            else:
                for event in self.answer(body):
                    self.send(TEXT, event)

    def do(self, what, body):
        key = self.key.encode()
        if what == "fragments":
            text = body["text"].encode()
            for i, at in enumerate(range(0, len(text), 5)):
                self.send(CONT if i else TEXT, text[at:at + 5],
                          fin=at + 5 >= len(text))
                self.send(PING, b"between")
        elif what == "large":
            self.send(BINARY, b"x" * body["size"])
        elif what == "empty":
            self.send(TEXT, b"")
        elif what == "ping":
            self.send(PING, b"are you there")
        elif what == "close":
            self.send(CLOSE, struct.pack(">H", 1000) + b"done")
            return False
        elif what == "vanish":
            return False
        elif what == "key":
            self.send(TEXT, b'{"echo":"' + key + b'"}')
        elif what == "key in pieces":
            self.send(TEXT, b'{"echo":"' + key[:9], fin=False)
            self.send(CONT, key[9:20], fin=False)
            self.send(CONT, key[20:] + b'"}')
        elif what == "key in a ping":
            self.send(PING, key)
        elif what == "key coded":
            self.send(BINARY, base64.b64encode(b"a" + key))
        elif what == "almost the key":
            # After its prefix, one character less than the pattern has.
            self.send(TEXT, b'{"echo":"' + key[:key.index(b"-") + 1] +
                      key[-19:] + b'"}')
        elif what == "key but one":
            self.send(TEXT, b'{"echo":"' + key[:-1] + b'!"}')
        elif what == "key in two messages":
            self.send(TEXT, key[:15])
            self.send(TEXT, key[15:30])
        elif what == "key in two pings":
            self.send(PING, key[:15])
            self.send(PING, key[15:30])
        else:
            self.conn.sock.sendall({
                "masked": frame(TEXT, b"x", mask=True),
                "reserved": frame(TEXT, b"x", rsv=4),
                "unknown": frame(3, b"x"),
                "long ping": frame(PING, b"x" * 126),
                "continuation": frame(CONT, b"x"),
                "ping in pieces": frame(PING, b"x", fin=False),
                "long form": b"\x81\x7e\x00\x01x",
                "huge": frame(TEXT, b"x", length=1 << 63),
            }[what])
        return True
