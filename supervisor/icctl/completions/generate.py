#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Write the completions of one shell from the tables that icctl is built from.

usage: generate.py bash|zsh|fish COMMAND-ROWS OPTION-ROWS TEMPLATE [PROGRAM]

The template has the functions that list sessions, pending calls and so on, and
@TABLE@ where the commands and their options belong.  fish looks for one file for
each PROGRAM.
"""
import re
import sys

GLOBAL = [("--json", None, "print JSON"),
          ("--session", "SESSION", "the session that is meant")]
ENDS = [("--help", None, "show the help"),
        ("--version", None, "show the version")]
# Options of `icctl start` that icsupervisor has not.
STARTS = [("--detach", None, "in the background, for messages"),
          ("--systemd", None, "in the background, as a unit of systemd"),
          ("--policy-for-task", "TEXT", "a strict policy for this task alone"),
          ("--no-project", None, "without the project's .ironcurtain.json"),
          ("--session-dir", "DIR", "where the session is kept")]
# Options of `icctl start` that `icctl driver` refuses.
UNDRIVEN = ("acp", "task")
# Kinds that can be listed; the functions of the templates are named like this.
LISTED = {"ID": "ids", "SESSION": "sessions", "AGENT": "agents",
          "PERSONA": "personas", "POLICY": "policies", "PAST": "past",
          "ENDED": "ended"}
# Options that take the same in every command, whatever its usage calls it.
ALIKE = {"--agent": "AGENT", "--persona": "PERSONA", "--policy": "POLICY"}
# Commands that read what a session left, also after its end.
READING = ("history", "logs", "diagnostics", "diff", "pull")
FILES = {"FILE", "PATH"}
# An option outside of brackets, with its value.
NEEDED = r"(?<![\w-])(--[a-z][\w-]*)(?: ([A-Z][\w.]*))?"


class Command:
    """A command: its options, and the kind of each of its arguments."""

    def __init__(self, name, help_text):
        self.name = name
        self.help = help_text
        self.options = []       # (name, kind or None, help, excluded options)
        self.places = []
        self.rest = None        # the kind of all further arguments
        self.command = False    # takes -- and a command

    def option(self, name, kind=None, help_text="", excludes=()):
        self.options.append((name, ALIKE.get(name, kind), help_text, excludes))

    def take(self, name, kind, excludes=()):
        """An option of a usage, which may name it twice."""
        if name not in [o[0] for o in self.options]:
            self.option(name, kind, "", excludes)


def rows(path):
    """Yield each row of a table as its macro and the strings it is given."""
    text = re.sub(r"/\*.*?\*/|^#.*?(?<!\\)$", "", open(path).read(),
                  flags=re.S | re.M)
    for m in re.finditer(r'^(\w+)\(((?:"(?:[^"\\]|\\.)*"|[^"()])*)\)', text,
                         re.M):
        args = []
        for arg in re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^",])+', m[2]):
            parts = re.findall(r'"((?:[^"\\]|\\.)*)"', arg)
            args.append("".join(parts).replace("\\n", "\n") if parts
                        else arg.strip())
        yield m[1], args


def values(kind, more):
    """The words that may stand for a kind, if the text lists them."""
    m = re.match(kind + r": ([^;]*);", more)
    return "|".join(re.findall(r"\w*[A-Z]\w*", m[1])) if m else kind


def parse(command, usage, more=""):
    """Read the options and the places of the arguments from a usage."""
    # A value that may be left out is none for a completion.
    usage = re.sub(r"(--[\w-]+) \[[A-Z]+\]", r"\1", usage)
    for group in re.findall(r"\[(-[^\[\]]*)\]", usage):
        # "--file FILE|-": the last word is another value, and no option.
        alike = [o.split() for o in map(str.strip, group.split("|"))
                 if re.match(r"-\w|--\w", o)]
        command.command = command.command or group.startswith("-- ")
        for o in alike:
            command.take(o[0], o[1] if len(o) > 1 else None,
                         [x[0] for x in alike if x is not o])
    usage = re.sub(r"\[-[^\[\]]*\](\.\.\.)?", "", usage)
    # Those that are needed, or of another way to write the command.
    for name, kind in re.findall(NEEDED, usage):
        command.take(name, kind or None)
    usage = re.sub(NEEDED, "", usage)
    places = []
    for way in usage.split(" | "):
        for i, word in enumerate(re.findall(r"[\w|.]+", way)):
            kind = word.rstrip(".")
            if word != kind:
                command.rest = kind
            if i == len(places):
                places.append([])
            kind = values(kind, more)
            # `revoke` takes the id of an approval, which is not pending.
            if command.name == "revoke" and kind == "ID":
                kind = "APPROVAL"
            if command.name == "persona" and kind == "NAME":
                kind = "PERSONA"
            if kind == "SESSION" and command.name in READING:
                kind = "PAST"
            if kind == "SESSION" and command.name == "resume":
                kind = "ENDED"
            places[i].append(kind)
    command.places = ["|".join(p) if p[0].islower() else p[0] for p in places]
    if command.rest:
        command.places = [p for p in command.places if p != command.rest]


def subcommands(command, table, macro, rest):
    """The first argument is one of the rows of that macro."""
    names = [a[0] for m, a in table if m == macro]
    command.places = ["|".join(names)]
    command.rest = rest


def read(command_rows, option_rows):
    table = list(rows(command_rows))
    options = list(rows(option_rows))
    commands = []
    for macro, args in table:
        if macro != "COMMAND":
            continue
        c = Command(args[0], args[2])
        if c.name == "start":
            c.places = ["AGENT"]
            c.command = True
            for m, a in options:
                if m.startswith("START_"):
                    c.option("--" + a[0], a[2] if m.endswith("OPTION") else None,
                             a[-1])
            for name, kind, text in STARTS:
                c.option(name, kind, text)
            c.option(*ENDS[0])
        elif c.name == "mcp":
            subcommands(c, table, "MCP_COMMAND", "FILE")
            for m, a in table:
                if m == "MCP_COMMAND":
                    own = Command(a[0], a[3])
                    parse(own, a[2])
                    known = [o[0] for o in c.options]
                    c.options += [o for o in own.options if o[0] not in known]
        elif c.name == "policy":
            subcommands(c, table, "POLICY_TOOL", "FILE")
            for m, a in table:
                if m == "POLICY_COMMAND":
                    c.places[0] += "|" + a[0]
                    own = Command(a[0], a[3])
                    parse(own, a[2])
                    known = [o[0] for o in c.options]
                    c.options += [o for o in own.options if o[0] not in known]
            known = [o[0] for o in c.options]
            for m, a in table:
                if m == "POLICY_OPTION" and "--" + a[0] not in known:
                    c.option("--" + a[0], a[1])
        else:
            parse(c, args[1], args[3])
        if c.name == "driver":
            c.places = ["AGENT"]
            for m, a in options:
                if m.startswith("START_") and a[0] not in UNDRIVEN:
                    c.option("--" + a[0], a[2] if m.endswith("OPTION") else None,
                             a[-1])
        commands.append(c)
    sup = Command("icsupervisor", "")
    sup.command = True
    for m, a in options:
        sup.option("--" + a[0], a[2] if m.endswith("OPTION") else None, a[-1])
    if len(commands) < 15 or len(sup.options) < 12:
        sys.exit("generate.py: the tables could not be read")
    return commands, sup


def bash(commands, sup):
    icctl = Command("icctl", "")
    icctl.places = ["|".join(c.name for c in commands)]
    for o in GLOBAL + ENDS:
        icctl.option(*o)
    out = []
    for c in [icctl, *commands, sup]:
        options = [o[0] + ("=" + o[1].rstrip(".") if o[1] else "")
                   for o in c.options]
        if c not in (icctl, sup):
            options.append("--json")
            # `start` makes a session.
            if c.name != "start":
                options.append("--session=SESSION")
        if c.command:
            options.append("--")
        out.append(f"\t{c.name})\n"
                   f"\t\tplaces=({' '.join(repr(p) for p in c.places)})"
                   f" rest={c.rest or ''}\n"
                   f"\t\toptions='{' '.join(options)}'\n\t\t;;")
    return "\n".join(out)


def zsh_quote(s):
    return "'" + s.replace("'", "'\\''") + "'"


def zsh_action(kind):
    kind = kind.rstrip(".")
    if kind[0].islower():
        return "(" + kind.replace("|", " ") + ")"
    if kind in LISTED:
        return "_ironcurtain_" + LISTED[kind]
    if kind in FILES:
        return "_files"
    return "_files -/" if kind.startswith("DIR") else ""


def zsh_specs(c):
    specs = []
    for name, kind, text, excludes in c.options:
        spec = f"({' '.join(excludes)})" if excludes else ""
        if name in ("--help", "--version"):
            spec = "(- *)"
        if kind and kind.endswith("..."):
            spec = "*"
        spec += name
        if text:
            spec += "[" + text.replace(":", "\\:") + "]"
        if kind:
            what = "value" if kind[0].islower() else kind.rstrip(".").lower()
            what = what.replace(":", "\\:")
            spec += f":{what}:{zsh_action(kind)}"
        specs.append(spec)
    for i, kind in enumerate(c.places, 1):
        what = "word" if kind[0].islower() else kind.lower()
        specs.append(f"{i}:{what}:{zsh_action(kind)}")
    if c.rest:
        specs.append(f"*:{c.rest.lower()}:{zsh_action(c.rest)}")
    return " \\\n\t\t    ".join(zsh_quote(s) for s in specs)


def zsh(commands, sup):
    out = ["_icctl_commands() {", "\tlocal -a commands", "\tcommands=("]
    out += ["\t\t" + zsh_quote(f"{c.name}:{c.help}") for c in commands]
    out += ["\t)", "\t_describe -t commands 'icctl command' commands", "}", "",
            "_ironcurtain_arguments() {", "\tcase $1 in"]
    for c in [*commands, sup]:
        specs = zsh_specs(c)
        if specs:
            behind = " -S" if c.command else ""
            tail = " $behind" if c.command else ""
            out += [f"\t{c.name})",
                    f"\t\t_arguments{behind} {specs}{tail}", "\t\t;;"]
    return "\n".join(out + ["\tesac", "}"])


def fish_quote(s):
    return "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_value(kind):
    kind = kind.rstrip(".")
    if kind[0].islower():
        return "-x -a " + fish_quote(kind.replace("|", " "))
    if kind in LISTED:
        files = "-r -F" if kind == "POLICY" else "-x"
        return f"{files} -a '(__ironcurtain_{LISTED[kind]})'"
    if kind in FILES:
        return "-r -F"
    if kind.startswith("DIR"):
        return "-x -a '(__fish_complete_directories)'"
    return "-x"


def fish_lines(program, c, condition):
    lines = []
    for name, kind, text, _ in c.options:
        form = f"-l {name[2:]}" if name[1] == "-" else f"-s {name[1:]}"
        lines.append(f"complete -c {program}{condition} {form}"
                     + (" " + fish_value(kind) if kind else "")
                     + (" -d " + fish_quote(text) if text else ""))
    for kind in c.places + ([c.rest] if c.rest else []):
        value = fish_value(kind).replace("-x -a", "-a").replace("-r -F", "-F")
        if value != "-x":
            lines.append(f"complete -c {program}{condition} {value}")
    return lines


def fish(commands, sup, program):
    if program == sup.name:
        return "\n".join([f"complete -c {program} -f"]
                         + fish_lines(program, sup, ""))
    out = [f"complete -c {program} -f"]
    for o, where in zip(GLOBAL, ("", " -n 'not __ironcurtain_is start'")):
        every = Command("icctl", "")
        every.option(*o)
        out += fish_lines(program, every, where)
    none = " -n '__ironcurtain_is none'"
    ends = Command("icctl", "")
    for o in ENDS:
        ends.option(*o)
    out += fish_lines(program, ends, none)
    for c in commands:
        out.append(f"complete -c {program}{none} -a {c.name} -d "
                   + fish_quote(c.help))
        out += fish_lines(program, c, f" -n '__ironcurtain_is {c.name}'")
    return "\n".join(out)


def main():
    shell, command_rows, option_rows, template = sys.argv[1:5]
    made = read(command_rows, option_rows)
    if shell == "fish":
        table = fish(*made, sys.argv[5])
    else:
        table = {"bash": bash, "zsh": zsh}[shell](*made)
    print(open(template).read().replace("@TABLE@\n", table + "\n"), end="")


main()
