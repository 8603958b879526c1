# SPDX-License-Identifier: ISC
"""A small reader of JSON Schemas, which shares no code with the product. An
unknown keyword is an error, and so is a member that a schema does not list:
programs ignore those, but the product must not write them."""
import functools
import json
import os

TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}
IGNORED = {"$schema", "$comment", "title", "description"}


def is_type(value, name):
    if name == "boolean":
        return isinstance(value, bool)
    if name in ("integer", "number"):
        return isinstance(value, int if name == "integer" else (int, float)) \
            and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def named(schemas, value):
    """Returns those that name this event."""
    name = value.get("event") if isinstance(value, dict) else None
    return [s for s in schemas
            if s.get("properties", {}).get("event", {}).get("const") == name]


def anyof(schemas, value):
    """Returns why none fits. Where they name an event, only that one counts."""
    tried = [matches(s, value) for s in named(schemas, value)]
    return "" if "" in tried else str(tried or "no event is named so")


def unlisted(schema, value):
    """Returns the members that neither the schema nor its alternative for this
    event lists."""
    if "properties" not in schema or not isinstance(value, dict):
        return ""
    known = set(schema["properties"])
    for s in named(schema.get("anyOf", []), value):
        known |= set(s["properties"])
    return ", ".join(f"{k} is not listed" for k in value.keys() - known)


RULES = {
    "type": lambda s, v: is_type(v, s),
    "const": lambda s, v: v == s,
    "enum": lambda s, v: v in s,
    "minLength": lambda s, v: not isinstance(v, str) or len(v) >= s,
    "maxLength": lambda s, v: not isinstance(v, str) or len(v) <= s,
    "minimum": lambda s, v: not is_type(v, "number") or v >= s,
    "required": lambda s, v: all(k in v for k in s),
}


@functools.cache
def events_schema(prefix):
    """Returns the schema of events that is installed."""
    with open(os.path.join(prefix, "share", "ironcurtain",
                           "events.schema.json"), encoding="utf-8") as f:
        return json.load(f)


def fits(schema, value):
    """Returns "", or why the value does not fit."""
    return matches(schema, value) or unlisted(schema, value)


def matches(schema, value):
    """The same, without regard to members that are not listed."""
    for key, s in schema.items():
        if key in IGNORED:
            continue
        why = ""
        if key == "properties":
            for name in s.keys() & value.keys():
                why = why or fits(s[name], value[name])
        elif key == "anyOf":
            why = anyof(s, value)
        elif not RULES[key](s, value):
            why = f"{key} {s}: {value!r}"[:300]
        if why:
            return why
    return ""
