# SPDX-License-Identifier: ISC
"""A TCP port in front of a session's proxy, for clients that cannot use a Unix
socket. It only copies bytes."""
import socket
import threading


class Bridge:
    def __init__(self, path):
        self.path = path
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self.sock.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                one, _ = self.sock.accept()
                two = socket.socket(socket.AF_UNIX)
                two.connect(self.path)
            except OSError:
                return
            for a, b in ((one, two), (two, one)):
                threading.Thread(target=self.copy, args=(a, b),
                                 daemon=True).start()

    @staticmethod
    def copy(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass
