# SPDX-License-Identifier: ISC
"""Odd definitions of tools, each beside a good one: those that take a whole
list of tools from a client that checks it, and those that make a model's
provider refuse a request. True: the tool is left out; None: nothing is odd; else
it is mended."""
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
    "icons-string": (of(icons="x"), None),
    "meta-array": (of(_meta=[]), None),
    "execution-string": (of(execution="x"), None),
    "schema-missing": ({"name": "bad"}, None),
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
    "property-empty": (schema(properties={"": {}}), True),
    "property-umlaut": (schema(properties={"gr\u00f6\u00dfe": {}}), True),
    "property-hidden": (schema(properties={"a\u200b": {}}), True),
    "property-proto": (schema(properties={"__proto__": {}}), None),
    "dialect-number": (schema(**{"$schema": 5}), False),
    "additional-string": (schema(additionalProperties="false"), True),
    "type-none": (argument({"type": []}), True),
    "type-twice": (argument({"type": ["string", "string"]}), False),
    "type-capital": (argument({"type": "String"}), False),
    "type-any": (argument({"type": "any"}), False),
    "enum-empty": (argument({"enum": []}), False),
    "enum-string": (argument({"enum": "a"}), True),
    "default-hidden": (argument({"default": "a\u202eb"}), True),
    "items-half": (argument({"minItems": 2.5}), True),
    "items-text": (argument({"maxItems": "3"}), False),
    "items-string": (argument({"items": "string"}), True),
    "multiple-zero": (argument({"multipleOf": 0}), True),
    "format-number": (argument({"format": 5}), False),
    "definitions-list": (schema(**{"$defs": [1]}), True),
    "ref-loop": (schema(properties={"a": {"$ref": "#/$defs/a"}}, **{"$defs": {
        "a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}), True),
    "ref-file": (argument({"$ref": "file:///etc/passwd"}), True),
    "ref-dynamic": (argument({"$dynamicRef": "#x"}), True),
    "ref-escaped": (schema(properties={"a": {"$ref": "#/%24defs/a"}},
                           **{"$defs": {"a": {}}}), None),
    "pattern-name": (schema(patternProperties={"(": {}}), True),
    "dependent-string": (schema(dependentRequired={"a": "b"}), False),
    "not-string": (argument({"not": "string"}), True),
    "prefix-object": (argument({"prefixItems": {}}), True),
    "allof-null": (argument({"allOf": [None]}), True),
    "required-twice": (schema(required=["a", "a"]), False),
    "required-null": (schema(required=["a", None]), True),
    "output-true": (of(outputSchema=True), False),
    "output-async": (of(outputSchema={"type": "object", "$async": True}),
                     False),
    "output-length": (of(outputSchema={"type": "object", "properties": {
        "a": {"minLength": 1.5}}}), False),
    "output-anchors": (of(outputSchema={"type": "object", "properties": {
        "a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}), False),
    **{f"output-format{x}": (of(outputSchema={"type": "object", "properties": {
        "a": {f"format{x}": "2026-01-01"}}}), False) for x in (
            "Minimum", "Maximum", "ExclusiveMinimum", "ExclusiveMaximum")},
    "output-dialect": (of(outputSchema={
        "type": "object", "$schema": "http://json-schema.org/draft-04/schema#"
    }), False),
    "anchors": (schema(properties={"a": {"$anchor": "x"},
                                   "b": {"$dynamicAnchor": "x"}}), True),
    "dialect-draft-04": (schema(**{
        "$schema": "http://json-schema.org/draft-04/schema#"}), False),
    "array-without-items": (argument({"type": "array"}), False),
    "required-unknown": (schema(properties={}, required=["b"]), False),
    "annotation-hidden": (of(annotations={"title": "a\u202e"}), False),
    "description-zero": (of(description="a\0b"), False),
    "schema-false": (of(inputSchema=False), True),
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
