/* SPDX-License-Identifier: ISC */
/*
 * Hand-written texts for the strict JSON reader: accepted ones with their
 * canonical text, and refused ones with the error and its offset.  Only
 * test_json.c includes this.
 */
#ifndef JSON_CASES_H
#define JSON_CASES_H

#include "common/json/json.h"

struct json_case {
	struct span in;
	enum json_error error;
	size_t at;
	struct span out;
};

/* clang-format off */
#define S(lit) {(const uint8_t *)(lit), sizeof(lit) - 1}
#define YES(in, out) {S(in), JSON_OK, 0, S(out)}
#define SAME(in) YES(in, in)
#define NO(in, err, at) {S(in), JSON_##err, at, S("")}

static const struct json_case json_cases[] = {
	/* Every kind of value at the top */
	SAME("null"), SAME("true"), SAME("false"), SAME("0"), SAME("\"\""),
	SAME("[]"), SAME("{}"), SAME("\"a\""), SAME("[null]"),
	SAME("{\"a\":1}"), SAME("{\"\":0}"), SAME("[[],{}]"),
	SAME("[1,2,3]"), SAME("[true,false,null]"),
	SAME("{\"a\":{\"b\":{\"c\":[]}}}"), SAME("[[[[[[]]]]]]"),
	SAME("[{\"a\":[{\"a\":[]}]}]"),

	/* White space: exactly four characters, anywhere between tokens */
	YES(" null", "null"), YES("null ", "null"), YES("\t\n\r null\t\n\r ", "null"),
	YES(" [ ] ", "[]"), YES("{ }", "{}"), YES("[ 1 , 2 ]", "[1,2]"),
	YES("{ \"a\" : 1 , \"b\" : 2 }", "{\"a\":1,\"b\":2}"),
	YES("{\r\n\t\"a\"\n:\r1}", "{\"a\":1}"), YES("\n\n\n0", "0"),
	YES("                      1                      ", "1"),
	NO("", TRUNCATED, 0), NO(" ", TRUNCATED, 1), NO("\r\n\t ", TRUNCATED, 4),
	NO("\f1", SYNTAX, 0), NO("\v1", SYNTAX, 0), NO("[\b]", SYNTAX, 1),
	NO("\0", SYNTAX, 0), NO("1\0", TRAILING, 1), NO("[1\0]", SYNTAX, 2),
	NO("\x7f", SYNTAX, 0), NO("\xc2\xa0" "1", SYNTAX, 0),
	NO("\xe2\x80\x83[]", SYNTAX, 0), NO("[\xe3\x80\x80]", SYNTAX, 1),
	NO("\xe2\x80\xa8" "1", SYNTAX, 0), NO("1\xc2\xa0", TRAILING, 1),

	/* Literals */
	NO("n", TRUNCATED, 1), NO("nul", TRUNCATED, 3), NO("tru", TRUNCATED, 3),
	NO("fals", TRUNCATED, 4), NO("nulL", SYNTAX, 3), NO("NULL", SYNTAX, 0),
	NO("True", SYNTAX, 0), NO("FALSE", SYNTAX, 0), NO("nan", SYNTAX, 1),
	NO("NaN", SYNTAX, 0), NO("Infinity", SYNTAX, 0), NO("undefined", SYNTAX, 0),
	NO("nullx", TRAILING, 4), NO("truefalse", TRAILING, 4),
	NO("[nullx]", SYNTAX, 5), NO("[true false]", SYNTAX, 6),
	NO("trve", SYNTAX, 2), NO("[fal", TRUNCATED, 4), NO("nu\xff", UTF8, 2),
	NO("None", SYNTAX, 0), NO("yes", SYNTAX, 0), NO("[t]", SYNTAX, 2),

	/* Numbers: kept as they were written */
	SAME("-0"), SAME("1"), SAME("-1"), SAME("10"), SAME("1234567890"),
	SAME("0.0"), SAME("-0.0"), SAME("1.0"), SAME("1.50"), SAME("0.1e1"),
	SAME("1e1"), SAME("1E1"), SAME("1e+1"), SAME("1e-1"), SAME("1E+01"),
	SAME("0e0"), SAME("-0e-0"), SAME("1e308"), SAME("1e00000001"),
	SAME("0e400"), SAME("-0.000e999"), SAME("1e-400"), SAME("0.01e310"),
	SAME("1.7976931348623157e308"), SAME("1.797693134862315807e308"),
	SAME("17976931348623157e+292"), SAME("-0.0017976931348623157e311"),
	NO("1e309", NUMBER, 0), NO("1e400", NUMBER, 0), NO("[-1E+9999]", NUMBER, 1),
	NO("1.797693134862315808e308", NUMBER, 0), NO("0.1e310", NUMBER, 0),
	NO("123123e100000", NUMBER, 0), NO("{\"a\":10e99999999999}", NUMBER, 5),
	NO("[1,-0.0018e311]", NUMBER, 3),
	SAME("9007199254740993"), SAME("18446744073709551616"),
	SAME("-9223372036854775809"), SAME("123.456e-789"), SAME("1.00000000000"),
	SAME("1234567890123456789012345678901234567890"),
	SAME("-123456789012345678901234567890123456789"),
	SAME("0.12345678901234567890123456789012345678"),
	YES("[0 ,-0]", "[0,-0]"),
	NO("12345678901234567890123456789012345678901", NUMBER, 0),
	NO("[1,-1234567890123456789012345678901234567890]", NUMBER, 3),
	NO("0.123456789012345678901234567890123456789", NUMBER, 0),
	NO("1e000000000000000000000000000000000000000", NUMBER, 0),
	NO("00", NUMBER, 1), NO("01", NUMBER, 1), NO("-01", NUMBER, 2),
	NO("[007]", NUMBER, 2), NO("-", TRUNCATED, 1), NO("[-]", NUMBER, 2),
	NO("-a", NUMBER, 1), NO("--1", NUMBER, 1), NO("-+1", NUMBER, 1),
	NO("+1", SYNTAX, 0), NO(".5", SYNTAX, 0), NO("-.5", NUMBER, 1),
	NO("1.", TRUNCATED, 2), NO("[1.]", NUMBER, 3), NO("1.e1", NUMBER, 2),
	NO("1..2", NUMBER, 2), NO("1e", TRUNCATED, 2), NO("1e+", TRUNCATED, 3),
	NO("[1e]", NUMBER, 3), NO("[1e+]", NUMBER, 4), NO("1e1.5", TRAILING, 3),
	NO("1e+-1", NUMBER, 3), NO("1.5.5", TRAILING, 3), NO("0x10", TRAILING, 1),
	NO("[0x10]", SYNTAX, 2), NO("1_000", TRAILING, 1), NO("1,000", TRAILING, 1),
	NO("-Infinity", NUMBER, 1), NO("-NaN", NUMBER, 1), NO("[1 2]", SYNTAX, 3),
	NO("1f", TRAILING, 1), NO("- 1", NUMBER, 1), NO("1 e1", TRAILING, 2),
	NO("[1e1e1]", SYNTAX, 4), NO("\xef\xbc\x91", SYNTAX, 0), NO("1-1", TRAILING, 1),

	/* Strings: plain ones, and every escape */
	SAME("\"hello, world\""), SAME("\"/\""), SAME("\"'\""), SAME("\"\x7f\""),
	SAME("\" \""), SAME("\"0123456\""), SAME("\"01234567\""),
	SAME("\"012345678\""), SAME("\"0123456789abcdef0123456789abcdef\""),
	SAME("\"\\\"\""), SAME("\"\\\\\""), SAME("\"\\b\\f\\n\\r\\t\""),
	YES("\"\\/\"", "\"/\""), YES("\"\\u0041\"", "\"A\""),
	YES("\"\\u000a\\u000A\"", "\"\\n\\n\""), YES("\"\\u0022\"", "\"\\\"\""),
	YES("\"\\u005C\"", "\"\\\\\""), YES("\"\\u002f\"", "\"/\""),
	YES("\"\\u007f\"", "\"\x7f\""), SAME("\"\\u0000\""), SAME("\"\\u0001\""),
	SAME("\"\\u001f\""), YES("\"\\u001F\"", "\"\\u001f\""), SAME("\"\\u000b\""),
	YES("\"\\u0008\\u0009\\u000c\\u000d\"", "\"\\b\\t\\f\\r\""),
	YES("\"\\u0020\"", "\" \""), YES("\"a\\u0062c\"", "\"abc\""),
	YES("\"\\u00e9\"", "\"\xc3\xa9\""), YES("\"\\u20AC\"", "\"\xe2\x82\xac\""),
	YES("\"\\u0080\\u07ff\\u0800\"", "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\""),
	YES("\"\\ud7ff\\ue000\\uffff\"", "\"\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\""),
	YES("\"\\ud800\\udc00\"", "\"\xf0\x90\x80\x80\""),
	YES("\"\\uDBFF\\uDFFF\"", "\"\xf4\x8f\xbf\xbf\""),
	YES("\"\\uD83D\\uDE00!\"", "\"\xf0\x9f\x98\x80!\""),
	YES("\"x\\ud83d\\ude00\\ud83d\\ude00\"", "\"x\xf0\x9f\x98\x80\xf0\x9f\x98\x80\""),
	YES("\"a long run of plain text\\nand another one\\/\"",
	    "\"a long run of plain text\\nand another one/\""),
	YES("[\"\\\\\",\"\\\\\\\"\",\"\\\\\\\\\"]", "[\"\\\\\",\"\\\\\\\"\",\"\\\\\\\\\"]"),
	SAME("\"\\\\u0041\""), SAME("\"\\\\\\\\u\""),
	NO("\"", TRUNCATED, 1), NO("\"a", TRUNCATED, 2), NO("\"\\", TRUNCATED, 2),
	NO("\"\\\"", TRUNCATED, 3), NO("\"\\u", TRUNCATED, 3),
	NO("\"\\u1", TRUNCATED, 4), NO("\"\\u123", TRUNCATED, 6),
	NO("\"\\u1234", TRUNCATED, 7), NO("\"\\ud800", TRUNCATED, 7),
	NO("\"\\ud800\\", TRUNCATED, 8), NO("\"\\ud800\\u", TRUNCATED, 9),
	NO("\"\\ud800\\udc0", TRUNCATED, 12), NO("\"\\n", TRUNCATED, 3),
	NO("\"\\a\"", SYNTAX, 1), NO("\"\\x41\"", SYNTAX, 1), NO("\"\\0\"", SYNTAX, 1),
	NO("\"\\'\"", SYNTAX, 1), NO("\"\\ \"", SYNTAX, 1), NO("\"\\\n\"", SYNTAX, 1),
	NO("\"\\\0\"", SYNTAX, 1), NO("\"\\U0041\"", SYNTAX, 1), NO("\"\\N\"", SYNTAX, 1),
	NO("\"ok\\v\"", SYNTAX, 3), NO("\"\\u\"", SYNTAX, 1), NO("\"\\u00\"", SYNTAX, 1),
	NO("\"\\u004\"", SYNTAX, 1), NO("\"\\u004g\"", SYNTAX, 1),
	NO("\"\\u 041\"", SYNTAX, 1), NO("\"\\u+041\"", SYNTAX, 1),
	NO("\"\\u0x41\"", SYNTAX, 1), NO("\"\\u{41}\"", SYNTAX, 1),
	NO("\"\\n\\q\"", SYNTAX, 3), NO("\"\\\xc3\xa9\"", SYNTAX, 1),
	NO("\"a\nb\"", SYNTAX, 2), NO("\"\t\"", SYNTAX, 1), NO("\"\0\"", SYNTAX, 1),
	NO("\"\x1f\"", SYNTAX, 1), NO("\"\\n\n\"", SYNTAX, 3), NO("\"\r\n\"", SYNTAX, 1),
	NO("\"01234567\n\"", SYNTAX, 9), NO("'a'", SYNTAX, 0), NO("`a`", SYNTAX, 0),
	NO("a", SYNTAX, 0), NO("\"a\"b\"", TRAILING, 3), NO("\"\\\"\"\"", TRAILING, 4),
	NO("\"a\" \"b\"", TRAILING, 4), NO("[\"a\" \"b\"]", SYNTAX, 5),
	NO("\xe2\x80\x9c" "a\xe2\x80\x9d", SYNTAX, 0),

	/* Surrogates must come in pairs */
	NO("\"\\ud800\"", UTF8, 1), NO("\"\\udbff\"", UTF8, 1), NO("\"\\udc00\"", UTF8, 1),
	NO("\"\\udfff\"", UTF8, 1), NO("\"\\ud800x\"", UTF8, 1),
	NO("\"\\ud800\\n\"", UTF8, 1), NO("\"\\ud800\\u0041\"", UTF8, 1),
	NO("\"\\ud800\\ud800\"", UTF8, 1), NO("\"\\udc00\\ud800\"", UTF8, 1),
	NO("\"\\ud83d\\ude00\\ude00\"", UTF8, 13), NO("\"ab\\uDEAD\"", UTF8, 3),
	NO("\"\\ud800\\ue000\"", UTF8, 1), NO("\"\\ud800\\udbff\"", UTF8, 1),
	NO("\"\\ud800\\u00zz\"", SYNTAX, 7), NO("{\"\\ud800\":1}", UTF8, 2),
	NO("[\"\\ud800\",\"\\udc00\"]", UTF8, 2), NO("\"\\ud800\\\\udc00\"", UTF8, 1),

	/* UTF-8, and what only looks like it */
	SAME("\"\xc2\x80\""), SAME("\"\xdf\xbf\""), SAME("\"\xe0\xa0\x80\""),
	SAME("\"\xec\xbf\xbf\""), SAME("\"\xed\x9f\xbf\""), SAME("\"\xee\x80\x80\""),
	SAME("\"\xef\xbf\xbf\""), SAME("\"\xef\xbf\xbe\""), SAME("\"\xf0\x90\x80\x80\""),
	SAME("\"\xf3\xbf\xbf\xbf\""), SAME("\"\xf4\x8f\xbf\xbf\""),
	SAME("\"\xef\xbb\xbf\""), SAME("\"\xe2\x80\xae\xe2\x80\xa8\xe2\x80\xa9\""),
	SAME("\"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e and ascii again\""),
	SAME("{\"\xc3\xa9\":\"e\xcc\x81\"}"), SAME("\"\xc2\x9b\""),
	NO("\xef\xbb\xbf{}", UTF8, 0), NO("\xef\xbb\xbf", UTF8, 0),
	NO(" \xef\xbb\xbf{}", SYNTAX, 1), NO("{}\xef\xbb\xbf", TRAILING, 2),
	NO("\xff\xfe{\0}\0", UTF8, 0), NO("\xfe\xff\0{\0}", UTF8, 0), NO("[\0]\0", SYNTAX, 1),
	NO("\xff", UTF8, 0), NO("[\x80]", UTF8, 1), NO("\xc3\xa9", SYNTAX, 0),
	NO("\"\x80\"", UTF8, 1), NO("\"\xbf\"", UTF8, 1), NO("\"\xc0\x80\"", UTF8, 1),
	NO("\"\xc0\xaf\"", UTF8, 1), NO("\"\xc1\xbf\"", UTF8, 1), NO("\"\xc2\"", UTF8, 1),
	NO("\"\xc3\x28\"", UTF8, 1), NO("\"\xe0\x80\xaf\"", UTF8, 1),
	NO("\"\xe0\x9f\xbf\"", UTF8, 1), NO("\"\xe2\x82\"", UTF8, 1),
	NO("\"\xe2\x28\xa1\"", UTF8, 1), NO("\"\xed\xa0\x80\"", UTF8, 1),
	NO("\"\xed\xbf\xbf\"", UTF8, 1), NO("\"\xed\xa0\xbd\xed\xb8\x80\"", UTF8, 1),
	NO("\"\xf0\x80\x80\xaf\"", UTF8, 1), NO("\"\xf0\x8f\xbf\xbf\"", UTF8, 1),
	NO("\"\xf0\x9f\x98\"", UTF8, 1), NO("\"\xf4\x90\x80\x80\"", UTF8, 1),
	NO("\"\xf5\x80\x80\x80\"", UTF8, 1), NO("\"\xf8\x88\x80\x80\x80\"", UTF8, 1),
	NO("\"\xfc\x84\x80\x80\x80\x80\"", UTF8, 1), NO("\"\xfe\"", UTF8, 1),
	NO("\"abcdefgh\xff\"", UTF8, 9), NO("\"\\n\xff\"", UTF8, 3), NO("\"\xe2\x82", UTF8, 1),
	NO("\"\xc3\xa9\xc3\"", UTF8, 3), NO("{\"\xff\":1}", UTF8, 2), NO("{\xff", UTF8, 1),
	NO("[1,\xff]", UTF8, 3), NO("[1\xff]", UTF8, 2), NO("\"caf\xe9\"", UTF8, 4),

	/* Arrays */
	SAME("[0]"), SAME("[[]]"), SAME("[[],[]]"), SAME("[\"]\"]"), SAME("[[1],[2,[3]],4]"),
	NO("[", TRUNCATED, 1), NO("[1", TRUNCATED, 2), NO("[1,", TRUNCATED, 3),
	NO("[[]", TRUNCATED, 3), NO("]", SYNTAX, 0), NO("[]]", TRAILING, 2),
	NO("[,]", SYNTAX, 1), NO("[,1]", SYNTAX, 1), NO("[1,]", SYNTAX, 3),
	NO("[1,,2]", SYNTAX, 3), NO("[1;2]", SYNTAX, 2), NO("[1:2]", SYNTAX, 2),
	NO("[1}", SYNTAX, 2), NO("[}", SYNTAX, 1), NO("[][]", TRAILING, 2),
	NO("[]\n[]", TRAILING, 3), NO("[],", TRAILING, 2), NO("[...]", SYNTAX, 1),
	NO("(1)", SYNTAX, 0), NO("[\"a\",", TRUNCATED, 5),
	NO("[1] garbage", TRAILING, 4), NO("[\"a\":1]", SYNTAX, 4), NO("[[1,2]3]", SYNTAX, 6),

	/* Objects: members come out sorted by bytes */
	SAME("{\"a\":1,\"b\":2}"), YES("{\"b\":1,\"a\":2}", "{\"a\":2,\"b\":1}"),
	YES("{\"aa\":1,\"a\":2,\"\":3}", "{\"\":3,\"a\":2,\"aa\":1}"),
	YES("{\"a\":1,\"B\":2,\"A\":3,\"b\":4}", "{\"A\":3,\"B\":2,\"a\":1,\"b\":4}"),
	YES("{\"10\":1,\"9\":2,\"1\":3}", "{\"1\":3,\"10\":1,\"9\":2}"),
	YES("{\"\xc3\xa9\":1,\"z\":2,\"\xf0\x9f\x98\x80\":3,\"\xef\xbf\xbd\":4}",
	    "{\"z\":2,\"\xc3\xa9\":1,\"\xef\xbf\xbd\":4,\"\xf0\x9f\x98\x80\":3}"),
	YES("{\"b\":{\"d\":1,\"c\":2},\"a\":[{\"f\":3,\"e\":4}]}",
	    "{\"a\":[{\"e\":4,\"f\":3}],\"b\":{\"c\":2,\"d\":1}}"),
	YES("{\"c\":{\"c\":{}},\"a\":{\"c\":1},\"b\":[]}", "{\"a\":{\"c\":1},\"b\":[],\"c\":{\"c\":{}}}"),
	YES("{\"\\u0062\":1,\"a\":2}", "{\"a\":2,\"b\":1}"),
	YES("{\"a\\nb\":1,\"a\":2}", "{\"a\":2,\"a\\nb\":1}"),
	YES("{\"a\\u0000\":1,\"a\":2}", "{\"a\":2,\"a\\u0000\":1}"),
	SAME("{\"A\":1,\"a\":2}"), SAME("{\"K\":1,\"k\":2,\"\xe2\x84\xaa\":3}"),
	SAME("{\"__proto__\":1,\"constructor\":2}"), SAME("[{\"a\":1},{\"a\":1}]"),
	SAME("{\"a\":{\"a\":1}}"), SAME("{\"e\xcc\x81\":1,\"\xc3\xa9\":2}"),
	YES("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}",
	    "{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}"),
	NO("{", TRUNCATED, 1), NO("{\"", TRUNCATED, 2), NO("{\"a", TRUNCATED, 3),
	NO("{\"a\"", TRUNCATED, 4), NO("{\"a\":", TRUNCATED, 5), NO("{\"a\":1", TRUNCATED, 6),
	NO("{\"a\":1,", TRUNCATED, 7), NO("}", SYNTAX, 0), NO("{]", SYNTAX, 1),
	NO("{,}", SYNTAX, 1), NO("{\"a\"}", SYNTAX, 4), NO("{\"a\",1}", SYNTAX, 4),
	NO("{\"a\":}", SYNTAX, 5), NO("{\"a\":,}", SYNTAX, 5), NO("{\"a\":1,}", SYNTAX, 7),
	NO("{\"a\":1,,\"b\":2}", SYNTAX, 7), NO("{\"a\":1 \"b\":2}", SYNTAX, 7),
	NO("{\"a\"::1}", SYNTAX, 5), NO("{\"a\"=1}", SYNTAX, 4), NO("{\"a\" 1}", SYNTAX, 5),
	NO("{a:1}", SYNTAX, 1), NO("{'a':1}", SYNTAX, 1), NO("{1:1}", SYNTAX, 1),
	NO("{null:1}", SYNTAX, 1), NO("{[]:1}", SYNTAX, 1), NO("{\"a\":1]", SYNTAX, 6),
	NO("{}}", TRAILING, 2), NO("{}{}", TRAILING, 2), NO("{\"a\":1}\n{\"b\":2}", TRAILING, 8),
	NO("{{}}", SYNTAX, 1), NO("{\"a\":1;\"b\":2}", SYNTAX, 6), NO("{\"a\":b}", SYNTAX, 5),
	NO("{\"a\n\":1}", SYNTAX, 3), NO("{\"a\":\"b\":\"c\"}", SYNTAX, 8), NO("{\"a\":1}x", TRAILING, 7),

	/* Duplicate names, at any depth and after unescaping */
	NO("{\"a\":1,\"a\":1}", DUPLICATE, 7), NO("{\"a\":1,\"a\":2}", DUPLICATE, 7),
	NO("{\"\":1,\"\":2}", DUPLICATE, 6), NO("{\"a\":1,\"b\":2,\"a\":3}", DUPLICATE, 13),
	NO("{\"b\":1,\"a\":2,\"b\":3}", DUPLICATE, 13), NO("{\"a\":1,\"\\u0061\":2}", DUPLICATE, 7),
	NO("{\"\\u0061\":1,\"a\":2}", DUPLICATE, 12), NO("{\"/\":1,\"\\/\":2}", DUPLICATE, 7),
	NO("{\"\\u000a\":1,\"\\n\":2}", DUPLICATE, 12),
	NO("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}", DUPLICATE, 10),
	NO("{\"\\u00e9\":1,\"\xc3\xa9\":2}", DUPLICATE, 12),
	NO("[{\"x\":{\"a\":1,\"a\":1}}]", DUPLICATE, 13), NO("{\"a\":{},\"a\":{}}", DUPLICATE, 8),
	NO("{\"a\":{\"b\":1},\"c\":{\"b\":1,\"b\":2}}", DUPLICATE, 24),
	NO("{\"a\":1,\"a\"", DUPLICATE, 7), NO("{\"c\":0,\"a\":1,\"b\":2,\"a\":3}", DUPLICATE, 19),
	NO("{\"method\":\"a\",\"m\\u0065thod\":\"b\"}", DUPLICATE, 14),
	NO("{\"a\\u0000\":1,\"a\\u0000\":2}", DUPLICATE, 13),

	/* Extensions of other parsers */
	NO("// x\n1", SYNTAX, 0), NO("/* x */1", SYNTAX, 0), NO("1 // x", TRAILING, 2),
	NO("[1/**/]", SYNTAX, 2), NO("# x\n1", SYNTAX, 0), NO("{\"a\":1,//x\n\"b\":2}", SYNTAX, 7),
	NO("[+1]", SYNTAX, 1), NO("[NaN]", SYNTAX, 1), NO("[Infinity]", SYNTAX, 1),
	NO("[-Infinity]", NUMBER, 2), NO("[.1]", SYNTAX, 1), NO("[\"\\v\"]", SYNTAX, 2),
	NO("\"a\" + \"b\"", TRAILING, 4), NO("u\"a\"", SYNTAX, 0), NO("@", SYNTAX, 0),
	NO("<a/>", SYNTAX, 0), NO("a=1", SYNTAX, 0), NO(":", SYNTAX, 0), NO(",", SYNTAX, 0),
	NO("\x1e{}", SYNTAX, 0), NO("Content-Length: 2\r\n\r\n{}", SYNTAX, 0),
	NO("{\"a\":1}\0", TRAILING, 7), NO("{\"a\":1}\\n", TRAILING, 7),
};
/* clang-format on */

#endif
