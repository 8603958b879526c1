# SPDX-License-Identifier: ISC
"""HTTP/2 frame by frame, for tests: writes whatever it is told to, well-formed
or not, and reads strictly.  Uses only `ssl` of the standard library; the
header compression of RFC 7541 is written here."""
import os
import socket
import ssl
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
(DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY,
 WINDOW_UPDATE, CONTINUATION) = range(10)
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR = 0, 1, 2
REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 7, 8, 11

# The code length of each symbol, as a letter ('A': 5); the code is canonical.
LENGTHS = (
    "ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHFIBCCCCCC"
    "CCCCCCCCCCCCCCCCDCDIOIJBKABABABBBACCBBBABCBAABCCCCCKGJIXPRPPRRRSRSSSSSTS"
    "TTRSTSSSSQRSRSSTRQPRRSSQSRRTQRSSQQRQSRSSPRRRSRRSVVPORSRUVVVWWVTUOQVWWVWT"
    "QQVVXWWWPTPQRQQSRRUUTTVSVWVVWWWWWXWWWWWVZ")
STATIC = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
    (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"),
    (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"),
    (":status", "500")] + [(name, "") for name in (
        "accept-charset accept-encoding accept-language accept-ranges accept "
        "access-control-allow-origin age allow authorization cache-control "
        "content-disposition content-encoding content-language content-length "
        "content-location content-range content-type cookie date etag expect "
        "expires from host if-match if-modified-since if-none-match if-range "
        "if-unmodified-since last-modified link location max-forwards "
        "proxy-authenticate proxy-authorization range referer refresh "
        "retry-after server set-cookie strict-transport-security "
        "transfer-encoding user-agent vary via www-authenticate").split()]
STATIC[15] = ("accept-encoding", "gzip, deflate")
# The errors of a socket that does not block.
WANT = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Bad(Exception):
    """The peer violates the protocol."""


class Ended(Exception):
    """The peer closed the connection."""


def _codes():
    table, code, last = {}, 0, 5
    for length, symbol in sorted((ord(c) - 60, i)
                                 for i, c in enumerate(LENGTHS)):
        code <<= length - last
        last = length
        table[length, code] = symbol
        code += 1
    return table


CODES = _codes()


def unhuffman(data):
    out, code, length = bytearray(), 0, 0
    for byte in data:
        for bit in range(7, -1, -1):
            code = code << 1 | byte >> bit & 1
            length += 1
            symbol = CODES.get((length, code))
            if symbol is not None:
                if symbol == 256:
                    raise Bad("EOS in a string")
                out.append(symbol)
                code = length = 0
    if length > 7 or code != (1 << length) - 1:
        raise Bad("padding of a string")
    return bytes(out)


def integer(value, bits, first=0):
    limit = (1 << bits) - 1
    if value < limit:
        return bytes([first | value])
    out = bytearray([first | limit])
    value -= limit
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def literal(text):
    text = text if isinstance(text, bytes) else text.encode("latin-1")
    return integer(len(text), 7) + text


def encode(fields):
    """Encode every field as a literal without indexing."""
    return b"".join(b"\0" + literal(n) + literal(v) for n, v in fields)


class Decoder:
    def __init__(self):
        self.table, self.max = [], 4096

    def _integer(self, data, at, bits):
        limit = (1 << bits) - 1
        value = data[at] & limit
        at += 1
        shift = 0
        while value >= limit:
            value += (data[at] & 127) << shift
            shift += 7
            at += 1
            if not data[at - 1] & 128:
                break
        return value, at

    def _string(self, data, at):
        huffman = data[at] & 128
        n, at = self._integer(data, at, 7)
        if at + n > len(data):
            raise Bad("string beyond its block")
        text = data[at:at + n]
        return (unhuffman(text) if huffman else text).decode("latin-1"), at + n

    def _entry(self, i):
        if not 0 < i <= len(STATIC) + len(self.table):
            raise Bad(f"index {i}")
        return (STATIC + self.table)[i - 1]

    def decode(self, data):
        fields, at = [], 0
        while at < len(data):
            first = data[at]
            if first & 128:
                i, at = self._integer(data, at, 7)
                fields.append(self._entry(i))
                continue
            if first & 0xe0 == 0x20:
                self.max, at = self._integer(data, at, 5)
                self._shrink()
                continue
            keep = first & 0xc0 == 0x40
            i, at = self._integer(data, at, 6 if keep else 4)
            if i:
                name = self._entry(i)[0]
            else:
                name, at = self._string(data, at)
            value, at = self._string(data, at)
            fields.append((name, value))
            if keep:
                self.table.insert(0, (name, value))
                self._shrink()
        return fields

    def _shrink(self):
        while sum(len(n) + len(v) + 32 for n, v in self.table) > self.max:
            self.table.pop()


class Answer:
    def __init__(self):
        self.fields, self.body = [], b""
        self.interim = []
        self.ended, self.reset = False, None

    @property
    def status(self):
        return int(dict(self.fields).get(":status", 0))

    def header(self, name):
        return dict(self.fields).get(name)


def through(session_dir, host, **kw):
    """Returns a connection to that host through the session's proxy."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(20)
    sock.connect(os.path.join(session_dir, "sockets", "mitm-proxy.sock"))
    sock.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n"
                 "\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        got = sock.recv(1)
        if not got:
            raise Ended(f"no answer to CONNECT: {head!r}")
        head += got
    return Connection(sock, os.path.join(
        session_dir, "orientation", "ca-cert.pem"), host, **kw)


class Connection:
    """A connection over a socket on which TLS will begin (None: the caller
    does that)."""

    def __init__(self, sock, ca, host, timeout=20, settings=(), alpn="h2"):
        context = ssl.create_default_context(cafile=ca)
        context.set_alpn_protocols([alpn])
        sock.settimeout(timeout)
        self.sock = context.wrap_socket(sock, server_hostname=host)
        if self.sock.selected_alpn_protocol() != alpn:
            raise Bad(f"no {alpn}")
        self.host = host
        self.decoder = Decoder()
        self.buf = b""
        self.answers = {}
        self.next = 1
        self.goaway = None
        self.windows = {}       # send windows that the peer gave us; stream 0: the connection
        self.settings = {}
        self.pings = 0
        self.acks = 0
        self.auto = True        # give windows back for the data that is read
        if alpn != "h2":
            return
        self.raw(PREFACE)
        self.frame(SETTINGS, 0, 0, b"".join(
            struct.pack(">HI", k, v) for k, v in settings))

    def close(self):
        try:
            self.sock.close()
        except OSError:
            pass

    def raw(self, data):
        try:
            self.sock.sendall(data)
        except OSError as e:
            raise Ended(str(e)) from e

    @staticmethod
    def pack(kind, flags, stream, payload=b"", length=None):
        return struct.pack(">I", len(payload) if length is None
                           else length)[1:] + \
            struct.pack(">BBI", kind, flags, stream) + payload

    def frame(self, *args, **kw):
        self.raw(self.pack(*args, **kw))

    def request(self, fields, body=b"", end=True, stream=None):
        """Send a header block in one frame, and the body in as many as it
        needs."""
        stream = stream or self.next
        self.next = max(self.next, stream + 2)
        flags = END_HEADERS | (END_STREAM if end and not body else 0)
        self.frame(HEADERS, flags, stream, encode(fields))
        for at in range(0, len(body), 16384):
            part = body[at:at + 16384]
            last = end and at + len(part) == len(body)
            self.frame(DATA, END_STREAM if last else 0, stream, part)
        self.answers[stream] = Answer()
        return stream

    def _exactly(self, n):
        while len(self.buf) < n:
            try:
                data = self.sock.recv(65536)
            except (ConnectionError, ssl.SSLError) as e:
                raise Ended(str(e)) from e
            if not data:
                raise Ended("closed")
            self.buf += data
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def step(self):
        """Process one frame; its effect is stored in the fields of this
        object."""
        head = self._exactly(9)
        length, kind, flags = head[0] << 16 | head[1] << 8 | head[2], head[3], \
            head[4]
        stream = struct.unpack(">I", head[5:])[0] & 0x7fffffff
        if length > 16384:
            raise Bad(f"frame of {length} bytes")
        payload = self._exactly(length)
        answer = self.answers.setdefault(stream, Answer())
        if kind == HEADERS:
            if not flags & END_HEADERS:
                raise Bad("a block in pieces")
            fields = self.decoder.decode(payload)
            if dict(fields).get(":status", "").startswith("1"):
                answer.interim.append(fields)
            else:
                answer.fields = fields
            answer.ended |= bool(flags & END_STREAM)
        elif kind == DATA:
            answer.body += payload
            answer.ended |= bool(flags & END_STREAM)
            if self.auto and length:
                self.window(0, length)
                if not answer.ended:
                    self.window(stream, length)
        elif kind == RST_STREAM:
            answer.reset = struct.unpack(">I", payload)[0]
        elif kind == GOAWAY:
            self.goaway = struct.unpack(">II", payload[:8])[1]
        elif kind == WINDOW_UPDATE:
            self.windows[stream] = self.windows.get(stream, 0) + \
                struct.unpack(">I", payload)[0]
        elif kind == SETTINGS and not flags & 1:
            for at in range(0, length, 6):
                k, v = struct.unpack(">HI", payload[at:at + 6])
                self.settings[k] = v
            self.frame(SETTINGS, 1, 0)
        elif kind == SETTINGS:
            self.acks += 1
        elif kind == PING and flags & 1:
            self.pings += 1
        return kind, flags, stream, payload

    def window(self, stream, n):
        self.frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", n))

    def wait(self, stream):
        """Wait until this stream's answer is complete, or it is reset."""
        while True:
            answer = self.answers[stream]
            if answer.ended or answer.reset is not None:
                return answer
            self.step()

    def end(self):
        """Read until the peer closes. Returns the code of GOAWAY, or None."""
        try:
            while True:
                self.step()
        except (Ended, OSError):
            return self.goaway

    def ping(self):
        before = self.pings
        self.frame(PING, 0, 0, b"12345678")
        while self.pings == before:
            self.step()
