#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A TCP port on 127.0.0.1 that leads, through CONNECT on a Unix socket, to a
host: for clients that support no proxy, or none on such a socket.  One process
for all its connections; ends with its parent."""
import asyncio
import json
import os
import sys


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (OSError, RuntimeError):
        pass


async def serve(path, target, reader, writer):
    try:
        up_reader, up_writer = await asyncio.open_unix_connection(path)
    except OSError:
        writer.close()
        return
    up_writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n"
                    .encode())
    try:
        head = await up_reader.readuntil(b"\r\n\r\n")
        if b" 200 " in head.split(b"\r\n")[0]:
            await asyncio.gather(copy(reader, up_writer),
                                 copy(up_reader, writer))
    except (asyncio.IncompleteReadError, OSError):
        pass
    for w in (writer, up_writer):
        w.close()


async def main():
    path, target = sys.argv[1:3]
    server = await asyncio.start_server(
        lambda r, w: serve(path, target, r, w), "127.0.0.1", 0, backlog=1024)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main())
