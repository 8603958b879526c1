# SPDX-License-Identifier: ISC
"""icfs, driven over its pipes: the result of each tool, its refusals, and that
no link leads out of its directory, even while links are exchanged."""
import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
from tap import Tap  # noqa: E402

ICFS = os.path.abspath(sys.argv[1])
TOP = os.path.realpath(tempfile.mkdtemp(prefix="test_icfs."))
W = TOP + "/w"          # the allowed directory
SECRET = "canary-" + os.urandom(8).hex()
tap = Tap()
ok, eq = tap.ok, tap.equal


class Icfs:
    def __init__(self, *args, cwd=None, **kw):
        self.p = subprocess.Popen([ICFS, *args], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, cwd=cwd, env={},
                                  **kw)
        self.id = 0

    def send(self, line):
        self.p.stdin.write(line.encode() + b"\n")
        self.p.stdin.flush()

    def raw(self, line):
        self.send(line)
        return json.loads(self.p.stdout.readline())

    def request(self, method, params=None):
        self.id += 1
        m = {"jsonrpc": "2.0", "id": self.id, "method": method}
        if params is not None:
            m["params"] = params
        r = self.raw(json.dumps(m))
        assert r["id"] == self.id, r
        return r

    def call(self, tool, **args):
        """Returns the text of the result, or the error after "! "."""
        r = self.request("tools/call", {"name": tool, "arguments": args})
        if "error" in r:
            return f"!! {r['error']['code']} {r['error']['message']}"
        r = r["result"]
        if r.get("isError"):
            return "! " + r["content"][0]["text"]
        if r["structuredContent"]["content"] != r["content"]:
            assert r["structuredContent"]["content"] == \
                r["content"][0]["text"], r
            return r["content"][0]["text"]
        return r["content"]

    def end(self):
        self.p.stdin.close()
        return self.p.wait()


def put(path, content="x"):
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())


def get(path):
    with open(path, "rb") as f:
        return f.read().decode()


def fresh():
    shutil.rmtree(TOP, ignore_errors=True)
    os.makedirs(W + "/d/sub")
    os.makedirs(TOP + "/out")
    put(TOP + "/out/secret", SECRET)
    put(W + "/a.txt", "one\ntwo\nthree\n")
    put(W + "/d/f", "inner")


def denied(path):
    return f"! Access denied - path outside allowed directories: {path} " \
        f"not in {W}"


def test_protocol():
    s = Icfs(W)
    for asked, got in (("2024-11-05", "2024-11-05"),
                       ("2025-11-25", "2025-11-25"),
                       ("1999-01-01", "2025-11-25")):
        r = s.request("initialize", {"protocolVersion": asked})["result"]
        eq(r["protocolVersion"], got, f"initialize {asked}")
    eq(r["serverInfo"]["name"], "icfs", "its name")
    s.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    eq(s.request("ping")["result"], {}, "ping")
    names = [t["name"] for t in s.request("tools/list")["result"]["tools"]]
    eq(names, ["read_file", "read_text_file", "read_media_file",
               "read_multiple_files", "write_file", "edit_file",
               "create_directory", "list_directory",
               "list_directory_with_sizes", "directory_tree", "move_file",
               "search_files", "get_file_info", "list_allowed_directories"],
       "the reference server's tools")
    eq(s.raw("nonsense")["error"]["message"],
       "Parse error: not JSON at byte 1", "a bad line")
    eq(s.request("nosuch")["error"]["code"], -32601, "an unknown method")
    eq(s.call("nosuch"), "!! -32602 Unknown tool: nosuch", "an unknown tool")
    eq(s.call("read_text_file"),
       "! Invalid arguments: path must be a string, it is missing",
       "a missing argument")
    eq(s.call("read_text_file", path=[1]),
       "! Invalid arguments: path must be a string, it is an array",
       "an argument of the wrong type")
    eq(s.call("list_allowed_directories"), f"Allowed directories:\n{W}",
       "list_allowed_directories")
    eq(s.end(), 0, "it ends with its input")
    s = Icfs(W)
    try:
        s.p.stdin.write(b" " * (5 << 20))
        s.p.stdin.flush()
    except BrokenPipeError:
        pass
    eq(json.loads(s.p.stdout.readline())["error"]["message"],
       "Invalid Request: line longer than 4194304 bytes", "an endless line")
    eq(s.p.wait(), 1, "ends it")


def test_command_line():
    for args, text in (([], "usage: icfs [--read-only] [--only FILE]... [DIRECTORY]..."),
                       (["--x", W], "usage: icfs [--read-only] [--only FILE]... [DIRECTORY]..."),
                       ([TOP + "/none"], "No such file or directory"),
                       ([W + "/a.txt"], "Not a directory")):
        p = subprocess.run([ICFS, *args], capture_output=True, env={},
                           stdin=subprocess.DEVNULL)
        ok(p.returncode == 2 and text in p.stderr.decode(),
           f"arguments {[os.path.basename(a) for a in args]}",
           (p.returncode, p.stderr))


def test_read():
    s = Icfs(W)
    for args, want in (({}, "one\ntwo\nthree\n"), ({"head": 2}, "one\ntwo"),
                       ({"head": 9}, "one\ntwo\nthree"), ({"tail": 1}, ""),
                       ({"tail": 2}, "three\n"), ({"head": -1}, ""),
                       ({"head": 0}, "one\ntwo\nthree\n"),
                       ({"tail": 9}, "one\ntwo\nthree\n")):
        eq(s.call("read_text_file", path=W + "/a.txt", **args), want,
           f"read_text_file {args}")
    eq(s.call("read_text_file", path=W + "/a.txt", head=1, tail=1),
       "! Cannot specify both head and tail parameters simultaneously",
       "head and tail")
    put(W + "/bin", b"a\xff\xfe\x00b\xe2\x82\n\xf0\x9f\x98\x80\xed\xa0\x80")
    eq(s.call("read_text_file", path=W + "/bin"),
       "a\ufffd\ufffd\0b\ufffd\n\U0001f600\ufffd\ufffd\ufffd",
       "bytes that are no UTF-8")
    put(W + "/big", "y" * (2 << 20) + "\nend\n")
    ok(s.call("read_text_file", path=W + "/big").startswith(
        "! File too large"), "a file beyond the limit")
    eq(s.call("read_text_file", path=W + "/big", tail=2), "end\n",
       "its tail can be read")
    put(W + "/ctl", b"\x01" * (400 << 10))
    ok(s.call("read_text_file", path=W + "/ctl").startswith(
        "! Too much: the result exceeds"), "one that escapes make too large")
    put(W + "/fits", "z" * 2000000)
    eq(len(s.call("read_text_file", path=W + "/fits")), 2000000,
       "a large one that fits")
    os.mkfifo(W + "/fifo")
    eq(s.call("read_text_file", path=W + "/fifo"),
       f"! EINVAL: not a regular file, read '{W}/fifo'", "a fifo")
    eq(s.call("read_text_file", path=W + "/d"),
       f"! EISDIR: illegal operation on a directory, read '{W}/d'",
       "a directory")
    put(W + "/p.PNG", b"\x89PNG")
    eq(s.call("read_media_file", path=W + "/p.PNG"),
       [{"data": "iVBORw==", "mimeType": "image/png", "type": "image"}],
       "read_media_file of an image")
    put(W + "/m \u00e9%", b"\0")
    eq(s.call("read_media_file", path=W + "/m \u00e9%"),
       [{"resource": {"blob": "AA==", "mimeType": "application/octet-stream",
                      "uri": f"file://{W}/m%20%C3%A9%25"},
         "type": "resource"}], "and of anything else")
    eq(s.call("read_multiple_files", paths=[W + "/a.txt", W + "/none"]),
       f"{W}/a.txt:\none\ntwo\nthree\n\n\n---\n{W}/none: Error - ENOENT: no "
       f"such file or directory, open '{W}/none'", "read_multiple_files")
    eq(s.end(), 0, "it lives")


def test_write():
    s = Icfs(W)
    eq(s.call("write_file", path=W + "/n", content="\u00e9\0x"),
       f"Successfully wrote to {W}/n", "write_file")
    eq(get(W + "/n"), "\u00e9\0x", "its bytes")
    os.chmod(W + "/n", 0o751)
    os.link(W + "/n", W + "/hard")
    s.call("write_file", path=W + "/n", content="new")
    eq(os.stat(W + "/n").st_mode & 0o777, 0o751, "the mode is kept")
    eq(get(W + "/hard"), "\u00e9\0x", "another name of the old file is not "
       "written to")
    eq(s.call("write_file", path=W + "/none/n", content=""),
       f"! ENOENT: no such file or directory, open '{W}/none/n'",
       "into a directory that is not there")
    eq(s.call("write_file", path=W + "/d", content=""),
       f"! EISDIR: illegal operation on a directory, open '{W}/d'",
       "onto a directory")
    eq(s.call("write_file", path=W, content=""),
       f"! EISDIR: illegal operation on a directory, open '{W}'",
       "onto the root")
    os.symlink("a.txt", W + "/link")
    s.call("write_file", path=W + "/link", content="L")
    eq((get(W + "/a.txt"), os.readlink(W + "/link")), ("L", "a.txt"),
       "a link is written through")
    eq([n for n in os.listdir(W) if n.startswith(".icfs")], [],
       "no temporary file is left")
    eq(s.call("create_directory", path=W + "/x/y/z"),
       f"Successfully created directory {W}/x/y/z", "create_directory")
    ok(os.path.isdir(W + "/x/y/z"), "with those above it")
    eq(s.call("create_directory", path=W + "/x"),
       f"Successfully created directory {W}/x", "one that exists")
    eq(s.call("create_directory", path=W + "/a.txt"),
       f"! EEXIST: file already exists, mkdir '{W}/a.txt'", "onto a file")
    eq(s.call("move_file", source=W + "/n", destination=W + "/x/m"),
       f"Successfully moved {W}/n to {W}/x/m", "move_file")
    eq(s.call("move_file", source=W + "/x/m", destination=W + "/a.txt"),
       f"! Destination already exists: {W}/a.txt", "never over a file")
    os.symlink("nowhere", W + "/dangling")
    eq(s.call("move_file", source=W + "/x/m", destination=W + "/dangling"),
       f"! Destination already exists: {W}/dangling", "nor over a link")
    eq(s.call("move_file", source=W + "/link", destination=W + "/l2"),
       f"Successfully moved {W}/link to {W}/l2", "a link is moved itself")
    eq((os.readlink(W + "/l2"), get(W + "/a.txt")), ("a.txt", "L"),
       "and not what it leads to")
    ok(s.call("move_file", source=W, destination=W + "/x/w").startswith(
        "! EBUSY"), "the root is not moved")
    eq(s.end(), 0, "it lives")
    s = Icfs("--read-only", W)
    names = [t["name"] for t in s.request("tools/list")["result"]["tools"]]
    ok("write_file" not in names and "read_file" in names,
       "--read-only lists what reads", names)
    eq(s.call("write_file", path=W + "/n", content=""),
       "! EROFS: this server was started with --read-only, write_file",
       "and refuses what writes")
    eq(s.call("read_text_file", path=W + "/a.txt"), "L", "and reads")
    s.end()


def test_only():
    os.makedirs(W + "/o/sub", exist_ok=True)
    for name in ("o/one", "o/two", "o/onemore"):
        put(f"{W}/{name}", name)
    os.symlink("two", W + "/o/ln")
    s = Icfs("--only", W + "/o/one", "--only", W + "/o/new", "--only",
             W + "/o/ln")
    denied = "! Access denied"
    eq(s.call("read_text_file", path=W + "/o/one"), "o/one", "--only: it")
    for path in ("/o/two", "/o/onemore", "/o", "/o/sub", "/a.txt", "/o/none",
                 "/o/one/../two", "/o/ln"):
        ok(s.call("read_text_file", path=W + path).startswith(
            denied if ".." not in path else "! ENOTDIR"),
           f"--only: not {path}")
    ok(s.call("list_directory", path=W + "/o").startswith(denied),
       "--only: not its directory")
    ok(s.call("create_directory", path=W + "/o/made/x").startswith(denied) and
       not os.path.exists(W + "/o/made"), "--only: nothing is made beside it")
    ok(s.call("write_file", path=W + "/o/new", content="n").startswith("Succ"),
       "--only: a new file")
    eq(sorted(os.listdir(W + "/o")),
       ["ln", "new", "one", "onemore", "sub", "two"], "and no other")
    ok(s.call("move_file", source=W + "/o/new",
              destination=W + "/o/moved").startswith(denied),
       "--only: not moved elsewhere")
    eq(s.call("list_allowed_directories"),
       f"Allowed directories:\n{W}/o/one\n{W}/o/new\n{W}/o/ln", "--only: says")
    s.end()
    s = Icfs("--read-only", "--only", W + "/o/one", W + "/o/sub")
    eq(s.call("list_directory", path=W + "/o/sub"), "", "and a directory")
    ok(s.call("read_text_file", path=W + "/o/two").startswith(denied),
       "does not widen it")
    s.end()


def test_edit():
    s = Icfs(W)
    head = f"Index: {W}/a.txt\n{'=' * 67}\n--- {W}/a.txt\toriginal\n" \
        f"+++ {W}/a.txt\tmodified\n"
    edits = [{"oldText": "two", "newText": "2\n2b"}]
    diff = f"```diff\n{head}@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three\n" \
        "```\n\n"
    eq(s.call("edit_file", path=W + "/a.txt", edits=edits, dryRun=True), diff,
       "edit_file, dry")
    eq(get(W + "/a.txt"), "one\ntwo\nthree\n", "changes nothing")
    eq(s.call("edit_file", path=W + "/a.txt", edits=edits), diff, "edit_file")
    eq(get(W + "/a.txt"), "one\n2\n2b\nthree\n", "changes the file")
    eq(s.call("edit_file", path=W + "/a.txt",
              edits=[{"oldText": "none", "newText": ""}]),
       "! Could not find exact match for edit:\nnone", "no such text")
    eq(s.call("edit_file", path=W + "/a.txt", edits=[{"oldText": "x"}]),
       "! Invalid arguments: edits must hold objects with the strings oldText "
       "and newText", "a malformed edit")
    eq(s.call("edit_file", path=W + "/a.txt", edits=[]),
       f"```diff\n{head}```\n\n", "no edits")
    put(W + "/py", "def f():\n    if x:\n        return 1\n    return 2\n")
    s.call("edit_file", path=W + "/py", edits=[
        {"oldText": "if x:\n    return 1",
         "newText": "if y:\n    return 7\n    z"}])
    eq(get(W + "/py"),
       "def f():\n    if y:\n    return 7\n    z\n    return 2\n",
       "white space at the ends of lines does not count")
    put(W + "/crlf", "a\r\nb\r\n")
    s.call("edit_file", path=W + "/crlf",
           edits=[{"oldText": "a\nb", "newText": "c\nd"}])
    eq(get(W + "/crlf"), "c\r\nd\r\n", "CR LF stays")
    put(W + "/t", "".join(f"l{i}\n" for i in range(40)) + "```")
    r = s.call("edit_file", path=W + "/t", edits=[
        {"oldText": "l5\n", "newText": ""},
        {"oldText": "l30\n", "newText": "new\nl30\n"},
        {"oldText": "```", "newText": "``` end"}])
    ok(r.startswith("````diff\n") and "@@ -2,9 +2,8 @@\n" in r and
       "@@ -27,8 +26,9 @@\n" in r and
       "-```\n\\ No newline at end of file\n+``` end\n\\ No newline" in r,
       "hunks, fences and a missing newline", r)
    put(W + "/r", "".join(f"{i}\n" for i in range(3000)))
    r = s.call("edit_file", path=W + "/r", dryRun=True, edits=[
        {"oldText": get(W + "/r"),
         "newText": "".join(f"x{i}\n" for i in range(3000))}])
    ok("@@ -1,3000 +1,3000 @@" in r, "a rewrite of everything")
    eq(s.end(), 0, "it lives")


def test_list():
    s = Icfs(W)
    os.symlink("a.txt", W + "/link")
    os.symlink(TOP + "/out/secret", W + "/leak")
    eq(s.call("list_directory", path=W),
       "[FILE] a.txt\n[DIR] d\n[FILE] leak\n[FILE] link", "list_directory")
    eq(s.call("list_directory", path=W + "/d/sub"), "", "an empty one")
    eq(s.call("list_directory", path=W + "/a.txt"),
       f"! ENOTDIR: not a directory, scandir '{W}/a.txt'", "a file")
    eq(s.call("list_directory_with_sizes", path=W),
       f"[FILE] {'a.txt':30}       14 B\n[DIR] {'d':30} \n"
       f"[FILE] {'leak':30}        0 B\n[FILE] {'link':30}       14 B\n\n"
       "Total: 3 files, 1 directories\nCombined size: 28 B",
       "list_directory_with_sizes; nothing is told of what lies outside")
    put(W + "/d/big", "b" * 1536)
    # The size of a directory depends on the file system.
    r = s.call("list_directory_with_sizes", path=W + "/d", sortBy="size")
    eq([x for x in r.split("\n") if x.startswith("[FILE]")][0],
       f"[FILE] {'big':30}    1.50 KB", "by size")
    eq(json.loads(s.call("directory_tree", path=W)),
       [{"name": "a.txt", "type": "file"},
        {"name": "d", "type": "directory", "children": [
            {"name": "big", "type": "file"}, {"name": "f", "type": "file"},
            {"name": "sub", "type": "directory", "children": []}]},
        {"name": "leak", "type": "file"}, {"name": "link", "type": "file"}],
       "directory_tree")
    os.chmod(W + "/d/sub", 0o111)
    tree = s.call("directory_tree", path=W + "/d")
    os.chmod(W + "/d/sub", 0o755)
    eq(os.getuid() == 0 or json.loads(tree)[2],
       os.getuid() == 0 or {
           "name": "sub", "type": "directory", "children": [],
           "error": "EACCES: permission denied"},
       "a directory that may not be read is not shown as an empty one")
    eq(s.call("directory_tree", path=W, excludePatterns=["d", "l*"]),
       '[\n  {\n    "name": "a.txt",\n    "type": "file"\n  }\n]',
       "without what is excluded, in its form")
    for pattern, want in (("*", ["a.txt", "d", "link"]), ("**/f", ["d/f"]),
                          ("f", []), ("{a,b}.*", ["a.txt"]), ("d/?", ["d/f"]),
                          ("[!a-k]*", ["link"]), ("[", []), ("d/*/", []),
                          ("**/*i*", ["d/big", "link"]), ("*" * 200, [
                              "a.txt", "d", "link"])):
        got = s.call("search_files", path=W, pattern=pattern)
        eq(got, "\n".join(W + "/" + n for n in want) or "No matches found",
           f"search_files {pattern[:20]}")
    eq(s.call("search_files", path=W, pattern="{" * 30 + "*" * 30 + "?a" * 99),
       "No matches found", "a pattern made to take time")
    eq(s.call("get_file_info", path=W + "/link").split("\n")[0], "size: 14",
       "get_file_info follows")
    os.utime(W + "/a.txt", (0, 1700000000))
    os.chmod(W + "/a.txt", 0o604)
    info = s.call("get_file_info", path=W + "/a.txt").split("\n")
    eq([info[2], info[4], info[5], info[6]],
       ["modified: Tue Nov 14 2023 22:13:20 GMT+0000 (Coordinated Universal "
        "Time)", "isDirectory: false", "isFile: true", "permissions: 604"],
       "get_file_info")
    for i in range(3000):
        put(f"{W}/d/sub/{i:04}")
    eq(len(s.call("list_directory", path=W + "/d/sub").split("\n")), 3000,
       "many entries")
    deep = W
    for i in range(70):
        deep += "/n"
        os.mkdir(deep)
    ok(s.call("directory_tree", path=W).startswith("! Too deep"), "too deep")
    eq(s.end(), 0, "it lives")


def test_paths():
    """The target of each path, for reading; None: denied."""
    os.symlink(TOP + "/out/secret", W + "/abs")
    os.symlink("../out/secret", W + "/rel")
    os.symlink("../out", W + "/dir")
    os.symlink("/", W + "/slash")
    os.symlink("..", W + "/up")
    os.symlink("d/f", W + "/in")
    os.symlink(W + "/d/f", W + "/absin")
    os.symlink("in", W + "/chain")
    os.symlink("d", W + "/dl")
    os.symlink("loop", W + "/loop")
    os.symlink("/proc/self/root/etc/passwd", W + "/magic")
    os.symlink("gone", W + "/dangling")
    os.symlink(TOP + "/out/new", W + "/dangout")
    os.symlink("../w/d/f", W + "/round")
    last = "d/f"
    for i in range(45):
        os.symlink(last, f"{W}/s{i}")
        last = f"s{i}"
    s = Icfs(W)

    def enoent(p):
        return f"! ENOENT: no such file or directory, open '{p}'"

    for path, want in (
            ("abs", None), ("rel", None), ("dir/secret", None),
            ("slash/etc/passwd", None), ("up/out/secret", None),
            ("magic", None), ("dangout", None), ("..", None), ("../out", None),
            ("../out/secret", None), ("d/../../out/secret", None),
            ("../w2/x", None), ("d/sub/../../../out/secret", None),
            ("in", "inner"), ("absin", "inner"), ("chain", "inner"),
            ("dl/f", "inner"), ("round", "inner"), ("up/w/d/f", "inner"),
            ("../w/d/f", "inner"), ("d/sub/../f", "inner"),
            ("./d//f", "inner"), ("d/./f", "inner"), ("s38", "inner"),
            ("s44", f"! ELOOP: too many symbolic links encountered, open "
             f"'{W}/s44'"),
            ("loop", f"! ELOOP: too many symbolic links encountered, open "
             f"'{W}/loop'"),
            ("d/f/", f"! ENOTDIR: not a directory, open '{W}/d/f/'"),
            ("d/f/x", f"! ENOTDIR: not a directory, open '{W}/d/f/x'"),
            ("d/f/..", f"! ENOTDIR: not a directory, open '{W}/d/f/..'"),
            ("none", enoent(W + "/none")),
            ("none/../d/f", enoent(W + "/none/../d/f")),
            ("dangling", enoent(W + "/dangling")),
            ("x" * 256, "! ENAMETOOLONG: name too long, open "
             f"'{W}/{'x' * 256}'"),
            ("~root/x", enoent(W + "/~root/x")),
            ("%2e%2e/out/secret", enoent(W + "/%2e%2e/out/secret"))):
        p = W + "/" + path
        eq(s.call("read_text_file", path=p),
           denied(p) if want is None else want, f"read {path[:40]}")
    for path, want in (
            ("/etc/passwd", denied("/etc/passwd")), ("/", denied("/")),
            (W + "x/a", denied(W + "x/a")), ("", "! Invalid path: it is empty"),
            (W + "/a\0b", "! Invalid path: it holds a NUL"),
            ("d/f", "inner"), ("//" + W + "//d/f", "inner"),
            (TOP + "/none/../w/d/f", "inner"),
            ("file://" + W + "/d/f", enoent("file://" + W + "/d/f"))):
        eq(s.call("read_text_file", path=path), want, f"read {path[-30:]!r}")
    ok(s.call("read_text_file", path="/" + "a/" * 3000).startswith(
        "! ENAMETOOLONG"), "a path too long")
    for tool, args in (("write_file", {"content": "x"}),
                       ("create_directory", {}), ("get_file_info", {}),
                       ("list_directory", {}), ("directory_tree", {}),
                       ("read_media_file", {}), ("edit_file", {"edits": []}),
                       ("search_files", {"pattern": "*"}),
                       ("list_directory_with_sizes", {})):
        for p in ("dir/n", "dangout", "../out/n", "abs", "slash/tmp"):
            eq(s.call(tool, path=f"{W}/{p}", **args), denied(f"{W}/{p}"),
               f"{tool} {p}")
    eq(s.call("move_file", source=W + "/dir/secret", destination=W + "/got"),
       denied(W + "/dir/secret"), "move from outside")
    eq(s.call("move_file", source=W + "/a.txt", destination=W + "/dir/a"),
       denied(W + "/dir/a"), "move to outside")
    eq(s.call("write_file", path=W + "/dangling", content="D"),
       f"Successfully wrote to {W}/dangling", "a dangling link within")
    eq(get(W + "/gone"), "D", "is where it points")
    eq(sorted(os.listdir(TOP + "/out")), ["secret"], "nothing came outside")
    eq(get(TOP + "/out/secret"), SECRET, "and nothing was changed there")
    eq(s.end(), 0, "it lives")


def test_roots():
    os.makedirs(TOP + "/v/in")
    put(TOP + "/v/in/g", "other")
    os.symlink(TOP + "/v", TOP + "/vlink")
    os.symlink(TOP + "/v/in/g", W + "/across")
    s = Icfs(W, TOP + "/vlink", cwd=TOP)
    eq(s.call("read_text_file", path=W + "/across"), "other",
       "a link from one directory into another")
    eq(s.call("read_text_file", path=TOP + "/vlink/in/g"), "other",
       "a directory under the name it was given")
    eq(s.call("read_text_file", path=TOP + "/v/in/g"), "other",
       "and under its real one")
    eq(s.call("move_file", source=W + "/a.txt",
              destination=TOP + "/v/in/a"),
       f"Successfully moved {W}/a.txt to {TOP}/v/in/a", "a move across")
    eq(s.call("read_text_file", path="d/f"), "inner",
       "a relative path is one in the first")
    s.end()
    s = Icfs(W, TOP + "/v", cwd=TOP + "/v/in")
    eq(s.call("read_text_file", path="g"), "other",
       "or in the working directory, if that is allowed")
    s.end()


def small(ignored):
    """Limit the size of files: a longer copy fails, or kills the process."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        signal.signal(signal.SIGXFSZ,
                      signal.SIG_IGN if ignored else signal.SIG_DFL)
    return limit


def test_mounts():
    """Moves to another mount: copied, then deleted."""
    other = tempfile.mkdtemp(prefix="test_icfs.", dir="/dev/shm") \
        if os.access("/dev/shm", os.W_OK) else None
    if other is None or os.stat(other).st_dev == os.stat(W).st_dev:
        tap.skip("moves to another mount", "/dev/shm is none")
        return
    try:
        moves(other)
        moves_that_fail(other)
        moves_raced(other)
    finally:
        shutil.rmtree(other)


def moves(other):
    s = Icfs(W, other)
    data = os.urandom(700000)
    put(W + "/large", data)
    os.chmod(W + "/large", 0o4751)
    os.utime(W + "/large", ns=(5, 1234567890123456789))
    eq(s.call("move_file", source=W + "/large", destination=other + "/l"),
       f"Successfully moved {W}/large to {other}/l", "mounts: a file")
    st = os.stat(other + "/l")
    with open(other + "/l", "rb") as f:
        eq(f.read() == data, True, "mounts: with its content")
    eq((st.st_mode & 0o7777, st.st_mtime_ns), (0o751, 1234567890123456789),
       "mounts: its mode, but no setuid bit, and its time")
    ok(not os.path.exists(W + "/large"), "mounts: its source is gone")
    eq(s.call("move_file", source=W + "/a.txt", destination=other + "/l"),
       f"! Destination already exists: {other}/l", "mounts: never over a file")
    os.symlink("none", other + "/dangling")
    eq(s.call("move_file", source=W + "/a.txt",
              destination=other + "/dangling"),
       f"! Destination already exists: {other}/dangling", "nor over a link")
    os.symlink(TOP + "/out/secret", W + "/ln")
    os.mkfifo(W + "/fifo")
    for name in ("ln", "d", "fifo"):
        eq(s.call("move_file", source=f"{W}/{name}", destination=other + "/n"),
           "! EXDEV: only a regular file can be moved to another mount, "
           f"rename '{W}/{name}'", f"mounts: not {name}")
        ok(os.path.lexists(f"{W}/{name}") and
           not os.path.lexists(other + "/n"), f"mounts: {name} stays")
    eq(s.end(), 0, "mounts: it lives")


def moves_that_fail(other):
    put(W + "/big", b"b" * (2 << 20))
    s = Icfs(W, other, preexec_fn=small(True))
    ok(s.call("move_file", source=W + "/big", destination=other + "/b")
       .startswith("! E"), "mounts: a copy that does not fit")
    eq((len(get(W + "/big")), os.path.exists(other + "/b")),
       (2 << 20, False), "mounts: leaves the source, and no copy")
    os.mkdir(W + "/shut")
    put(W + "/shut/f", "stays")
    os.chmod(W + "/shut", 0o555)
    if os.getuid() != 0:
        ok(s.call("move_file", source=W + "/shut/f", destination=other + "/f")
           .startswith("! EACCES"), "mounts: a source that cannot be deleted")
        eq((get(W + "/shut/f"), os.path.exists(other + "/f")),
           ("stays", False), "mounts: leaves the source alone")
    os.chmod(W + "/shut", 0o755)
    s.end()
    s = Icfs(W, other, preexec_fn=small(False))
    s.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": "move_file", "arguments": {
                           "source": W + "/big",
                           "destination": other + "/b"}}}))
    eq(s.p.wait(), -signal.SIGXFSZ, "mounts: it is killed while it copies")
    eq(len(get(W + "/big")), 2 << 20, "mounts: the source is whole")


def moves_raced(other):
    """The source's name is exchanged with a link to the secret, and with
    another file, while it is moved: no content is lost, and none is leaked."""
    stop = threading.Event()
    os.symlink(TOP + "/out/secret", W + "/link")
    put(W + "/source", "moved")
    put(W + "/third", "THIRD")

    def exchange():
        libc = ctypes.CDLL(None)
        names = [f"{W}/{n}".encode() for n in ("link", "third")]
        while not stop.is_set():
            for n in names:
                libc.renameat2(-100, n, -100, (W + "/source").encode(), 2)
    thread = threading.Thread(target=exchange)
    thread.start()
    s = Icfs("--only", W + "/source", "--only", other + "/to")
    done, left, leaks = 0, [], 0
    try:
        for i in range(6000):
            # On a machine with little to do, few of them find it in its place.
            if i >= 300 and done > 5:
                break
            r = s.call("move_file", source=W + "/source",
                       destination=other + "/to")
            if r.startswith("!"):
                left += [r] if os.path.lexists(other + "/to") else []
                continue
            done += 1
            leaks += get(other + "/to") not in ("moved", "THIRD")
            os.rename(other + "/to", f"{other}/was{i}")
            # A name that is free for the next one, whoever has it now.
            put(f"{W}/new{i}", get(f"{other}/was{i}"))
            os.rename(f"{W}/new{i}", W + "/source")
    finally:
        stop.set()
        thread.join()
    s.end()
    eq(left, [], "mounts, raced: a move that fails leaves nothing")
    eq(leaks, 0, "mounts, raced: nothing else is copied")
    ok(done > 5, "mounts, raced: and some are moved", done)


def swapper(a, b, stop):
    """Exchange two names as fast as possible."""
    libc = ctypes.CDLL(None)
    while not stop.is_set():
        libc.renameat2(-100, a, -100, b, 2)


def test_races():
    """Make 4,000 calls while a directory and a link to the outside are
    exchanged."""
    os.makedirs(W + "/x")
    put(W + "/x/secret", "harmless")
    os.symlink(TOP + "/out", W + "/y")
    os.makedirs(W + "/parts")
    stop = threading.Event()
    t = threading.Thread(target=swapper, args=(
        (W + "/x").encode(), (W + "/y").encode(), stop))
    t.start()
    s = Icfs(W)
    leaks, good = [], 0
    try:
        for i in range(600):
            for tool, args in (
                    ("read_text_file", {"path": W + "/x/secret"}),
                    ("read_text_file", {"path": W + "/x/../x/secret"}),
                    ("write_file", {"path": W + "/x/w", "content": "w"}),
                    ("list_directory", {"path": W + "/x"}),
                    ("search_files", {"path": W, "pattern": "x/secret"}),
                    ("create_directory", {"path": W + f"/x/d{i}"}),
                    ("move_file", {"source": W + "/x/w",
                                   "destination": W + f"/parts/{i}"})):
                r = s.call(tool, **args)
                if SECRET in r:
                    leaks.append((tool, r))
                good += not r.startswith("!")
    finally:
        stop.set()
        t.join()
    eq(leaks, [], "races: nothing from outside is read")
    eq(os.listdir(TOP + "/out"), ["secret"], "races: nothing comes outside")
    eq([n for n in os.listdir(W + "/parts")
        if get(f"{W}/parts/{n}") != "w"], [], "races: nothing is moved in")
    ok(good > 600, "races: and many calls succeed", good)
    eq(s.end(), 0, "it lives")


if __name__ == "__main__":
    try:
        for test in (test_protocol, test_command_line, test_read, test_write,
                     test_only, test_edit, test_list, test_paths, test_roots,
                     test_mounts, test_races):
            fresh()
            test()
    finally:
        shutil.rmtree(TOP, ignore_errors=True)
    tap.done()
