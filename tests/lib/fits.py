# SPDX-License-Identifier: ISC
"""A small reader of JSON Schemas, which shares no code with the product. An
unknown keyword is an error."""

TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}
IGNORED = {"$schema", "$comment", "title", "description"}


def is_type(value, name):
    if name == "boolean":
        return isinstance(value, bool)
    if name in ("integer", "number"):
        return isinstance(value, int if name == "integer" else (int, float)) \
            and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def anyof(schemas, value):
    """Returns why none fits. Where they name an event, only that one counts."""
    name = value.get("event") if isinstance(value, dict) else None
    mine = [s for s in schemas
            if s.get("properties", {}).get("event", {}).get("const") == name]
    tried = [fits(s, value) for s in mine]
    return "" if "" in tried else str(tried or f"no event is named {name}")


RULES = {
    "type": lambda s, v: is_type(v, s),
    "const": lambda s, v: v == s,
    "enum": lambda s, v: v in s,
    "minLength": lambda s, v: not isinstance(v, str) or len(v) >= s,
    "maxLength": lambda s, v: not isinstance(v, str) or len(v) <= s,
    "minimum": lambda s, v: not is_type(v, "number") or v >= s,
    "required": lambda s, v: all(k in v for k in s),
}


def fits(schema, value):
    """Returns "", or why the value does not fit."""
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
