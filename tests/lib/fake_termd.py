# SPDX-License-Identifier: ISC
"""A termd played by the test, at the other end of a real viewer's channel."""
import select
import socket
import struct

SCREEN, ROW, LINE, RAW, BELL, TITLE, FRAME, BOX_END, TYPIST, ROOM = range(
    0x0b04, 0x0b0e)
KEYS, PASTE, MOUSE, FOCUS, SIZE, INPUT, INPUT_END, FRAME_ACK, TAKE, \
    OUT_GONE = range(0x0b10, 0x0b1a)
CURSOR, BLINK, ALTERNATE, CURSOR_KEYS, KEYPAD, PASTES, FOCUSED, CLICKS, \
    DRAGS, MOVES = (1 << i for i in range(10))


def blob(data):
    return struct.pack("<I", len(data)) + data


def cells(text, attr=0, fg=0, bg=0, wide=(), extra=()):
    """Returns a run of cells, one character each. extra: {index: combining
    marks}."""
    if not text:
        return b""
    out = struct.pack("<HHII", len(text), attr, fg, bg)
    for i, c in enumerate(text):
        chars = c + dict(extra).get(i, "")
        out += bytes([len(chars) | (0x80 if i in wide else 0)])
        out += b"".join(struct.pack("<I", ord(x))[:3] for x in chars)
    return out


class FakeTermd:
    def __init__(self):
        self.sock, self.theirs = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.theirs.setblocking(False)
        self.seq = 0
        self.pump = None  # read the terminal while the viewer accepts nothing
        self.got = []

    def start(self):
        """The viewer has its end of the channel: close ours."""
        self.theirs.close()

    def send(self, kind, body=b""):
        while self.pump and not select.select([], [self.sock], [], .05)[1]:
            self.pump()
        self.sock.send(struct.pack("<HBB", kind, 0, 0) + body)

    def screen(self, rows=23, cols=80, row=0, col=0, shape=0, modes=CURSOR):
        self.send(SCREEN, struct.pack("<HHHHBI", rows, cols, row, col, shape,
                                      modes))

    def row(self, row, data, start=0):
        self.send(ROW, struct.pack("<HH", row, start) + blob(data))

    def line(self, data, stream=0, more=0, joined=0):
        self.send(LINE, struct.pack("<BBB", stream, more, joined) +
                  blob(data))

    def frame(self, wait=True):
        """End a frame, and wait until it is on the terminal."""
        self.seq += 1
        self.send(FRAME, struct.pack("<II", self.seq, 0))
        if wait:
            self.until(FRAME_ACK)

    def read(self, timeout=20):
        """Returns (kind, body), or None at the end."""
        if not select.select([self.sock], [], [], timeout)[0]:
            raise TimeoutError(f"the viewer says nothing; so far {self.got}")
        try:
            data = self.sock.recv(70000)
        except ConnectionResetError:
            data = b""
        if not data:
            return None
        msg = struct.unpack("<H", data[:2])[0], data[4:]
        self.got.append(msg)
        return msg

    def until(self, kind):
        while True:
            msg = self.read()
            if msg is None:
                raise EOFError(f"no {kind:#x}; {self.got}")
            if msg[0] == kind:
                return msg[1]

    def text(self, kind):
        """Returns the bytes of the next KEYS, PASTE or INPUT."""
        body = self.until(kind)
        skip = 1 if kind == PASTE else 0
        return body[skip + 4:]

    def nothing(self, seconds=0.3):
        """Check that nothing but ends of frames arrives for that long."""
        while select.select([self.sock], [], [], seconds)[0]:
            msg = self.read()
            if msg is None or msg[0] != FRAME_ACK:
                return False
        return True

    def gone(self):
        """Check that the viewer has closed the channel."""
        while True:
            if self.read() is None:
                return True

    def close(self):
        self.sock.close()
