# SPDX-License-Identifier: ISC
"""The main program of a stand-in that speaks HTTPS on a port of loopback: prints
the port as JSON, and serves until it gets SIGTERM."""
import http.server
import json
import os
import signal
import ssl

from provider_ca import make_certificates


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


def serve(handler, args, names, stem):
    """`args`, which the handler finds as server.args, has the directory of the
    certificates; they are made for these names, in files that begin with `stem`."""
    make_certificates(args.ca_dir, names, stem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(args.ca_dir, stem + ".pem"),
                            os.path.join(args.ca_dir, stem + ".key"))
    server = Server(("127.0.0.1", 0), handler)
    server.args = args
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()
