#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Print the C tables of a forge, which FORGE.api describes.

usage: tables.py FORGE FILE
       tables.py --man TEMPLATE FORGE FILE [FORGE FILE...]

With --man, print the manual page whose template has a line @FORGE@ for each.

A line without indentation begins an entry; the indented lines below belong to it.

  enum NAME WORD...             an enum of GraphQL
  input NAME                    an input; below it MEMBER lines
  type NAME [= REAL]            a type of GraphQL; below it EDGE lines
    on TYPE...                  types that "... on" may name
    unsent NAME...              scalars that a query may have, and that are left
                                out of what is sent
  mutation NAME INPUT CLASS PAYLOAD    below it MEMBER lines and one `say`
  route NAME METHOD PATH CLASS [follow] [cut] [keep] [raw]
    path NAME ref:TYPE          a reference in the path
    query NAME...               members of the query
    query MEMBER                one with a role
    MEMBER                      of the body
    say TEXT                    the sentence, for all but reads
  never METHOD PATH: WHY        METHOD is * for all, ! for all but GET and HEAD
  cut|keep|follow|accept WORD...

  EDGE    NAME[(MEMBER, ...)] [TYPE]; names of scalars may share a line
  MEMBER  NAME TYPE[!] [ROLE]; [TYPE] is a list of it
"""
import re
import sys

FORMS = {"Int": "INT", "Boolean": "BOOL", "ID": "ID"}
STRINGS = {"String", "GitObjectID", "URI", "DateTime"}
ROLES = {"text", "name", "login", "owner", "repo", "search", "fixed", "none"}
PARTS = {"number": "NUMBER", "text": "TEXT", "ref": "REF", "rest": "REST"}


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Tables:
    def __init__(self, forge):
        self.forge = forge
        self.enums, self.inputs, self.types = {}, {}, {}
        self.mutations, self.routes, self.never = [], [], []
        self.lists = {"cut": [], "keep": [], "follow": [], "accept": []}
        self.out, self.made, self.count = [], set(), 0

    # Reading.

    def read(self, lines):
        entry = None
        for number, line in enumerate(lines, 1):
            line = line.split(" #")[0].rstrip() if "#" in line else line.rstrip()
            if not line or line.startswith("#"):
                continue
            try:
                if line[0] == " ":
                    self.below(entry, line.strip())
                else:
                    entry = self.begin(line)
            except (KeyError, ValueError, IndexError) as e:
                sys.exit(f"{self.forge}.api:{number}: {e!r}: {line}")

    def begin(self, line):
        word, rest = line.split(" ", 1)
        names = rest.split()
        if word == "enum":
            self.enums[names[0]] = names[1:]
            return None
        if word == "input":
            self.inputs[names[0]] = []
            return "input", self.inputs[names[0]]
        if word == "type":
            entry = {"real": names[-1], "edges": [], "on": [],
                     "unsent": []}
            self.types[names[0]] = entry
            return "type", entry
        if word == "mutation":
            entry = {"name": names[0], "input": names[1], "class": names[2],
                     "payload": names[3], "members": [], "say": None}
            self.mutations.append(entry)
            return "mutation", entry
        if word == "route":
            entry = {"name": names[0], "method": names[1], "parts": names[2],
                     "class": names[3], "flags": names[4:], "path": [],
                     "query": [], "members": [], "say": None}
            self.routes.append(entry)
            return "route", entry
        if word == "never":
            rest, why = rest.split(": ", 1)
            method, path = rest.split()
            self.never.append((method, path, why))
            return None
        self.lists[word] += names
        return None

    def below(self, entry, line):
        kind, to = entry
        word, _, rest = line.partition(" ")
        if kind == "input":
            to.append(self.member(line))
        elif kind == "type":
            if word == "on":
                to["on"] += rest.split()
            elif word == "unsent":
                to["unsent"] += rest.split()
            else:
                to["edges"] += self.edges(line)
        elif word == "say":
            to["say"] = rest
        elif kind == "mutation":
            to["members"].append(self.member(line))
        elif word == "path":
            name, role = rest.split()
            to["path"].append(self.member(f"{name} String! {role}"))
        elif word == "query":
            if len(rest.split()) > 1 and rest.split()[1][0].isupper():
                to["query"].append(self.member(rest))
            else:
                to["query"] += [self.member(f"{n} String")
                                for n in rest.split()]
        else:
            to["members"].append(self.member(line))

    def member(self, text):
        parts = text.split()
        name, kind = parts[0], parts[1]
        m = {"name": name, "role": "PLAIN", "is": [], "required": False}
        if kind.endswith("!"):
            m["required"], kind = True, kind[:-1]
        m["list"] = kind.startswith("[")
        kind = kind.strip("[]!")
        m["type"] = kind
        if len(parts) > 3:
            raise ValueError("too many words")
        if len(parts) == 3:
            role, _, of = parts[2].partition(":")
            if role == "ref":
                m["role"], m["is"] = "REF", of.split("|")
            elif role in ROLES:
                m["role"] = role.upper()
                m["word"] = of
            else:
                raise ValueError(role)
        return m

    def edges(self, line):
        found = []
        while line:
            m = re.match(r"(\w+)(\(([^)]*)\))?(?: ([A-Z]\w*))?\s*", line)
            if m is None:
                raise ValueError(line)
            args = [self.member(a) for a in (m[3] or "").split(", ") if a]
            found.append((m[1], args, m[4]))
            line = line[m.end():]
        return found

    # Writing.

    def put(self, text):
        self.out.append(text)

    def words(self, prefix, words):
        name = f"{prefix}_words"
        if name not in self.made:
            self.made.add(name)
            self.put(f"static const char *const {name}[] = {{"
                     + ", ".join([quoted(w) for w in words] + ["NULL"])
                     + "};")
        return name

    def members(self, members):
        if not members:
            return "no_members"
        rows = []
        for m in members:
            kind = m["type"]
            words = below = "NULL"
            if kind in FORMS:
                form = FORMS[kind]
            elif kind in STRINGS:
                form = "STRING"
            elif kind in self.enums:
                form = "ENUM"
                words = self.words(kind, self.enums[kind])
            else:
                form = "INPUT"
                below = self.members(self.inputs[kind])
            if m["role"] == "FIXED":
                words = self.words("fixed_" + re.sub(r"\W", "_", m["word"]),
                                   [m["word"]])
            mask = " | ".join("FORGE_IS_" + i for i in m["is"]) or "0"
            rows.append(
                f"\t{{{quoted(m['name'])}, FORGE_{form}, FORGE_{m['role']}, "
                f"{str(m['list']).lower()}, {str(m['required']).lower()}, "
                f"{mask}, {quoted(kind)}, {words}, {below}}},")
        text = "\n".join(rows)
        if text not in self.made:
            self.made.add(text)
            self.count += 1
            self.made_names = getattr(self, "made_names", {})
            self.made_names[text] = f"members_{self.count}"
            self.put(f"static const struct forge_member "
                     f"members_{self.count}[] = {{\n{text}\n\t{{0}},\n}};")
        return self.made_names[text]

    def write(self):
        self.put("#include \"common/forge/table.h\"\n")
        self.put("static const struct forge_member no_members[] = {{0}};")
        if any(not t["edges"] for t in self.types.values()):
            self.put("static const struct forge_edge no_edges[] = {{0}};")
        for name in self.types:
            self.put(f"static const struct forge_type type_{name};")
        for name, t in self.types.items():
            rows = []
            for edge, args, to in t["edges"]:
                if to is not None and to not in self.types:
                    raise SystemExit(f"no type {to} for {name}.{edge}")
                args = self.members(args)
                to = "NULL" if to is None else f"&type_{to}"
                rows.append(f"\t{{{quoted(edge)}, {args}, {to}}},")
            edges = f"edges_{name}" if rows else "no_edges"
            if rows:
                self.put(f"static const struct forge_edge {edges}[] = {{\n"
                         + "\n".join(rows) + "\n\t{0},\n};")
            parts = ", ".join([f"&type_{p}" for p in t["on"]] + ["NULL"])
            self.put(f"static const struct forge_type *const parts_{name}[] = "
                     f"{{{parts}}};")
            self.put(f"static const struct forge_type type_{name} = "
                     f"{{{quoted(t['real'])}, {edges}, parts_{name}, "
                     f"{self.words('_'.join(['unsent'] + t['unsent']), t['unsent'])}}};")
        self.write_mutations()
        self.write_routes()
        self.write_end()

    def write_mutations(self):
        rows = []
        for m in self.mutations:
            rows.append(
                f"\t{{{quoted(m['name'])}, {quoted(m['input'])}, "
                f"FORGE_{m['class'].upper()}, {self.members(m['members'])}, "
                f"&type_{m['payload']}, {quoted(m['say'])}}},")
        self.put("static const struct forge_field mutations[] = {\n"
                 + "\n".join(rows + ["\t{0},"]) + "\n};")

    def part(self, text):
        m = re.fullmatch(r"\{(\w+)(?::(\w+))?\}(\.\w+)?", text)
        if m is None:
            return f"{{FORGE_PART_WORD, {quoted(text)}, NULL}}"
        name, kind = m[1], m[2] or m[1]
        if kind == "owner":
            return "{FORGE_PART_OWNER, \"owner\", NULL}"
        if kind == "repo":
            return "{FORGE_PART_REPO, \"repository\", NULL}"
        if kind == "project":
            return "{FORGE_PART_PROJECT, \"repository\", NULL}"
        if m[3]:
            return f"{{FORGE_PART_SUFFIX, {quoted(name)}, {quoted(m[3])}}}"
        return f"{{FORGE_PART_{PARTS[kind]}, {quoted(name)}, NULL}}"

    def write_routes(self):
        rows = []
        for i, r in enumerate(self.routes):
            if (r["say"] is None) != (r["class"] == "read"):
                raise SystemExit(f"route {r['name']}: a sentence is missing, "
                                 "or a read has one")
            parts = ", ".join([self.part(p) for p in
                               r["parts"].strip("/").split("/") if p]
                              + ["{0}"])
            self.put(f"static const struct forge_part parts_of_{i}[] = "
                     f"{{{parts}}};")
            flags = " | ".join("FORGE_ROUTE_" + f.upper()
                               for f in r["flags"]) or "0"
            body = "NULL"
            if r["method"] in ("POST", "PUT", "PATCH") or r["members"]:
                body = self.members(r["members"])
            rows.append(
                f"\t{{{quoted(r['name'])}, {quoted(r['method'])}, parts_of_{i}, "
                f"FORGE_{r['class'].upper()}, {flags}, "
                f"{self.members(r['path'])}, {self.members(r['query'])}, {body}, "
                f"{quoted(r['say']) if r['say'] else 'NULL'}}},")
        self.put("static const struct forge_route routes[] = {\n"
                 + "\n".join(rows + ["\t{0},"]) + "\n};")

    def write_end(self):
        rows = []
        for method, path, why in self.never:
            method = "NULL" if method == "!" else quoted(method)
            rows.append(f"\t{{{quoted(path)}, {method}, {quoted(why)}}},")
        self.put("static const struct forge_never never[] = {\n"
                 + "\n".join(rows + ["\t{0},"]) + "\n};")
        lists = [self.words(n, w) for n, w in self.lists.items()]
        query = "&type_Query" if "Query" in self.types else "NULL"
        self.put(f"extern const struct forge_table forge_{self.forge};")
        self.put(f"const struct forge_table forge_{self.forge} = {{{query}, "
                 f"mutations, routes, never, {', '.join(lists)}}};")


def read(forge, path):
    t = Tables(forge)
    with open(path, encoding="utf-8") as f:
        t.read(f)
    return t


def shown(path):
    """A path as the manual has it: {number}, and no kinds of parts."""
    path = re.sub(r"\{(\w+):\w+\}", r"{\1}", path)
    return path.replace("{project}", "{owner}%2F{repo}")


def names(members):
    return ", ".join(m["name"] for m in members if m["role"] != "NONE")


def manual(t):
    """The tables of a forge as mdoc."""
    out = []
    if t.mutations:
        out += [".Ss Mutations of GraphQL",
                "Each has its class and the members of its input.",
                ".Bl -tag -width Ds"]
        for m in t.mutations:
            out += [f".It Li {m['name']} Pq {m['class']}",
                    names(m["members"])]
        out.append(".El")
    out += [".Ss Reads of REST", ".Bd -literal"]
    out += [shown(r["parts"]) + (" (redirects)" if "follow" in r["flags"]
                                 else "")
            for r in t.routes if r["class"] == "read"]
    out += [".Ed", ".Ss Changes by REST",
            "Each has its class and the members of its body.",
            ".Bl -tag -width Ds"]
    for r in t.routes:
        if r["class"] == "read":
            continue
        out += [f".It Li {r['method']} {shown(r['parts'])} Pq {r['class']}",
                names(r["members"]) or "No body."]
    out += [".El", ".Ss Never",
            "No setting permits these, and all that is below them.",
            ".Bd -literal"]
    methods = {"*": "all", "!": "changes"}
    out += [f"{methods.get(m, m):8} {p.removesuffix('/**')}: {why}"
            for m, p, why in t.never]
    out += [".Ed"]
    if t.lists["follow"]:
        out += [".Ss Hosts of redirects", ".Bd -literal"]
        out += t.lists["follow"] + [".Ed"]
    return "\n".join(out)


def hosts(tables):
    """The hosts of all forges' redirects, for those who need no other table."""
    rows = [f"\t{quoted(h)}," for t in tables for h in t.lists["follow"]]
    return "\n".join(["/* Made by tables.py. */",
                      '#include <stddef.h>\n\n#include "common/forge/hosts.h"',
                      "const char *const forge_hosts[] = {", *rows,
                      "\tNULL};"])


def main():
    if sys.argv[1] == "--man":
        with open(sys.argv[2], encoding="utf-8") as f:
            page = f.read()
        for forge, path in zip(sys.argv[3::2], sys.argv[4::2]):
            page = page.replace(f"@{forge}@", manual(read(forge, path)))
        print(page, end="")
        return
    if sys.argv[1] == "--hosts":
        print(hosts([read("", p) for p in sys.argv[2:]]))
        return
    t = read(sys.argv[1], sys.argv[2])
    t.write()
    print(f"/* Made by tables.py from {t.forge}.api. */")
    print("\n".join(t.out))


if __name__ == "__main__":
    main()
