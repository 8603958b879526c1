# SPDX-License-Identifier: ISC
"""Odd definitions of tools, each beside a good one: those that take a whole
list of tools from a client that checks it, and those that make a model's
provider refuse a request. True: the tool is left out; else it is mended."""
import json

GOOD = {"name": "good", "description": "d",
        "inputSchema": {"type": "object", "properties": {}}}


def of(**members):
    return {"name": "bad", "description": "d",
            "inputSchema": {"type": "object", "properties": {}}, **members}


def schema(**keywords):
    return of(inputSchema={"type": "object", **keywords})


def argument(value):
    return schema(properties={"a": value})


# The first four are those that were reported.
SHAPES = {
    "properties-array": (schema(properties=[]), False),
    "output-array": (of(outputSchema={"type": "array", "items": {}}), False),
    "annotation-null": (of(annotations={"readOnlyHint": "true",
                                        "title": None}), False),
    "root-anyof": (of(inputSchema={"anyOf": [{"type": "object"}]}), False),
    "hint-yes": (of(annotations={"readOnlyHint": "yes"}), False),
    "annotations-array": (of(annotations=[]), False),
    "annotations-null": (of(annotations=None), False),
    "annotations-string": (of(annotations="none"), False),
    "description-number": (of(description=7), False),
    "description-null": (of(description=None), False),
    "title-object": (of(title={}), False),
    "icons-string": (of(icons="x"), False),
    "meta-array": (of(_meta=[]), False),
    "execution-string": (of(execution="x"), False),
    "schema-missing": ({"name": "bad"}, False),
    "schema-null": (of(inputSchema=None), False),
    "schema-array": (of(inputSchema=[]), False),
    "schema-true": (of(inputSchema=True), False),
    "schema-string": (of(inputSchema="object"), True),
    "schema-of-array": (of(inputSchema={"type": "array"}), True),
    "type-missing": (of(inputSchema={"properties": {}}), False),
    "type-list": (of(inputSchema={"type": ["object"]}), False),
    "type-number": (of(inputSchema={"type": 5}), True),
    "properties-null": (schema(properties=None), False),
    "properties-names": (schema(properties=["a"]), True),
    "property-true": (argument(True), False),
    "property-null": (argument(None), False),
    "property-string": (argument("string"), True),
    "property-name": (schema(properties={"$filter": {}}), True),
    "property-long": (schema(properties={"n" * 65: {}}), True),
    "required-string": (schema(required="a"), False),
    "required-object": (schema(required={}), False),
    "required-numbers": (schema(required=[1]), True),
    "required-true": (argument({"required": True}), False),
    "type-unknown": (argument({"type": "str"}), True),
    "enum-object": (argument({"enum": {"0": "a"}}), True),
    "items-array": (argument({"items": [{"type": "string"}]}), False),
    "anyof-strings": (argument({"anyOf": ["string"]}), True),
    "exclusive-true": (argument({"minimum": 1, "exclusiveMinimum": True}),
                       False),
    "minimum-object": (argument({"minimum": {}}), True),
    "length-negative": (argument({"maxLength": -1}), True),
    "pattern-open": (argument({"pattern": "("}), True),
    "pattern-inline": (argument({"pattern": "(?i)a"}), True),
    "ref-remote": (argument({"$ref": "https://example.com/a.json"}), True),
    "ref-nothing": (argument({"$ref": "#/$defs/none"}), True),
    "ref-root": (of(inputSchema={"$ref": "#/$defs/T", "$defs": {
        "T": {"type": "object"}}}), False),
    "oneof-root": (schema(oneOf=[{"required": ["a"]}, {"required": ["b"]}]),
                   False),
    "output-pattern": (of(outputSchema={"type": "object", "properties": {
        "a": {"pattern": "[\\w-.]"}}}), False),
    "output-id": (of(outputSchema={"type": "object", "id": "x"}), False),
    "output-ref": (of(outputSchema={"type": "object", "properties": {
        "a": {"$ref": "#/$defs/none"}}}), False),
    "output-null": (of(outputSchema=None), False),
    "output-required": (of(outputSchema={"type": "object",
                                         "required": "a"}), False),
    "name-missing": ({"inputSchema": {"type": "object"}}, True),
    "name-number": (of(name=7), True),
    "name-blank": (of(name="a b"), True),
    "name-long": (of(name="n" * 129), True),
    "tool-string": ("bad", True),
    "tool-null": (None, True),
}

# Texts that json.dumps() does not write.
RAW = {
    "member-twice": '{"name":"bad","title":"a","title":"b"}',
    "number-infinite": '{"name":"bad","inputSchema":{"type":"object",'
                       '"maxProperties":1e400}}',
    "too-deep": '{"name":"bad","inputSchema":' + '{"not":' * 100 + "{}" +
                "}" * 100 + "}",
    "too-long": '{"name":"bad","description":"' + "x" * 200000 + '"}',
    "lone-surrogate": '{"name":"bad","description":"\\ud800"}',
}


def pages(*names):
    """Returns the file for mcp_list.py with these shapes, and a good tool."""
    tools = []
    for i, name in enumerate(names):
        shape = SHAPES[name][0] if name in SHAPES else None
        text = RAW.get(name) or json.dumps(shape)
        if len(names) > 1:
            text = text.replace('"name": "bad"', f'"name": "bad{i}"')
            text = text.replace('"name":"bad"', f'"name":"bad{i}"')
        tools.append(text)
    return {"pages": ["[" + ",".join([*tools, json.dumps(GOOD)]) + "]"]}
