/* SPDX-License-Identifier: ISC */
/*
 * Definitions of tools, the object without its braces, and what the agent gets;
 * or, without a brace, why it gets nothing.  Only test_define.c includes this.
 */
/* clang-format off */
static const struct define_row {
	const char *what, *def, *want;
} rows[] = {
	{"nothing but a name",
	    "",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"an honest definition",
	    "\"description\":\"Reads.\",\"inputSchema\":{\"type\":\"object"
	    "\",\"properties\":{\"path\":{\"type\":\"string\",\"description"
	    "\":\"Where\"}},\"required\":[\"path\"],\"additionalProperties"
	    "\":false},\"annotations\":{\"readOnlyHint\":true,\"title\":\"R"
	    "ead\"},\"outputSchema\":{\"type\":\"object\",\"properties\":{"
	    "\"n\":{\"type\":\"integer\"}}},\"title\":\"T\"",
	    "{\"name\":\"t\",\"annotations\":{\"readOnlyHint\":true,\"title"
	    "\":\"Read\"},\"description\":\"Reads.\",\"title\":\"T\",\"inpu"
	    "tSchema\":{\"additionalProperties\":false,\"properties\":{\"pa"
	    "th\":{\"description\":\"Where\",\"type\":\"string\"}},\"requir"
	    "ed\":[\"path\"],\"type\":\"object\"},\"outputSchema\":{\"prope"
	    "rties\":{\"n\":{\"type\":\"integer\"}},\"type\":\"object\"}}"},
	{"members that are not MCP's",
	    "\"inputSchema\":{\"type\":\"object\"},\"icons\":[{\"src\":\"ht"
	    "tp://x\"}],\"_meta\":{\"a\":1},\"execution\":{\"taskSupport\":"
	    "\"required\"},\"x\":1",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"inputSchema null",
	    "\"inputSchema\":null",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"inputSchema []",
	    "\"inputSchema\":[]",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"inputSchema true",
	    "\"inputSchema\":true",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"inputSchema a number",
	    "\"inputSchema\":7",
	    "inputSchema: is a number, not an object"},
	{"inputSchema false",
	    "\"inputSchema\":false",
	    "inputSchema: is a boolean, not an object"},
	{"inputSchema a string",
	    "\"inputSchema\":\"object\"",
	    "inputSchema: is a string, not an object"},
	{"type missing",
	    "\"inputSchema\":{\"properties\":{\"a\":{}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"type a list",
	    "\"inputSchema\":{\"type\":[\"object\",\"null\"]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"type in capitals",
	    "\"inputSchema\":{\"type\":\"OBJECT\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"type string at the root",
	    "\"inputSchema\":{\"type\":\"string\"}",
	    "inputSchema: its type is not \"object\""},
	{"type of the root a number",
	    "\"inputSchema\":{\"type\":1}",
	    "inputSchema: its type is not \"object\""},
	{"properties []",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":[]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{},\"type\":\""
	    "object\"}}"},
	{"properties null",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":null}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"properties a list",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":[\"a\"]}",
	    "inputSchema/properties: is an array, not an object"},
	{"properties a string",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":\"a\"}",
	    "inputSchema/properties: is a string, not an object"},
	{"required []",
	    "\"inputSchema\":{\"type\":\"object\",\"required\":[]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"required\":[],\"type\":\"ob"
	    "ject\"}}"},
	{"required {}",
	    "\"inputSchema\":{\"type\":\"object\",\"required\":{}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"required null",
	    "\"inputSchema\":{\"type\":\"object\",\"required\":null}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"required a string",
	    "\"inputSchema\":{\"type\":\"object\",\"required\":\"a\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},"
	    "\"required\":[\"a\"],\"type\":\"object\"}}"},
	{"required twice",
	    "\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\",\"a\""
	    "]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},"
	    "\"required\":[\"a\"],\"type\":\"object\"}}"},
	{"required numbers",
	    "\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\",1]}",
	    "inputSchema/required: has a number among its names"},
	{"required true inside",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"string\",\"required\":true}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"type"
	    "\":\"string\"}},\"type\":\"object\"}}"},
	{"a property true",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":tru"
	    "e}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"a property false",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":fal"
	    "se}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"not"
	    "\":{}}},\"type\":\"object\"}}"},
	{"a property null",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":nul"
	    "l}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"a property []",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":[]}"
	    "}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"a property a string",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":\"s"
	    "tring\"}}",
	    "inputSchema/properties/a: is a string, not a schema"},
	{"description a number",
	    "\"description\":7",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"title null",
	    "\"title\":null",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"annotations null",
	    "\"annotations\":null",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"annotations a list",
	    "\"annotations\":[]",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"hints of other types",
	    "\"annotations\":{\"readOnlyHint\":\"yes\",\"destructiveHint\":"
	    "1,\"idempotentHint\":null,\"openWorldHint\":true,\"title\":nul"
	    "l,\"own\":\"x\"}",
	    "{\"name\":\"t\",\"annotations\":{\"openWorldHint\":true,\"own"
	    "\":\"x\"},\"inputSchema\":{\"type\":\"object\"}}"},
	{"outputSchema of an array",
	    "\"outputSchema\":{\"type\":\"array\",\"items\":{\"type\":\"str"
	    "ing\"}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"outputSchema null",
	    "\"outputSchema\":null",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"outputSchema without a type",
	    "\"outputSchema\":{\"properties\":{}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"outputSchema whose pattern does not compile",
	    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{"
	    "\"pattern\":\"[\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"outputSchema with ids",
	    "\"outputSchema\":{\"type\":\"object\",\"$id\":\"x\",\"id\":\"y"
	    "\",\"properties\":{\"a\":{\"$id\":\"z\",\"nullable\":true,\"x-"
	    "a\":true,\"x-b\":{}}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"},\"output"
	    "Schema\":{\"properties\":{\"a\":{\"x-a\":true,\"x-b\":{}}},\"t"
	    "ype\":\"object\"}}"},
	{"outputSchema with a tuple",
	    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{"
	    "\"items\":[{}]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"outputSchema: properties []",
	    "\"outputSchema\":{\"type\":\"object\",\"properties\":[]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"},\"output"
	    "Schema\":{\"properties\":{},\"type\":\"object\"}}"},
	{"anyOf of one",
	    "\"inputSchema\":{\"anyOf\":[{\"type\":\"object\",\"properties"
	    "\":{\"a\":{}},\"required\":[\"a\"]}]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"r"
	    "equired\":[\"a\"],\"type\":\"object\"}}"},
	{"oneOf with a discriminator",
	    "\"inputSchema\":{\"oneOf\":[{\"type\":\"object\",\"properties"
	    "\":{\"k\":{\"const\":\"x\"},\"a\":{}},\"required\":[\"k\",\"a"
	    "\"]},{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"y"
	    "\"}},\"required\":[\"k\"]}]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{},\"k"
	    "\":{\"anyOf\":[{\"const\":\"x\"},{\"const\":\"y\"}]}},\"requir"
	    "ed\":[\"k\"],\"type\":\"object\"}}"},
	{"anyOf of what is required",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{},"
	    "\"b\":{}},\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b"
	    "\"]}]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{},\"b"
	    "\":{}},\"type\":\"object\"}}"},
	{"allOf",
	    "\"inputSchema\":{\"type\":\"object\",\"allOf\":[{\"properties"
	    "\":{\"a\":{}},\"required\":[\"a\"]},{\"$ref\":\"#/$defs/B\"}],"
	    "\"$defs\":{\"B\":{\"properties\":{\"b\":{}}}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"$defs\":{\"B\":{\"propertie"
	    "s\":{\"b\":{}}}},\"properties\":{\"a\":{},\"b\":{}},\"required"
	    "\":[\"a\"],\"type\":\"object\"}}"},
	{"anyOf with null",
	    "\"inputSchema\":{\"anyOf\":[{\"type\":\"object\",\"properties"
	    "\":{\"a\":{}}},{\"type\":\"null\"}]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"anyOf that is no list",
	    "\"inputSchema\":{\"type\":\"object\",\"anyOf\":{\"a\":1}}",
	    "inputSchema/anyOf: is no list"},
	{"a reference at the root",
	    "\"inputSchema\":{\"$ref\":\"#/definitions/T\",\"definitions\":"
	    "{\"T\":{\"type\":\"object\",\"properties\":{\"a\":{}}}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"definitions\":{\"T\":{\"pro"
	    "perties\":{\"a\":{}},\"type\":\"object\"}},\"properties\":{\"a"
	    "\":{}},\"type\":\"object\"}}"},
	{"a reference at the root to itself",
	    "\"inputSchema\":{\"$ref\":\"#\"}",
	    "inputSchema: refers to itself"},
	{"not at the root",
	    "\"inputSchema\":{\"type\":\"object\",\"not\":{}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"enum at the root",
	    "\"inputSchema\":{\"type\":\"object\",\"enum\":[{}]}",
	    "inputSchema: is a list of constants, which model providers ref"
	    "use"},
	{"a name that providers refuse",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"$filter"
	    "\":{}}}",
	    "inputSchema/$filter: model providers take arguments with names"
	    " of 1 to 64 letters, digits, _, - and ."},
	{"a name of 65 letters",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"nnnnnnn"
	    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\":{"
	    "}}}",
	    "inputSchema/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...: model"
	    " providers take arguments with names of 1 to 64 letters, digit"
	    "s, _, - and ."},
	{"an empty name",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"\":{}}}",
	    "inputSchema/: model providers take arguments with names of 1 t"
	    "o 64 letters, digits, _, - and ."},
	{"another name deeper",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"object\",\"properties\":{\"$filter\":{}}}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"prop"
	    "erties\":{\"$filter\":{}},\"type\":\"object\"}},\"type\":\"obj"
	    "ect\"}}"},
	{"no such type",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"str\"}}}",
	    "inputSchema/properties/a/type: is \"str\", which is no type of"
	    " JSON"},
	{"type any",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"any\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"type in capitals inside",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":[\"STRING\",\"string\",\"null\"]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"type"
	    "\":[\"string\",\"null\"]}},\"type\":\"object\"}}"},
	{"type an empty list",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":[]}}}",
	    "inputSchema/properties/a/type: is an empty list"},
	{"enum empty",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "enum\":[]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"enum an object",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "enum\":{\"0\":\"a\"}}}}",
	    "inputSchema/properties/a/enum: is an object, not a list"},
	{"const null",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "const\":null}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"cons"
	    "t\":null}},\"type\":\"object\"}}"},
	{"default null",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "default\":null}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"defa"
	    "ult\":null}},\"type\":\"object\"}}"},
	{"keywords that are null",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"string\",\"enum\":null,\"items\":null,\"format\":null"
	    ",\"description\":null,\"minimum\":null}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"type"
	    "\":\"string\"}},\"type\":\"object\"}}"},
	{"limits as strings",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "minimum\":\"1\",\"maxLength\":\"5\",\"uniqueItems\":\"true\"}}"
	    "}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"maxL"
	    "ength\":5,\"minimum\":1,\"uniqueItems\":true}},\"type\":\"obje"
	    "ct\"}}"},
	{"minimum an object",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "minimum\":{}}}}",
	    "inputSchema/properties/a/minimum: is an object, not a number"},
	{"maxLength negative",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "maxLength\":-1}}}",
	    "inputSchema/properties/a/maxLength: is not a plain count"},
	{"maxLength 5.0",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "maxLength\":5.0}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"maxL"
	    "ength\":5.0}},\"type\":\"object\"}}"},
	{"maxLength 1.5",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "maxLength\":1.5}}}",
	    "inputSchema/properties/a/maxLength: is not a whole number"},
	{"multipleOf 0",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "multipleOf\":0}}}",
	    "inputSchema/properties/a/multipleOf: is not greater than 0"},
	{"draft 4's exclusive limits",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "minimum\":0,\"exclusiveMinimum\":true,\"maximum\":9,\"exclusiv"
	    "eMaximum\":false}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"excl"
	    "usiveMinimum\":0,\"maximum\":9,\"minimum\":0}},\"type\":\"obje"
	    "ct\"}}"},
	{"draft 7's tuple",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "items\":[{\"type\":\"string\"},{}],\"additionalItems\":false}}"
	    "}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"item"
	    "s\":false,\"prefixItems\":[{\"type\":\"string\"},{}]}},\"type"
	    "\":\"object\"}}"},
	{"items []",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "items\":[]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"item"
	    "s\":{}}},\"type\":\"object\"}}"},
	{"items a string",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "items\":\"string\"}}}",
	    "inputSchema/properties/a/items: is a string, not a schema"},
	{"anyOf empty",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "anyOf\":[]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"anyOf of strings",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "anyOf\":[\"string\"]}}}",
	    "inputSchema/properties/a/anyOf: is a string, not a schema"},
	{"anyOf with null inside",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "anyOf\":[null,{}]}}}",
	    "inputSchema/properties/a/anyOf: has null among its schemas"},
	{"format a number",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "format\":1}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"deprecated a string",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "deprecated\":\"yes\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"examples a string",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "examples\":\"x\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{}},\"t"
	    "ype\":\"object\"}}"},
	{"a pattern that does not compile",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "pattern\":\"(a\"}}}",
	    "inputSchema/properties/a/pattern: the pattern has ( without )"},
	{"a pattern of another language",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "pattern\":\"(?i)a\"}}}",
	    "inputSchema/properties/a/pattern: the pattern has a group that"
	    " is not of ECMA-262, such as (?i) or (?P<name>)"},
	{"a pattern with an escape too many",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "pattern\":\"^[\\\\w\\\\-.]+\\\\-$\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"patt"
	    "ern\":\"^[\\\\w\\\\-.]+\\\\-$\"}},\"type\":\"object\"}}"},
	{"pattern a number",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "pattern\":1}}}",
	    "inputSchema/properties/a/pattern: is a number, not a string"},
	{"patternProperties that do not compile",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "patternProperties\":{\"*\":{}}}}}",
	    "inputSchema/properties/a/patternProperties/*: the pattern repe"
	    "ats nothing"},
	{"patternProperties []",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "patternProperties\":[]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"patt"
	    "ernProperties\":{}}},\"type\":\"object\"}}"},
	{"a remote reference",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "$ref\":\"https://example.com/s.json\"}}}",
	    "inputSchema/properties/a/$ref: refers to another document: htt"
	    "ps://example.com/s.json"},
	{"a relative reference",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "$ref\":\"other.json#/a\"}}}",
	    "inputSchema/properties/a/$ref: refers to another document: oth"
	    "er.json#/a"},
	{"a reference to nothing",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "$ref\":\"#/$defs/none\"}}}",
	    "inputSchema/properties/a/$ref: refers to a part that the schem"
	    "a does not have: #/$defs/none"},
	{"a reference that is a number",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "$ref\":1}}}",
	    "inputSchema/properties/a/$ref: is a number, not a string"},
	{"references",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "$ref\":\"#/$defs/x~1y%20z\"},\"b\":{\"$ref\":\"#n\"}},\"$defs"
	    "\":{\"x/y z\":{},\"q\":{\"$anchor\":\"n\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"$defs\":{\"q\":{\"$anchor\""
	    ":\"n\"},\"x/y z\":{}},\"properties\":{\"a\":{\"$ref\":\"#/$def"
	    "s/x~1y%20z\"},\"b\":{\"$ref\":\"#n\"}},\"type\":\"object\"}}"},
	{"references in a ring",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b"
	    "\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
	    "inputSchema/$defs/a/$ref: refers to itself"},
	{"a tree of itself",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "$ref\":\"#\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"$ref"
	    "\":\"#\"}},\"type\":\"object\"}}"},
	{"dependentRequired",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "dependentRequired\":{\"a\":\"b\",\"c\":[]},\"dependencies\":{"
	    "\"a\":[\"b\"],\"c\":true}}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"depe"
	    "ndencies\":{\"a\":[\"b\"],\"c\":{}},\"dependentRequired\":{\"a"
	    "\":[\"b\"],\"c\":[]}}},\"type\":\"object\"}}"},
	{"keywords that nobody knows",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "x-a\":{\"b\":[1]},\"nullable\":true,\"example\":\"x\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"exam"
	    "ple\":\"x\",\"nullable\":true,\"x-a\":{\"b\":[1]}}},\"type\":"
	    "\"object\"}}"},
	{"hidden characters in texts",
	    "\"description\":\"a\\udb40\\udc41b\\u200bc\\u202ed\\u001b[2J\""
	    ",\"title\":\"t\\ufeff\",\"annotations\":{\"title\":\"x\\u200b"
	    "\"},\"inputSchema\":{\"type\":\"object\",\"description\":\"s\\"
	    "u2066\",\"properties\":{\"a\":{\"title\":\"\\u00ad\",\"example"
	    "s\":[\"e\\u200b\"],\"x-note\":\"n\\u200b\"}}}",
	    "{\"name\":\"t\",\"annotations\":{\"title\":\"x\\\\u{200b}\"},"
	    "\"description\":\"a\\\\u{e0041}b\\\\u{200b}c\\\\u{202e}d\\\\x1"
	    "b[2J\",\"title\":\"t\\\\u{feff}\",\"inputSchema\":{\"descripti"
	    "on\":\"s\\\\u{2066}\",\"properties\":{\"a\":{\"examples\":[\"e"
	    "\\\\u{200b}\"],\"title\":\"\\\\u{ad}\",\"x-note\":\"n\\\\u{200"
	    "b}\"}},\"type\":\"object\"}}"},
	{"hidden characters in enum",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "enum\":[\"a\\u200b\"]}}}",
	    "inputSchema/properties/a/enum: has characters that nobody sees"},
	{"hidden characters in const",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "const\":{\"a\":[\"\\udb40\\udc41\"]}}}}",
	    "inputSchema/properties/a/const: has characters that nobody see"
	    "s"},
	{"hidden characters in default",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "default\":\"\\u202e\"}}}",
	    "inputSchema/properties/a/default: has characters that nobody s"
	    "ees"},
	{"hidden characters in pattern",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "pattern\":\"a\\u200b\"}}}",
	    "inputSchema/properties/a/pattern: has characters that nobody s"
	    "ees"},
	{"hidden characters in a name",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"object\",\"properties\":{\"b\\u200b\":{}}}}}",
	    "inputSchema/properties/a/properties/b\\u{200b}: has characters"
	    " that nobody sees"},
	{"hidden characters in required",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"object\",\"required\":[\"b\\u200b\"]}}}",
	    "inputSchema/properties/a/required: has characters that nobody "
	    "sees"},
	{"hidden characters in a keyword",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "x\\u200b\":1}}}",
	    "inputSchema/properties/a/x\\u{200b}: has characters that nobod"
	    "y sees"},
	{"joiners stay",
	    "\"description\":\"\\ud83d\\udc68\\u200d\\ud83d\\udc69\\u200d\\"
	    "ud83d\\udc67 \\ud83c\\udff3\\ufe0f\\u200d\\ud83c\\udf08 1\\ufe"
	    "0f\\u20e3 \\u2764\\ufe0f \\u0645\\u06cc\\u200c\\u062e\\u0648\\"
	    "u0627\\u0647\\u0645 \\u0995\\u09cd\\u200d\\u09b7\\r\\n\\tx\"",
	    "{\"name\":\"t\",\"description\":\"\360\237\221\250\342\200\215"
	    "\360\237\221\251\342\200\215\360\237\221\247 \360\237\217\263"
	    "\357\270\217\342\200\215\360\237\214\210 1\357\270\217\342\203"
	    "\243 \342\235\244\357\270\217 \331\205\333\214\342\200\214\330"
	    "\256\331\210\330\247\331\207\331\205 \340\246\225\340\247\215"
	    "\342\200\215\340\246\267\\r\\n\\tx\",\"inputSchema\":{\"type\""
	    ":\"object\"}}"},
	{"joiners without a use",
	    "\"description\":\"a\\u200db \\u200c a\\ufe0f \\r x\"",
	    "{\"name\":\"t\",\"description\":\"a\\\\u{200d}b \\\\u{200c} a"
	    "\\\\u{fe0f} \\\\x0d x\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"an array without items",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"array\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"item"
	    "s\":{},\"type\":\"array\"}},\"type\":\"object\"}}"},
	{"an array or null without items",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":[\"array\",\"null\"]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"item"
	    "s\":{},\"type\":[\"array\",\"null\"]}},\"type\":\"object\"}}"},
	{"an array with prefixItems",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"array\",\"prefixItems\":[{}]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"pref"
	    "ixItems\":[{}],\"type\":\"array\"}},\"type\":\"object\"}}"},
	{"an array without items in an array",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"array\",\"items\":{\"type\":\"array\"}}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"item"
	    "s\":{\"items\":{},\"type\":\"array\"},\"type\":\"array\"}},\"t"
	    "ype\":\"object\"}}"},
	{"no items in an outputSchema",
	    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{"
	    "\"type\":\"array\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"},\"output"
	    "Schema\":{\"properties\":{\"a\":{\"type\":\"array\"}},\"type\""
	    ":\"object\"}}"},
	{"required and not described",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"b\":{}}"
	    ",\"required\":[\"a\",\"b\"]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{},\"b"
	    "\":{}},\"required\":[\"a\",\"b\"],\"type\":\"object\"}}"},
	{"required and not described inside",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "type\":\"object\",\"required\":[\"b\"]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"prop"
	    "erties\":{\"b\":{}},\"required\":[\"b\"],\"type\":\"object\"}}"
	    ",\"type\":\"object\"}}"},
	{"required of no object",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "required\":[\"b\"]}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a\":{\"requ"
	    "ired\":[\"b\"]}},\"type\":\"object\"}}"},
	{"required with a name that nobody takes",
	    "\"inputSchema\":{\"type\":\"object\",\"required\":[\"a b\"]}",
	    "{\"name\":\"t\",\"inputSchema\":{\"required\":[\"a b\"],\"type"
	    "\":\"object\"}}"},
	{"an anchor twice",
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\""
	    "$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}",
	    "inputSchema/properties/a/$anchor: is the name of more than one"
	    " part"},
	{"an anchor twice in an outputSchema",
	    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{"
	    "\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"an anchor and a dynamic one",
	    "\"outputSchema\":{\"type\":\"object\",\"$dynamicAnchor\":\"x\""
	    ",\"properties\":{\"b\":{\"$anchor\":\"x\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"an anchor once",
	    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{"
	    "\"$anchor\":\"x\"},\"b\":{\"$ref\":\"#x\"}}}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"},\"output"
	    "Schema\":{\"properties\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$"
	    "ref\":\"#x\"}},\"type\":\"object\"}}"},
	{"dialect http://json-schema.org/draft-04/schema#",
	    "\"inputSchema\":{\"type\":\"object\",\"$schema\":\"http://json"
	    "-schema.org/draft-04/schema#\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"dialect https://example.com/m",
	    "\"inputSchema\":{\"type\":\"object\",\"$schema\":\"https://exa"
	    "mple.com/m\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"dialect ",
	    "\"inputSchema\":{\"type\":\"object\",\"$schema\":\"\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"},
	{"dialect http://json-schema.org/draft-07/schema#",
	    "\"inputSchema\":{\"type\":\"object\",\"$schema\":\"http://json"
	    "-schema.org/draft-07/schema#\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"$schema\":\"http://json-sch"
	    "ema.org/draft-07/schema#\",\"type\":\"object\"}}"},
	{"dialect https://json-schema.org/draft/2019-09/schema",
	    "\"inputSchema\":{\"type\":\"object\",\"$schema\":\"https://jso"
	    "n-schema.org/draft/2019-09/schema\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"$schema\":\"https://json-sc"
	    "hema.org/draft/2019-09/schema\",\"type\":\"object\"}}"},
	{"dialect https://json-schema.org/draft/2020-12/schema",
	    "\"inputSchema\":{\"type\":\"object\",\"$schema\":\"https://jso"
	    "n-schema.org/draft/2020-12/schema\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"$schema\":\"https://json-sc"
	    "hema.org/draft/2020-12/schema\",\"type\":\"object\"}}"},
	{"a dialect that nobody knows in an outputSchema",
	    "\"outputSchema\":{\"type\":\"object\",\"$schema\":\"urn:x\"}",
	    "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"},\"output"
	    "Schema\":{\"type\":\"object\"}}"},
};
/* clang-format on */
