# SPDX-License-Identifier: ISC
"""A second implementation of the policy engine, slow and simple, written from
the specification of the TypeScript IronCurtain's engine and from COMPATIBILITY
in ironcurtain-policy(5), not from policyd. It reads files with json and
queries the file system with lstat and readlink."""
import ipaddress
import os
import re
import stat

PATH_ROLES = ["read-path", "write-path", "delete-path", "write-history",
              "delete-history"]
URL_ROLES = ["fetch-url", "git-remote-url"]
IDENTIFIER_ROLES = ["github-owner", "github-repo", "proxy-domain"]
RESOURCE_ROLES = PATH_ROLES + URL_ROLES + IDENTIFIER_ROLES
SEVERITY = {"allow": 0, "escalate": 1, "deny": 2}


class Refused(Exception):
    """An argument that is no valid path or URL, or that git must not get."""

    def __init__(self, rule):
        super().__init__(rule)
        self.rule = rule


class Decision:
    def __init__(self, decision, rule, roles=(), by=None):
        self.decision, self.rule = decision, rule
        self.roles, self.by = set(roles), by

    def key(self):
        return (self.decision, self.rule, tuple(sorted(self.roles)))

    def __repr__(self):
        return " ".join([self.decision, self.rule, ",".join(sorted(self.roles))])


# ---- hosts and URLs ---------------------------------------------------------

class Domain:
    """The part of a URL that patterns match. kind: name, address, none,
    unknown."""

    def __init__(self, kind, host="", full=None, seen=None):
        self.kind, self.host = kind, host
        self.full = host if full is None else full
        self.seen = seen    # (kind, host) of a scheme that no rule can allow


def number(label):
    """Returns one part of an address in any base, or None."""
    s = label.lower()
    try:
        if s.startswith("0x"):
            return int(s[2:] or "0", 16) if re.fullmatch("[0-9a-f]*", s[2:]) else None
        if re.fullmatch("0[0-7]*", s):
            return int(s, 8)
        if re.fullmatch("[1-9][0-9]*", s):
            return int(s)
    except ValueError:
        pass
    return None


def read_host(text):
    """Returns (kind, normalised host), or None."""
    if text.startswith("[") and text.endswith("]"):
        try:
            if "%" in text:
                return None
            address = ipaddress.IPv6Address(text[1:-1])
        except ValueError:
            return None
        if address.ipv4_mapped is not None:
            return "address", str(address.ipv4_mapped)
        return "address", "[%s]" % address.compressed
    if text.endswith("."):
        text = text[:-1]
    text = text.lower() if text.isascii() else "\x80"
    if not re.fullmatch(r"[a-z0-9_.-]{1,253}", text) or text[0] == "-":
        return None
    labels = text.split(".")
    if any(not 1 <= len(label) <= 63 for label in labels):
        return None
    if not labels[-1].isdigit() and number(labels[-1]) is None:
        return "name", text
    numbers = [number(label) for label in labels]
    if len(numbers) > 4 or None in numbers:
        return None
    if any(n > 255 for n in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        return None
    value = numbers[-1] + sum(n * 256 ** (3 - i) for i, n in enumerate(numbers[:-1]))
    return "address", str(ipaddress.IPv4Address(value))


def check_url(text):
    if not text or len(text.encode()) > 8192 or text != text.strip(" ") or \
            re.search(r"[\x00-\x1f\x7f\\]", text):
        raise Refused("structural-invalid-url")


def split_url(rest):
    """Returns user, host, port and path of the text after scheme://."""
    path = re.split("[?#]", rest, maxsplit=1)[0]
    authority, slash, path = path.partition("/")
    user = None
    if "@" in authority:
        user, authority = authority.split("@", 1)
        if "@" in authority or not user:
            raise Refused("structural-invalid-url")
    m = re.fullmatch(r"(\[[^\]]*\]|[^\[:][^:]*|)(?::(.*))?", authority, re.S)
    if m is None:
        raise Refused("structural-invalid-url")
    port = m.group(2) or ""
    if port and not (re.fullmatch("[0-9]+", port) and 1 <= int(port) <= 65535 and
                     not (len(port) > 1 and port[0] == "0")):
        raise Refused("structural-invalid-url")
    return user, m.group(1), slash + path


def dots(path):
    """Returns a path without dot segments and without slashes at its ends."""
    out = []
    for segment in path.split("/")[1:]:
        plain = re.sub("%2e", ".", segment, flags=re.I)
        if plain == "..":
            out = out[:-1]
        elif plain != ".":
            out.append(segment)
    return "/".join(out)


def url_domain(text):
    check_url(text)
    m = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", text)
    if m is None:
        raise Refused("structural-invalid-url")
    if m.group(1).lower() not in ("http", "https", "ws", "wss"):
        rest = text[m.end():]
        if m.group(1).lower() == "ftp" and not rest.startswith("//"):
            raise Refused("structural-invalid-url")
        return Domain("none", seen=seen_host(rest))
    if not text[m.end():].startswith("//"):
        raise Refused("structural-invalid-url")
    user, host, _ = split_url(text[m.end() + 2:])
    found = read_host(host)
    if user is not None or found is None:
        raise Refused("structural-invalid-url")
    return Domain(*found)


def seen_host(rest):
    if not rest.startswith("//"):
        return None
    host = split_url(rest[2:])[1]
    if host and read_host(host) is None:
        raise Refused("structural-invalid-url")
    return read_host(host) if host else None


def repository(host, path):
    path = re.sub("^/", "", path)
    path = re.sub("/$", "", path)
    if path.endswith(".git") and path != ".git":
        path = path[:-4]
    return host if not path else host + "/" + path


def git_domain(text):
    check_url(text)
    if text.startswith("-"):
        raise Refused("structural-invalid-url")
    m = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", text)
    if m is not None:
        scheme = m.group(1).lower()
        if scheme == "file":
            return Domain("none", "", repository("", text[m.end():]),
                          seen_host("//" + text[m.end():]))
        if scheme not in ("https", "http", "ssh", "git", "git+ssh"):
            raise Refused("structural-invalid-url")
        user, host, path = split_url(text[m.end():])
        if user is not None and (scheme not in ("ssh", "git+ssh") or
                                 not re.fullmatch("[A-Za-z0-9._][A-Za-z0-9._-]*", user)):
            raise Refused("structural-invalid-url")
        found = read_host(host)
        if found is None:
            raise Refused("structural-invalid-url")
        return Domain(*found, repository(found[1], dots(path)))
    head, colon, path = text.partition(":")
    if colon and path.startswith(":"):
        raise Refused("structural-invalid-url")
    if colon and "/" not in head:
        user, at, host = head.rpartition("@") if "@" in head else ("", "", head)
        if at and (not re.fullmatch("[A-Za-z0-9._][A-Za-z0-9._-]*", user)):
            raise Refused("structural-invalid-url")
        found = read_host(host)
        if found is None or not path or path.startswith("-"):
            raise Refused("structural-invalid-url")
        return Domain(*found, repository(found[1], path))
    return Domain("unknown")


def matches(domain, pattern):
    """Returns whether the domain matches a pattern."""
    if "/" in pattern:
        head, rest = pattern.split("/", 1)
        found = read_host(head) if head else ("none", "")
        if found is None or domain.full == domain.host:
            return False
        if rest == "*" or rest.endswith("/*"):
            owner = found[1] + "/" + rest[:-1]
            parts = re.sub(r"(?i)\.git", ".git", domain.full)[len(found[1]) + 1:].split("/")
            return domain.full.startswith(owner) and \
                not set(parts) & {"", ".", "..", ".git"} and \
                not re.search(r"[%\\]", domain.full)
        return domain.full == found[1] + "/" + rest
    if domain.kind not in ("name", "address"):
        return False
    if pattern == "*":
        return domain.kind == "name" and not puny(domain.host)
    if pattern.startswith("*."):
        found = read_host(pattern[2:])
        if found is None or found[0] != "name" or domain.kind != "name":
            return False
        if domain.host == found[1]:
            return True
        return domain.host.endswith("." + found[1]) and \
            not puny(domain.host[:-len(found[1])])
    found = read_host(pattern)
    return found is not None and found[1] == domain.host


# ---- spellings for rules that ask or deny (COMPATIBILITY) -------------------

ALSO = {"ssh.github.com": "github.com", "www.github.com": "github.com",
        "altssh.gitlab.com": "gitlab.com", "www.gitlab.com": "gitlab.com",
        "altssh.bitbucket.org": "bitbucket.org", "www.bitbucket.org": "bitbucket.org"}
BLANKS = "".join(chr(i) for i in range(33)) + "\x7f"


def plain(text):
    for _ in range(8):
        text = re.sub("[A-Z]", lambda m: m.group().lower(), text)
        text = re.sub("%([0-9a-f]{2})", lambda m: chr(int(m.group(1), 16)), text)
    return re.sub("[A-Z]", lambda m: m.group().lower(), text)


def reduced(path):
    out = []
    for part in re.split(r"[/\\]", plain(path)):
        part = part.strip(BLANKS)
        if part == "..":
            out = out[:-1]
        elif part not in ("", "."):
            out.append(part)
    path = "/".join(out)
    while path.endswith(".git") and path != ".git":
        path = path[:-4].rstrip("/")
    return path


def wide_domains(d):
    """Returns (kind, text) for each meaning that the domain may have."""
    path = reduced(d.full[len(d.host):])
    found = []
    if d.kind != "none":
        found = [(d.kind, d.host)]
    elif path:
        yield "full", "/" + path
        if d.seen:
            yield "full", path
    if d.kind == "none" and d.seen:
        found, path = [d.seen], ""
    for kind, host in found:
        for h in {host, ALSO.get(host, host)}:
            yield kind, h
            if path:
                yield "full", h + "/" + path


def wide_hosts(text):
    for piece in re.split(r"[\x00- ,;<>()\"']+", plain(text)):
        piece = piece.split("://", 1)[-1]
        piece = re.split(r"[/?#\\]", piece)[0].rsplit("@", 1)[-1]
        if not piece.startswith("["):
            piece = piece.split(":")[0]
        found = read_host(piece.rstrip(".")) if piece.rstrip(".") else None
        if found:
            yield found
            yield found[0], ALSO.get(found[1], found[1])


def wide_match(spelled, pattern, denies):
    """Returns no, yes, or caps."""
    if pattern == "*":
        kinds = {kind for kind, _ in spelled}
        if "name" in kinds or (denies and "address" in kinds):
            return "yes"
        return "caps" if "address" in kinds else "no"
    if "/" in pattern:
        head, rest = pattern.split("/", 1)
        found = read_host(head) if head else ("none", "")
        if found is None:
            return "no"
        if rest == "*" or rest.endswith("/*"):
            rest = rest[:-1]
        rest = reduced(rest)
        if not rest:
            pattern = found[1]
        else:
            names = {found[1], ALSO.get(found[1], found[1])}
            return "yes" if any(
                k == "full" and (t + "/").startswith(n + "/" + rest + "/")
                for k, t in spelled for n in names) else "no"
    wild = pattern.startswith("*.")
    found = read_host(pattern[2:] if wild else pattern)
    if found is None or (wild and found[0] != "name"):
        return "no"
    names = {found[1]} if wild else {found[1], ALSO.get(found[1], found[1])}
    for kind, t in spelled:
        if kind != "full" and (t in names or (
                wild and kind == "name" and t.endswith("." + found[1]))):
            return "yes"
    return "no"


def wide_emails(text):
    for comments, glue in ((False, ""), (True, "@"), (True, "@.")):
        t = re.sub("[\x00-\x1f]", " ", re.sub(r'["\\]', "", plain(text)))
        if comments:
            out, depth = "", 0
            for c in t:
                if c in "()":
                    depth = max(0, depth + (1 if c == "(" else -1))
                elif not depth:
                    out += c
            t = out
        else:
            t = re.sub("[()]", " ", t)
        for g in glue:
            t = re.sub(" *%s *" % re.escape(g), g, t)
        for piece in re.split("[ ,;<>:]", t):
            if piece:
                yield piece.lstrip("'").rstrip("'.")


def wide_identifiers(text):
    text = plain(text)
    for part in [text] + (text.split(":") if ":" in text else []):
        part, was = reduced(part), None
        while part != was:
            was = part
            part = re.sub(r"^[+\x00- \x7f]+", "", part)
            part = re.sub("^(refs/heads/|refs/tags/|heads/|tags/)(?=.)", "", part, flags=re.S)
            part = reduced(part)
        yield part


def puny(host):
    return any(label.startswith("xn--") for label in host.split("."))


# ---- paths -------------------------------------------------------------------

class World:
    """The file system in which paths are looked up; the sandbox is
    /workspace."""

    def __init__(self, sandbox, home, protect):
        self.sandbox, self.home = sandbox, home
        self.protect = []
        for p in protect:
            place = Place(self, p)
            self.protect.append(place)


class Place:
    """A directory of a rule, or a protected one."""

    def __init__(self, world, text):
        self.path = resolve(world, text, strict=False, view=False)[0]
        self.id = identity(self.path)

    def withholds(self, path, passed):
        """Returns whether the path ends here, or passed a place here."""
        return any(self.holds(p, True) for p in [path] + passed)

    def holds(self, path, inodes):
        if below(path, self.path):
            return True
        return inodes and self.id is not None and any(
            identity(p) == self.id for p in parents(path))


def identity(path):
    try:
        s = os.lstat(path)
    except OSError:
        return None
    return s.st_dev, s.st_ino


def parents(path):
    while path not in ("", "/"):
        yield path
        path = os.path.dirname(path)


def below(path, directory):
    return directory == "/" or path == directory or \
        path.startswith(directory + "/")


def resolve(world, text, strict=True, view=True):
    """Returns (real path on the host, its lstat or None, places that it
    passed), by component: each link, and after the first one each directory
    that `..` left again."""
    if not text or len(text.encode("utf-8", "surrogatepass")) >= 4096 or "\0" in text or \
            re.match("~[^/]", text) or text[:5].lower() == "file:":
        raise Refused("structural-invalid-path")
    if text[0] == "~":
        text = world.home + text[1:]
    elif text[0] != "/":
        text = "/workspace/" + text
    todo, at, links, looked, info = text.split("/"), [], 0, 0, None
    passed = []
    while todo:
        name = todo.pop(0)
        looked += 1
        if looked > 4096 or len(name.encode()) > 255:
            raise Refused("structural-invalid-path")
        if name in ("", "."):
            continue
        if name == "..":
            left = to_host(world, at, view)
            if passed and at and lstat(left) is not None:
                note(passed, left)
            at = at[:-1]
            continue
        at.append(name)
        if view and at[0] != "workspace":
            view = False    # outside the view: on the host from here on
        real = to_host(world, at, view)
        info = lstat(real)
        if info is None:
            continue
        kernel = real.startswith(("/proc/", "/sys/")) or real in ("/proc", "/sys")
        if stat.S_ISLNK(info.st_mode) and not kernel:
            links += 1
            if links > 40:
                raise Refused("structural-invalid-path")
            note(passed, real)
            target = os.readlink(real)
            at = [] if target[0] == "/" else at[:-1]
            todo = target.split("/") + todo
        elif strict and (kernel or not (stat.S_ISDIR(info.st_mode) or
                                        stat.S_ISREG(info.st_mode))):
            raise Refused("structural-invalid-path")
    real = to_host(world, at, view)
    return real, lstat(real), passed


def note(passed, place):
    """Adds the place, unless one below it was passed before."""
    if not any(below(p, place) for p in passed):
        passed.append(place)


def to_host(world, at, view):
    if view and at and at[0] == "workspace":
        return "/".join([world.sandbox] + at[1:])
    return "/" + "/".join(at)


def lstat(path):
    try:
        return os.lstat(path)
    except OSError:
        return None


# ---- arguments ---------------------------------------------------------------

class Value:
    """One string of an argument with roles."""

    def __init__(self, roles, text, given=True):
        self.roles, self.text, self.given = roles, text, given
        self.path = self.info = self.domain = None
        self.passed = []

    def prepare(self, world):
        resource = [r for r in self.roles if r in RESOURCE_ROLES]
        first = resource[0] if resource else None
        if first in PATH_ROLES:
            self.as_path(world)
            self.text = self.path
        elif first in URL_ROLES:
            self.as_url()
        elif first in IDENTIFIER_ROLES or (
                first is None and "share-permission" in self.roles):
            self.text = re.sub("[A-Z]", lambda m: m.group().lower(), self.text)
        if self.path is None and set(self.roles) & set(PATH_ROLES):
            self.as_path(world)
        if self.domain is None and set(self.roles) & set(URL_ROLES):
            self.as_url()

    def as_path(self, world):
        self.path, self.info, self.passed = resolve(world, self.text)

    def as_url(self):
        self.domain = git_domain(self.text) if "git-remote-url" in self.roles \
            else url_domain(self.text)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)
    elif isinstance(value, dict):
        for k in sorted(value, key=lambda k: k.encode()):
            yield from strings(value[k])


def same(a, b):
    """Returns whether two JSON values are equal; true is not 1."""
    return type(a) is type(b) and a == b if isinstance(a, bool) or isinstance(b, bool) \
        else a == b


def holds(condition, arguments):
    name = condition["arg"]
    there = name in arguments
    value = arguments.get(name)
    if "equals" in condition:
        return there and same(value, condition["equals"])
    if "in" in condition:
        return there and any(same(value, v) for v in condition["in"])
    truthy = isinstance(value, (list, dict)) or bool(value)
    return {"present": value is not None, "absent": value is None,
            "truthy": truthy, "falsy": not truthy}[condition["is"]]


def roles_of(annotation, arguments):
    if isinstance(annotation, list):
        return annotation
    for w in annotation["when"]:
        if holds(w["condition"], arguments):
            return w["roles"]
    return annotation["default"]


def git_text(value):
    """Returns whether git would take the value for a path or an option."""
    for s in strings(value):
        s = s.rstrip("\n")
        if "\n" not in s and (s.startswith(("/", "-")) or s[:5].lower() == "file:"):
            return True
    return False


# ---- the engine --------------------------------------------------------------

class Engine:
    def __init__(self, world, policy, annotations, lists, gates, trusted):
        self.world, self.rules, self.lists = world, policy["rules"], lists
        self.gates, self.trusted = gates, trusted
        self.tools = {(s, t["toolName"]): t["args"]
                      for s, v in annotations["servers"].items()
                      for t in v["tools"]}
        self.places = {}

    def place(self, text):
        if text not in self.places:
            self.places[text] = Place(self.world, text)
        return self.places[text]

    def evaluate(self, request):
        server, tool = request["serverName"], request["toolName"]
        arguments = request["arguments"]
        if server in self.trusted:
            return Decision("allow", "trusted-server")
        args = self.tools.get((server, tool))
        if args is None:
            return Decision("deny", "structural-unknown-tool")
        roles = {name: roles_of(a, arguments) for name, a in args.items()}
        try:
            values = self.prepare(server, arguments, roles)
        except Refused as e:
            return Decision("deny", e.rule)
        d = self.structure(server, tool, arguments, values)
        if d is None or d.rule == "structural-domain-escalate":
            ruled = self.compiled(server, tool, roles, values)
            if d is None or (ruled.decision == "deny" and ruled.by is not None):
                d = ruled
        if d.decision == "allow" and d.rule != "structural-introspection-allow":
            d = caution(d, values)
        return d

    def prepare(self, server, arguments, roles):
        if server == "git":
            for name in arguments:
                if set(roles.get(name, [])) <= {"none", "branch-name"} and \
                        git_text(self.relative(name, arguments)):
                    raise Refused("structural-git-argument")
        values = []
        for name, rs in roles.items():
            if not set(rs) - {"none"}:
                continue
            value = arguments.get(name)
            if server == "git" and "git-remote-url" in rs and value in (None, ""):
                v = Value(["git-remote-url"], "", given=False)
                v.domain = Domain("unknown")
                values.append(v)
            else:
                values += [Value(rs, s) for s in strings(value)]
        for v in values:
            if v.given:
                v.prepare(self.world)
        return values

    def relative(self, name, arguments):
        """Rewrites files below git's working directory to relative names."""
        base = arguments.get("path")
        if name not in ("files", "paths") or not isinstance(base, str) or \
                not base.startswith("/") or not base.strip("/"):
            return arguments[name]
        base = base.rstrip("/")

        def walk(v):
            if isinstance(v, str):
                return v[len(base) + 1:] if len(v) > len(base) + 1 and \
                    v.startswith(base + "/") else "." if v == base else v
            if isinstance(v, list):
                return [walk(x) for x in v]
            return {k: walk(x) for k, x in v.items()} if isinstance(v, dict) else v
        return walk(arguments[name])

    def structure(self, server, tool, arguments, values):
        for v in values:
            if v.path is not None and any(
                    p.withholds(v.path, v.passed) for p in self.world.protect):
                return Decision("deny", "structural-protected-path")
        if (server, tool) == ("filesystem", "list_allowed_directories") and not arguments:
            return Decision("allow", "structural-introspection-allow")
        gate = self.gates.get(server)
        for v in values:
            if gate and v.domain is not None and v.given and not any(
                    matches(v.domain, p) for p in gate):
                return Decision("escalate", "structural-domain-escalate",
                                [next(r for r in v.roles if r in URL_ROLES)])
        return None

    def inside(self, v):
        return below(v.path, self.world.sandbox)

    def compiled(self, server, tool, roles, values):
        order = []
        for rs in roles.values():
            order += [r for r in rs if r in RESOURCE_ROLES and r not in order]
        call = Call(self, server, tool, {r for rs in roles.values() for r in rs}, values)
        if not order:
            return call.scan(None)
        left = [r for r in order if not self.resolved(server, r, values, call)]
        if not left:
            return Decision("allow", "structural-sandbox-allow")
        worst, escalated, domains = None, set(), set()
        for r in left:
            d = call.role(r)
            if d.decision == "deny":
                return d
            if d.decision == "escalate":
                escalated.add(r)
            if d.by is not None and "domains" in d.by["if"]:
                domains.add(r)
            if worst is None or SEVERITY[d.decision] > SEVERITY[worst.decision]:
                worst = d
        worst.roles = escalated
        worst.domains = domains
        return worst

    def resolved(self, server, role, values, call):
        if server not in ("filesystem", "git") or role not in PATH_ROLES:
            return False
        paths = [v for v in values if role in v.roles and v.path is not None]
        return bool(paths) and all(
            self.inside(v) and not call.withheld(v, role) for v in paths)


def caution(d, values):
    """Escalates an allowed call that touches more than the names that were
    judged."""
    for v in values:
        if "write-path" in v.roles and v.path is not None and v.info is not None and \
                stat.S_ISREG(v.info.st_mode) and v.info.st_nlink > 1:
            return Decision("escalate", "structural-hard-link", ["write-path"])
        if v.domain is None:
            continue
        role = next(r for r in v.roles if r in URL_ROLES)
        if v.domain.kind == "unknown":
            return Decision("escalate", "structural-unknown-remote", ["git-remote-url"])
        if v.domain.kind == "none" and not set(v.roles) & getattr(d, "domains", set()):
            return Decision("escalate", "structural-url-scheme", [role])
    return d


class Call:
    """One call against the rules."""

    def __init__(self, engine, server, tool, roles, values):
        self.engine, self.server, self.tool = engine, server, tool
        self.roles, self.values = roles, values

    def about(self, rule):
        c = rule["if"]
        return ("server" not in c or self.server in c["server"]) and \
            ("tool" not in c or self.tool in c["tool"]) and \
            ("roles" not in c or bool(set(c["roles"]) & self.roles))

    @staticmethod
    def relevant(rule, role):
        c = rule["if"]
        for named in ([c.get("roles")] + [c[k]["roles"] for k in ("paths", "domains")
                                          if k in c]):
            if named is not None and role not in named:
                return False
        named = {r for x in c.get("lists", []) for r in x["roles"]}
        return not named or role in named or (
            rule["then"] != "allow" and not named & set(RESOURCE_ROLES))

    def with_roles(self, roles):
        return [v for v in self.values if set(v.roles) & set(roles)]

    def expand(self, allowed):
        out = []
        for a in allowed:
            if not a.startswith("@"):
                out.append(a)
                continue
            x = self.engine.lists.get(a[1:], {"values": []})
            out += [v for v in x["values"] + x.get("manualAdditions", [])
                    if v not in x.get("manualRemovals", [])]
        return out

    def wide(self, values, allowed, kind, denies):
        """For rules that ask or deny: returns no, yes, unknown or caps."""
        answers = {"no"}
        for v in values:
            if kind == "domains":
                if v.domain is not None and v.domain.kind == "unknown":
                    answers.add("unknown")
                    continue
                spelled = list(wide_domains(v.domain) if v.domain is not None
                               else wide_hosts(v.text))
                answers |= {wide_match(spelled, p, denies) for p in allowed}
                continue
            spell = wide_emails if kind == "emails" else wide_identifiers
            entries = [next(iter(spell(a)), None) for a in allowed]
            if v.given and set(spell(v.text)) & set(entries):
                answers.add("yes")
        return next(a for a in ("yes", "unknown", "caps", "no") if a in answers)

    def match_domains(self, values, allowed):
        """Returns no, yes, or unknown."""
        answer = "no"
        for v in values:
            d = v.domain
            if d is None:
                found = read_host(v.text)
                d = Domain(*found) if found else Domain("none")
            if d.kind == "unknown":
                answer = "unknown"
            elif not any(matches(d, p) for p in allowed):
                return "no"
            elif answer != "unknown":
                answer = "yes"
        return answer

    def sets(self, rule, role):
        """Matches domains and lists of the rule: returns no, yes, or
        unknown."""
        answers = []
        c = rule["if"]
        if rule["then"] != "allow":
            return self.wide_sets(rule, role)
        if "domains" in c:
            values = self.with_roles([role] if role else c["domains"]["roles"])
            answers.append(self.match_domains(values, self.expand(c["domains"]["allowed"])))
        for x in c.get("lists", []):
            values = self.with_roles([role] if role in x["roles"] else x["roles"])
            allowed = self.expand(x["allowed"])
            if x["matchType"] == "domains":
                answers.append(self.match_domains(values, allowed))
                continue
            low = (lambda s: re.sub("[A-Z]", lambda m: m.group().lower(), s)) \
                if x["matchType"] == "emails" else (lambda s: s)
            good = bool(values) and all(
                v.given and low(v.text) in [low(a) for a in allowed] for v in values)
            answers.append("yes" if good else "no")
        return "no" if "no" in answers else \
            "unknown" if "unknown" in answers else "yes"

    def wide_sets(self, rule, role):
        c, answers = rule["if"], []
        denies = rule["then"] == "deny"
        if "domains" in c:
            values = self.with_roles([role] if role else c["domains"]["roles"])
            answers.append(self.wide(values, self.expand(c["domains"]["allowed"]),
                                     "domains", denies))
        for x in c.get("lists", []):
            values = self.with_roles([role] if role in x["roles"] else x["roles"])
            answers.append(self.wide(values, self.expand(x["allowed"]),
                                     x["matchType"], denies))
        if "no" in answers:
            return "no"
        answer = next((a for a in answers if a != "yes"), "yes")
        if "unknown" in answers:
            answer = "unknown"
        named = {r for x in c.get("lists", []) for r in x["roles"]}
        if answer == "yes" and role and not denies and named and role not in named and \
                not set(c) & {"roles", "paths", "domains"}:
            return "caps"
        return answer

    def within(self, v, rule):
        paths = rule["if"]["paths"]
        place = self.engine.place(paths["within"])
        if rule["then"] != "allow":
            return place.withholds(v.path, v.passed)
        return place.holds(v.path, False) and ("links" not in paths or all(
            any(below(p, x) for x in paths["links"]) for p in v.passed))

    def withheld(self, v, role):
        """Returns whether a rule takes a path of the sandbox because of a
        place outside that it passed."""
        outside = [p for p in v.passed if not below(p, self.engine.world.sandbox)]
        for rule in self.engine.rules if v.passed else []:
            if not self.relevant(rule, role) or not self.about(rule):
                continue
            paths, answer = rule["if"].get("paths"), self.sets(rule, role)
            if rule["then"] == "allow":
                if answer == "yes" and (paths is None or self.within(v, rule)):
                    return False
            elif paths is not None and answer != "no" and any(
                    self.engine.place(paths["within"]).holds(p, True) for p in outside):
                return True
        return False

    def by(self, rule, role, answer):
        if answer == "unknown" and rule["then"] != "escalate":
            return Decision("escalate", "structural-unknown-remote", [role] if role else [])
        roles = [role] if role and rule["then"] == "escalate" else []
        return Decision(rule["then"], rule["name"], roles, rule)

    def scan(self, role):
        """Returns the decision of the first rule that matches all values."""
        cap, d = None, Decision("deny", "default-deny")
        for rule in self.engine.rules:
            if not self.about(rule) or (role and not self.relevant(rule, role)):
                continue
            if "paths" in rule["if"]:
                values = [v for v in self.with_roles(
                    [role] if role else rule["if"]["paths"]["roles"])
                          if v.path is not None]
                if not values or not all(self.within(v, rule) for v in values):
                    continue
            answer = self.sets(rule, role)
            if answer == "caps" or (answer == "unknown" and rule["then"] == "deny"):
                cap = cap or self.by(rule, role, answer)
            elif answer != "no":
                d = self.by(rule, role, answer)
                break
        return cap if cap and d.decision != "deny" else d

    def role(self, role):
        paths = [v for v in self.with_roles([role])
                 if v.path is not None and role in PATH_ROLES]
        if not paths:
            return self.scan(role)
        best, placeholder, cap = None, False, None
        if self.server == "filesystem":
            left = [v for v in paths
                    if not self.engine.inside(v) or self.withheld(v, role)]
            if len(left) < len(paths):
                best, placeholder = Decision("allow", "structural-sandbox-allow"), True
            paths = left
        for rule in self.engine.rules:
            if not paths:
                break
            if not self.relevant(rule, role) or not self.about(rule):
                continue
            answer = self.sets(rule, role)
            if answer == "unknown" and rule["then"] == "deny":
                answer = "yes"
            if answer == "caps":
                cap = cap or self.by(rule, role, answer)
                continue
            taken = [v for v in paths if "paths" not in rule["if"] or
                     self.within(v, rule)]
            if answer == "no" or not taken:
                continue
            paths = [v for v in paths if v not in taken]
            d = self.by(rule, role, answer)
            if best is None or SEVERITY[d.decision] > SEVERITY[best.decision] or \
                    (placeholder and d.decision == best.decision):
                best, placeholder = d, False
        if paths or best is None:
            return Decision("deny", "default-deny")
        if cap and SEVERITY[cap.decision] > SEVERITY[best.decision]:
            return cap
        return best
