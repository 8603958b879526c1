#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Bodies of each length, in both directions, over HTTP/1.1 and HTTP/2, with
each framing, written and read at any pace, by sides that stop, leave and break,
through workers that stand still: each byte is hashed at both ends. "long" goes
on with random rows for IC_BODIES seconds (default 540); other words are names
of parts ("cancel")."""
import itertools
import os
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import bodies as b  # noqa: E402
import h2  # noqa: E402
import joins  # noqa: E402

t = h.Tap()
HUGE = 300 << 20
SIZES = (0, 1, 16384, 65537, 300007, 1 << 20)
LARGE = 6 << 20         # more than all buffers of a session hold
MOST = b.MAX            # and more than those of any socket
WORKERS = ("mitmd", "keyd", "auditd", "dialerd")


def random_row(r, most):
    """A row with anything; `most`: bytes of a body."""
    def size():
        return r.choice((0, 1, r.randrange(100), r.randrange(70000),
                         r.randrange(most), r.choice((16384, 65536, 131072)) +
                         r.randrange(-1, 2)))
    row = b.Row(size(), framing=r.choice(("length", "chunks", "close")),
                pieces=r.choice(("whole", "mixed", "mixed", "tiny")),
                pace=r.choice(("fast", "fast", "slow", "stop")),
                end=r.choice(("none", "none", "notify")))
    if row.pieces == "tiny":
        row.down = min(row.down, 20000)
    if r.random() < 0.5:
        row.up, row.up_framing = size(), r.choice(("length", "chunks"))
        row.up_pieces = r.choice(("whole", "mixed", "mixed", "tiny"))
        row.up_pace = r.choice(("fast", "fast", "slow", "stop"))
        row.when = r.choice(("after", "after", "duplex"))
        if row.up_pieces == "tiny":
            row.up = min(row.up, 20000)
        if row.when == "duplex":    # or it would be whole before the body
            row.down = max(row.down, 1)
    return row


def at_once(rows, run, threads=6):
    """Returns what is wrong with the rows, some of which run at a time."""
    wrong, left, lock = [], list(reversed(rows)), threading.Lock()

    def work():
        while True:
            with lock:
                if not left:
                    return
                row = left.pop()
            try:
                bad = run(row)
            except (OSError, ValueError) as e:
                bad = f"{type(e).__name__}: {e}"
            if bad:
                wrong.append(f"{row}: {bad}")
    all_ = [threading.Thread(target=work) for _ in range(threads)]
    for x in all_:
        x.start()
    for x in all_:
        x.join()
    return wrong


def test_matrix(s, server, _):
    """Each size, framing, pace and direction."""
    rows = [b.Row(n, framing=f, pace=p) for n, f, p in itertools.product(
        SIZES, ("length", "chunks", "close"), ("fast", "slow"))]
    rows += [b.Row(7, up=n, up_framing=f, up_pace=p) for n, f, p in
             itertools.product(SIZES, ("length", "chunks"), ("fast", "slow"))]
    rows += [b.Row(n, up=n, up_framing=f, when="duplex")
             for n in SIZES for f in ("length", "chunks")]
    rows += [b.Row(n, end="notify", framing=f) for n in SIZES
             for f in ("length", "chunks", "close")]
    rows += [b.Row(9000, pieces="tiny", framing="chunks", up=9000,
                   up_pieces="tiny", up_framing="chunks")]
    t.equal(at_once(rows, lambda row: b.run1(s, server, row)), [],
            f"HTTP/1.1: {len(rows)} rows, each byte in its place")
    rows2 = [b.Row(row.down, row.up, row.framing, row.up_framing, row.pieces,
                   row.up_pieces, up_pace=row.up_pace, end=row.end,
                   when=row.when) for row in rows]
    wrong = []
    for at in range(0, len(rows2), 40):
        wrong += b.run2(s, server, rows2[at:at + 40])[0]
    t.equal(wrong, [], f"HTTP/2: {len(rows2)} rows, 40 at a time")


def test_stops(s, server, _):
    """A side that reads nothing until everything on the way is full."""
    rows = [b.Row(LARGE, framing=f, pace="stop")
            for f in ("length", "chunks", "close")]
    rows += [b.Row(7, up=LARGE, up_pace="stop", up_framing=f)
             for f in ("length", "chunks")]
    rows += [b.Row(LARGE, up=LARGE, pace="stop", up_pace="stop",
                   when="duplex")]
    t.equal(at_once(rows, lambda row: b.run1(s, server, row)), [],
            "HTTP/1.1: sides that stop")
    rows = [b.Row(7, up=LARGE, up_pace="stop", up_framing=f)
            for f in ("length", "chunks")]
    t.equal(b.run2(s, server, rows)[0], [], "HTTP/2: a provider that stops")


def test_one_connection(s, server, _):
    """Many exchanges on one connection of the agent."""
    a, wrong, r = b.Agent1(s, server), [], random.Random(3)
    for _ in range(60):
        row = random_row(r, 50000)
        row.end, row.pace, row.up_pace = "none", "fast", "fast"
        if row.when == "duplex":
            row.when = "after"
        bad = b.run1(s, server, row, agent=a)
        if bad:
            wrong.append(f"{row}: {bad}")
            break
    a.close()
    t.equal(wrong, [], "60 exchanges on one connection")


def test_huge(s, server, _):
    for framing in ("length", "chunks", "close"):
        row = b.Row(HUGE, framing=framing, pieces="whole")
        t.equal(b.run1(s, server, row), "", f"300 MiB down, {framing}")
    t.equal(b.run2(s, server, [b.Row(HUGE, pieces="whole")], 1 << 30)[0], [],
            "300 MiB down over HTTP/2")
    row = b.Row(7, up=b.MAX, up_pieces="whole")
    t.equal(b.run1(s, server, row), "", "64 MiB up, which is the most")
    row = b.Row(7, up=b.MAX + 1, up_pieces="whole")
    a = b.Agent1(s, server)
    a.send_head(row)
    a.read(row)
    a.close()
    t.equal(a.status, 413, "one byte more")


def test_turns(s, server, _):
    """A client that gives the windows back frame by frame gets whole frames,
    and each of its streams."""
    wrong, a = b.run2(s, server, [b.Row(450000) for _ in range(50)])
    t.equal(wrong, [], "50 streams, windows given back frame by frame")
    t.ok(sum(a.frames) > 8192 * len(a.frames),
         f"in {len(a.frames)} frames of {sum(a.frames) // len(a.frames)} "
         "bytes in the mean")
    # A stream whose own window stays closed does not hold up the others.
    a = b.Agent2(s, server)
    a.auto = False
    shut = a.begin(b.Row(200000))
    while a.answers[shut].body.n < 65535:
        a.step()
    a.window(0, 65535)
    a.auto = True
    rows = [b.Row(200000) for _ in range(10)]
    streams = [a.begin(row) for row in rows]
    a.finish(streams)
    t.ok(all(a.answers[n].body.n == 200000 for n in streams),
         "one that gives a stream nothing gets the others")
    a.window(shut, 200000)
    a.finish([shut])
    t.equal(a.answers[shut].body.n, 200000, "and the rest when it does")
    a.close()
    # It wants more than there is room for, and gives nothing before.
    a = b.Agent2(s, server)
    a.auto = False
    row = b.Row(65535 + 700)
    stream = a.begin(row)
    while a.answers[stream].body.n < 65535:
        a.step()
    a.window(0, 10)
    a.window(stream, 10)
    while a.answers[stream].body.n < 65545:
        a.step()
    t.equal(a.answers[stream].body.n, 65545,
            "a window of ten bytes is filled, in a while")
    a.window(0, 1000)
    a.window(stream, 1000)
    a.finish([stream])
    t.ok(a.answers[stream].body.right(row.number), "and then the rest")
    a.close()


def cut(s, server, row, agent):
    """Returns what is wrong with a row that the provider breaks."""
    try:
        agent.run(row)
        # It broke before the first byte, or behind the last.
        if agent.status == 502 or (row.framing == "length" and
                                   agent.body.n == row.down):
            return ""
        return "ends like a whole one"
    except (b.Cut, OSError):
        pass
    if agent.status not in (0, 200, 502):
        return f"status {agent.status}"
    if agent.status == 200 and not agent.body.right(row.number):
        return "a wrong byte before the end"
    return ""


def test_breaks(s, server, _):
    """The provider breaks at any byte: the agent sees it, and no wrong byte."""
    rows = [b.Row(n, framing=f, end=e, pieces="mixed") for n, f, e in
            itertools.product((1, 20000, 300007, 1 << 20),
                              ("length", "chunks", "close"), ("fin", "rst"))]

    def run(row):
        a = b.Agent1(s, server)
        bad = cut(s, server, row, a)
        a.close()
        return bad
    t.equal(at_once(rows, run), [], "HTTP/1.1: a provider that breaks off")
    a, wrong = b.Agent2(s, server), []
    rows = [b.Row(row.down, framing=row.framing, end=row.end) for row in rows]
    streams = [a.begin(row) for row in rows]
    a.finish(streams)
    for row, n in zip(rows, streams):
        got = a.answers[n]
        if got.ended and got.status == 200 and got.body.n != row.down:
            wrong.append(f"{row}: ends like a whole one")
        if got.status == 200 and not got.body.right(row.number):
            wrong.append(f"{row}: a wrong byte")
    a.close()
    t.equal(wrong, [], "HTTP/2: likewise, and the connection goes on")


def test_cancel(s, server, _):
    """An agent that leaves in the middle, up and down."""
    for _ in range(3):
        for up in (None, MOST):
            row = b.Row(MOST, up=up, pieces="whole", up_pieces="whole")
            a = b.Agent1(s, server)
            a.send_head(row)
            if up is None:
                a.line()
            else:
                a.send_body(row, stop=200000)
                b.corpus.wait_for_file(server.flag("begun", row.number))
            a.close()
            seen = server.seen(row.number)
            t.ok(seen["sent"] < MOST and (up is None or seen["got"] < MOST),
                 f"HTTP/1.1, {'up' if up else 'down'}: the provider sees it",
                 seen)
        a = b.Agent2(s, server)
        rows = [b.Row(MOST, up=up, pieces="whole") for up in (None, MOST)]
        streams = [a.begin(row) for row in rows]
        while a.answers[streams[0]].body.n < 50000 or not a.push():
            a.step()
        for row in rows:
            b.corpus.wait_for_file(server.flag("begun", row.number))
        for n in streams:
            a.frame(h2.RST_STREAM, 0, n, b"\0\0\0\x08")
            a.uploads.pop(n, None)
        other = b.Row(100000)
        a.finish([a.begin(other)])
        a.close()
        for row in rows:
            seen = server.seen(row.number)
            t.ok(seen["sent"] < MOST, "HTTP/2: the provider sees it", seen)
        t.equal(b.check(other, server, 200, a.answers[5].body, True), "",
                "the connection goes on")


def test_half_close(s, server, _):
    """Each side ends its half of the connection."""
    # The agent, behind its request: it has left.
    row = b.Row(MOST, pieces="whole")
    a = b.Agent1(s, server)
    a.send_head(row)
    a.line()
    try:
        a.sock.unwrap()
    except OSError:
        pass
    t.ok(server.seen(row.number)["sent"] < MOST,
         "the agent's close_notify ends the exchange")
    a.close()
    # The provider, whose answer is whole before it has the body.
    row = b.Row(100, up=LARGE, when="early", up_pieces="whole")
    a = b.Agent1(s, server)
    a.send_head(row)
    a.send_body(row, stop=100000)
    a.read(row)
    a.close()
    seen = server.seen(row.number)
    t.ok(a.body.n == 100 and seen["got"] < LARGE, "an early answer", seen)
    end = h.wait_for(lambda: [e for e in s.events("modelResponse")
                              if "unsent" in e], "no record")[-1]
    t.equal((end["sent"] + end["unsent"], end.get("error")), (LARGE, None),
            "the log says how much of the body was left")


def test_stopped(s, server, stopped):
    """Each worker stands still until everything before it is full."""
    for name in WORKERS:
        down = b.Row(LARGE, pieces="whole")
        up = b.Row(7, up=LARGE)
        agents = [b.Agent1(s, server), b.Agent1(s, server)]
        for a, row in zip(agents, (down, up)):
            a.send_head(row)
        agents[0].line()
        stopped.stop(name)
        writer = threading.Thread(target=agents[1].quietly, args=(
            agents[1].send_body, up))
        writer.start()
        # Nobody reads the answer: the provider is blocked, or has sent all
        # that it wants. Then the worker goes on.
        b.corpus.wait_for_file(server.flag("blocked", down.number))
        stopped.go(name)
        agents[0].buf = b"HTTP/1.1 200 OK\r\n" + agents[0].buf
        wrong = []
        for a, row in zip(agents, (down, up)):
            try:
                a.read(row)
            except b.Cut as e:
                wrong.append(f"{row}: {e}")
            wrong.append(b.check(row, server, a.status, a.body, True))
        writer.join()
        for a in agents:
            a.close()
        t.equal(wrong, ["", ""], f"{name} stood still")


def test_slots(s, server, stopped):
    """Small pieces, which wait as frames, and then a large one, in shared
    memory: keyd reads both at once."""
    wrong = []
    for pieces, size in ((50, 1000), (8, 7000)):
        row = b.Row(7, up=pieces * size + (512 << 10))
        all_ = b.corpus.text(-row.number, 0, row.up)
        a = b.Agent1(s, server)
        # mitmd has its stream to keyd before keyd is stopped.
        a.run(b.Row(7))
        a.send_head(row)
        b.until(lambda a=a: b.unread(a.sock) == 0, "mitmd reads nothing")
        a.wire.send(all_[:size])
        h.wait_for(lambda: b.unread(a.sock) == 0, "mitmd reads nothing")
        stopped.stop("keyd")
        for i in range(1, pieces):
            a.wire.send(all_[i * size:(i + 1) * size])
            b.until(lambda a=a: b.unread(a.sock) == 0, "mitmd reads nothing")
        stopped.stop("mitmd")
        writer = threading.Thread(target=a.quietly, args=(
            a.wire.send, all_[pieces * size:]))
        writer.start()
        b.until(lambda a=a: b.unread(a.sock) > 150000, "nothing is written")
        stopped.go("mitmd")
        b.until(lambda a=a: b.unread(a.sock) == 0, "mitmd reads nothing")
        stopped.go("keyd")
        try:
            a.read(row)
        except b.Cut as e:
            wrong.append(str(e))
        writer.join()
        wrong.append(b.check(row, server, a.status, a.body, True))
        a.close()
    t.equal(wrong, ["", ""], "frames and then slots, in one read of keyd")


def go_on(s, server, stopped, seconds):
    """Random rows of all kinds, at once, while workers stop and go on."""
    seed = int(os.environ.get("IC_SEED") or random.randrange(1 << 30))
    end = time.monotonic() + seconds
    print(f"# seed {seed}", flush=True)
    r, done, wrong = random.Random(seed), 0, []
    while time.monotonic() < end and not wrong:
        rows = [random_row(r, 3 << 20) for _ in range(24)]
        over = threading.Event()

        def halt(name=r.choice(WORKERS), over=over, r=random.Random(r.random())):
            while not over.wait(r.random()):
                stopped.stop(name)
                over.wait(r.random() / 2)
                stopped.go(name)
        stopper = threading.Thread(target=halt)
        if r.random() < 0.7:
            stopper.start()
        half = rows[12:]
        for row in half:
            row.pace = "fast"
        try:
            wrong += at_once(rows[:12], lambda row: b.run1(
                s, server, row, buffers=r.choice((None, None, 1, 20000))))
            wrong += b.run2(s, server, half, r.choice((65535, 5000, 1 << 30)))[0]
        finally:
            over.set()
            if stopper.ident is not None:
                stopper.join()
        done += len(rows)
    t.equal(wrong, [], f"{done} random rows")
    if wrong:
        print("# " + s.session_log()[-2000:].replace("\n", "\n# "))


def main():
    long, only = "long" in sys.argv[1:], set(sys.argv[1:]) - {"long"}
    parts = (test_slots, test_matrix, test_stops, test_one_connection,
             test_turns, test_breaks, test_cancel, test_half_close,
             test_stopped, test_huge)
    with h.workdir() as work, t.case("bodies"):
        server = b.Server(work)
        with b.session(work, server) as s:
            stopped = b.Stopped(s)
            for part in parts:
                if only and part.__name__[5:] not in only:
                    continue
                began = time.monotonic()
                with t.case(part.__name__):
                    part(s, server, stopped)
                print(f"# {part.__name__}: {time.monotonic() - began:.1f} s",
                      flush=True)
            if long:
                with t.case("random"):
                    go_on(s, server, stopped,
                          int(os.environ.get("IC_BODIES", "540")))
            h.wait_for(lambda: len(s.events("modelRequest")) ==
                       len(s.events("modelResponse")), "an exchange goes on")
            t.ok(True, "every exchange has ended")
            t.equal([e["detail"] for e in s.events("alarm")], [],
                    "nobody took it for an attack")
            t.ok("out of memory" not in s.session_log(), "no buffer was full")
            t.equal(joins.check_chain(os.path.join(s.dir, "audit.jsonl")),
                    None, "the chain holds")
        server.end()
    t.done()


if __name__ == "__main__":
    main()
