# SPDX-License-Identifier: ISC
"""TLS as PostgreSQL has it: certificates, and someone between a client and the
server, with a certificate of their own, who reads all and passes it on."""
import hashlib
import os
import socket
import ssl
import struct
import subprocess
import threading

import pg_server

SSL_REQUEST = struct.pack(">II", 8, 80877103)


def certificate(where, name, kind="rsa:2048", digest="sha256"):
    """Makes NAME.crt and NAME.key, of nobody, as PostgreSQL wants them."""
    key = os.path.join(where, name + ".key")
    options = ["-newkey", kind] if ":" in kind else [
        "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:" + kind] if \
        kind != "ed25519" else ["-newkey", kind]
    subprocess.run(["openssl", "req", "-x509", *options, "-nodes", "-days", "30",
                    "-keyout", key, "-out", os.path.join(where, name + ".crt"),
                    "-subj", "/CN=" + name,
                    *([] if kind == "ed25519" else ["-" + digest])],
                   check=True, capture_output=True)
    os.chmod(key, 0o600)


def server_context(where, name="server"):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain(os.path.join(where, name + ".crt"),
                      os.path.join(where, name + ".key"))
    return c


class Between:
    """how: "" passes all on; "downgrade" offers SCRAM-SHA-256 alone."""

    def __init__(self, where, port):
        self.context = server_context(where)
        self.port, self.how = port, ""
        self.seen, self.last = [], []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.to = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                c, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        try:
            if pg_server.exact(c, 8) != SSL_REQUEST:
                c.close()
                return
            c.sendall(b"S")
            c = self.context.wrap_socket(c, server_side=True)
            up = socket.create_connection(("127.0.0.1", self.port))
            up.sendall(SSL_REQUEST)
            pg_server.exact(up, 1)
            anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
            up = anyone.wrap_socket(up)
            self.last = []
            back = threading.Thread(target=self.back, args=(up, c), daemon=True)
            back.start()
            while part := c.recv(65536):
                self.seen.append(part)
                self.last.append(part)
                up.sendall(part)
        except (OSError, EOFError, ValueError):
            pass

    def back(self, up, c):
        try:
            while True:
                kind, body = pg_server.packet(up)
                if self.how == "downgrade" and b"SCRAM-SHA-256-PLUS\0" in body:
                    body = body.replace(b"SCRAM-SHA-256-PLUS\0", b"")
                c.sendall(pg_server.message(kind, body))
        except (OSError, EOFError, ValueError):
            c.close()


class TlsServer(pg_server.Server):
    """The stand-in behind TLS. `answer`: what it says to SSLRequest; `digest`: that
    of its certificate's signature, and so of the hash that a login is bound to."""

    def __init__(self, where, *args, answer=b"S", digest="sha256", **options):
        self.context, self.answer = server_context(where), answer
        super().__init__(*args, **options)
        with open(os.path.join(where, "server.crt"), encoding="ascii") as f:
            self.bound = hashlib.new(
                digest, ssl.PEM_cert_to_DER_cert(f.read())).digest()

    def client(self, c):
        if pg_server.exact(c, 8) != SSL_REQUEST:
            return
        c.sendall(self.answer)
        if self.answer[:1] != b"S":
            while c.recv(65536):
                pass
            return
        with self.context.wrap_socket(c, server_side=True) as inner:
            super().client(inner)
