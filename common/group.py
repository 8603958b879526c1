# SPDX-License-Identifier: ISC
"""Joins C files of one target, so that the compiler reads their headers once for
all of them: meson calls this with -Dgrouped=true, for the builds of `./dev demo`
and of the suites `asan` and `clang`. What is released, and tested otherwise, is
compiled file by file: a program links only those files of a library that it
needs, and each file includes what it uses.

usage: group.py OUTPUT... -- INPUT...

Each output includes some inputs. Files that define one name each for itself, or
whose headers do (a static function, a macro, a structure), are never in one
output."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORD = re.compile(r"[A-Za-z_]\w*")
# They may stand before "static", too.
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")


def plain(text):
    """Returns a file without comments and texts, and the macros that it leaves
    defined."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                  lambda m: '""' if m[0][0] == '"' else " ", text, flags=re.S)
    text = text.replace("\\\n", " ")
    last = {m: what for what, m in re.findall(
        r"^[ \t]*#[ \t]*(define|undef)[ \t]+(\w+)", text, re.M)}
    macros = [m for m, what in last.items() if what == "define"]
    return re.sub(r"^[ \t]*#.*", "", text, flags=re.M), macros


def chunks(text):
    """Yields the definitions of a file, each as its text outside braces and the
    text inside."""
    depth, head, body = 0, "", ""
    for c in text:
        if c == "{":
            depth += 1
            head += "{" if depth == 1 else ""
        elif c == "}":
            depth -= 1
            head += "}" if depth == 0 else ""
            # The end of a function.
            if depth == 0 and re.search(r"\)\s*(?:__attribute__.*)?\{\}$", head):
                yield head, body
                head, body = "", ""
        elif depth:
            body += c
        elif c == ";":
            yield head, body
            head, body = "", ""
        else:
            head += c


def outside(head):
    """Returns it without what is in parentheses, brackets or braces."""
    while True:
        short = re.sub(r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}", " @ ", head)
        if short == head:
            return head
        head = short


def declared(head):
    """Returns the names that a static declaration makes."""
    function = re.search(r"(\w+)\s*\((?!\s*\*)", head.split("=")[0])
    if function and "{" not in head[:function.start()]:
        return [function[1]]
    names = []
    for part in outside(head).split(","):
        words = WORD.findall(part.split("=")[0])
        names += words[-1:]
    pointer = re.search(r"\(\s*\*\s*(\w+)", head)
    return names + ([pointer[1]] if pointer else [])


def own(path, text):
    """Returns the names that a file defines for itself or, if it is a header, for
    those that include it."""
    text, names = plain(text)
    for head, body in chunks(text):
        head = ATTRIBUTE.sub(" ", head).strip()
        tag = re.search(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", head)
        names += ["struct " + tag[1]] if tag else []
        if re.search(r"\benum(?:\s+\w+)?\s*\{", head):
            names += re.findall(r"(?:^|,)\s*(\w+)", body)
        if re.match(r"(?:static|typedef)\b", head) or path.endswith(".h") and \
                not re.match(r"(?:struct|union|enum)\b[\s\w]*(?:\{\})?$", head):
            names += declared(head)
    return names


class File:
    """A file, with each name that is defined in it or in its headers, and where."""
    headers = {}

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        # A header that it includes reads such a macro.
        self.early = "#include" in self.text and re.search(
            r"^#define", self.text[:self.text.index("#include")], re.M) is not None
        self.macros = plain(self.text)[1]
        self.names = {name: path for name in own(path, self.text)}
        if self.early:
            self.names["#define"] = path
        # In one order: a name that stands in two headers is of the same one each time.
        for header in sorted(self.included(path, self.text, set())):
            self.names.update(self.headers[header])

    def included(self, path, text, seen):
        for name in re.findall(r'^#include "(.*)"', text, re.M):
            for place in (os.path.dirname(path), *(os.path.join(TOP, x) for x in (
                    "", "supervisor", "mitmd", "policyd", "mcp-proxyd"))):
                header = os.path.normpath(os.path.join(place, name))
                if header in seen or not os.path.exists(header):
                    continue
                seen.add(header)
                with open(header, encoding="utf-8") as f:
                    inner = f.read()
                if header not in self.headers:
                    self.headers[header] = {
                        n: header for n in own(header, inner)}
                self.included(header, inner, seen)
                break
        return seen


class Group:
    def __init__(self):
        self.files, self.names = [], {}

    def fits(self, file):
        return all(self.names.get(n, at) == at for n, at in file.names.items())

    def add(self, file):
        self.files.insert(0 if file.early else len(self.files), file)
        self.names.update(file.names)


def share(paths, count):
    """Returns `count` groups, none of them empty. Neighbours, which have headers
    in common, come together where they can."""
    groups = [Group() for _ in range(count)]
    few, more = divmod(len(paths), count)
    for file in map(File, paths):
        fit = [g for g in groups if g.fits(file)]
        if not fit:
            sys.exit(f"group.py: {file.path}: each of {count} groups has one of its "
                     "names: let meson.build give more outputs")
        room = [g for n, g in enumerate(groups)
                if g in fit and len(g.files) < few + (n < more)]
        (room[0] if room else min(fit, key=lambda g: len(g.files))).add(file)
    return groups


def main(args):
    middle = args.index("--")
    outputs = args[:middle]
    inputs = [os.path.abspath(x) for x in args[middle + 1:]]
    for out, group in zip(outputs, share(inputs, len(outputs))):
        with open(out, "w", encoding="utf-8") as f:
            for file in group.files:
                # From here, so that no program names the folder of its build.
                path = os.path.relpath(file.path, os.path.dirname(out))
                f.write(f'#include "{path}"\n')
                f.writelines(f"#undef {m}\n" for m in file.macros)


main(sys.argv[1:])
