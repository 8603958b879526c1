# SPDX-License-Identifier: ISC
"""An HTTPS client for tests that connects through a CONNECT proxy and may be
malformed: raw bytes are sent as they are, and answers are read strictly."""
import json
import socket
import ssl

from agent_mcp import Closed, Malformed


class Response:
    def __init__(self, head):
        self.head = head
        lines = head.decode("latin-1").split("\r\n")
        parts = lines[0].split(" ", 2)
        if len(parts) != 3 or not parts[0].startswith("HTTP/1."):
            raise Malformed(f"status line: {lines[0]!r}")
        self.status, self.reason = int(parts[1]), parts[2]
        self.headers = []
        for line in filter(None, lines[1:]):
            name, colon, value = line.partition(":")
            if not colon:
                raise Malformed(f"header: {line!r}")
            self.headers.append((name, value.strip(" \t")))
        self.body = b""

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def header(self, name):
        return (self.all(name) or [None])[0]

    def json(self):
        return json.loads(self.body)


PROVIDERS = {
    "anthropic": ("api.anthropic.com", "ANTHROPIC_API_KEY", "/v1/messages"),
    "openai": ("api.openai.com", "OPENAI_API_KEY", "/v1/responses"),
}


class Model:
    """A connection; proxy: a Unix socket path, HOST:PORT, or None (directly to
    `direct`, HOST:PORT).  sni: None for the host, "" for none at all."""

    def __init__(self, proxy=None, host="api.anthropic.com", port=443,
                 ca=None, key=None, direct=None, timeout=30, sni=None,
                 alpn=("http/1.1",), target=None, connect=True):
        self.host, self.key, self.timeout = host, key, timeout
        self.authority = target or f"{host}:{port}"
        self.buf = b""
        self.sock = self._open(proxy or direct)
        self.connect_response = None
        if not connect:
            return          # raw, to the proxy itself
        if proxy:
            self.connect_response = self.connect()
            if self.connect_response.status != 200:
                return
        self.start_tls(ca, sni, alpn)

    def _open(self, where):
        where = where.removeprefix("http://").removeprefix("unix:")
        where = where.rstrip("/")
        if where.startswith("/"):
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(self.timeout)
            sock.connect(where)
            return sock
        name, port = where.rsplit(":", 1)
        return socket.create_connection((name, int(port)), self.timeout)

    def connect(self):
        self.sock.sendall(f"CONNECT {self.authority} HTTP/1.1\r\n"
                          f"Host: {self.authority}\r\n\r\n".encode())
        response = Response(self._read_until(b"\r\n\r\n"))
        if response.status != 200:
            self._read_body(response, "GET")
        return response

    def start_tls(self, ca, sni, alpn):
        context = ssl.create_default_context(cafile=ca)
        if alpn:
            context.set_alpn_protocols(list(alpn))
        if sni == "":
            context.check_hostname = False
        self.sock = context.wrap_socket(
            self.sock, server_hostname=sni if sni else
            None if sni == "" else self.host)

    def _more(self):
        data = self.sock.recv(65536)
        if not data:
            raise Closed("inside a response" if self.buf else "")
        self.buf += data

    def _read_until(self, mark):
        while mark not in self.buf:
            self._more()
        end = self.buf.index(mark) + len(mark)
        data, self.buf = self.buf[:end], self.buf[end:]
        return data

    def _read(self, n):
        while len(self.buf) < n:
            self._more()
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def pieces(self, response, method):
        """Yields the body as it arrives: chunks, or one piece."""
        length = response.all("content-length")
        coding = response.all("transfer-encoding")
        if len(length) + len(coding) > 1:
            raise Malformed("two framings")
        if method == "HEAD" or response.status in (204, 304):
            return
        if coding:
            while True:
                size = int(self._read_until(b"\r\n")[:-2], 16)
                data = self._read(size)
                if self._read(2) != b"\r\n":
                    raise Malformed("chunk without CRLF")
                if size == 0:
                    return
                yield data
        elif length:
            yield self._read(int(length[0]))
        else:
            yield self.read_all()

    def _read_body(self, response, method):
        for piece in self.pieces(response, method):
            response.body += piece

    def read_all(self):
        """Returns everything until the peer closes."""
        try:
            while True:
                self._more()
        except (Closed, ConnectionResetError, ssl.SSLError):
            data, self.buf = self.buf, b""
            return data

    def send_raw(self, data):
        self.sock.sendall(data)

    def read_response(self, method="POST", body=True):
        """Returns the next final response; 1xx are skipped."""
        while True:
            response = Response(self._read_until(b"\r\n\r\n"))
            if response.status >= 200 or response.status == 101:
                break
        if body:
            self._read_body(response, method)
        return response

    def raw(self, data, method="POST"):
        self.send_raw(data)
        return self.read_response(method)

    def send(self, method, target, headers=(), body=None):
        lines = [f"{method} {target} HTTP/1.1"]
        given = {n.lower() for n, _ in headers}
        if "host" not in given:
            lines.append(f"Host: {self.host}")
        lines += [f"{n}: {v}" for n, v in headers]
        if body is not None and "content-length" not in given:
            lines.append(f"Content-Length: {len(body)}")
        self.sock.sendall("\r\n".join(lines + ["", ""]).encode("latin-1") +
                          (body or b""))

    def request(self, method, target, headers=(), body=None):
        self.send(method, target, headers, body)
        return self.read_response(method)

    def key_headers(self, kind):
        if kind == "anthropic":
            return [("x-api-key", self.key),
                    ("anthropic-version", "2023-06-01")]
        return [("Authorization", f"Bearer {self.key}")]

    def message(self, text="hello", kind="anthropic", stream=False,
                headers=()):
        """Make one model request, as the provider's SDK does."""
        body = {"model": "test-model", "stream": stream}
        turn = [{"role": "user", "content": text}]
        body.update({"max_tokens": 100, "messages": turn}
                    if kind == "anthropic" else {"input": turn})
        return self.request(
            "POST", PROVIDERS[kind][2], self.key_headers(kind) +
            [("Content-Type", "application/json")] + list(headers),
            json.dumps(body).encode())

    def close(self):
        self.sock.close()
