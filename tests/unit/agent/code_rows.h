/* SPDX-License-Identifier: ISC */
/* Programs and their results. */
#ifndef CODE_ROWS_H
#define CODE_ROWS_H

#define E "Execution error: "
#define NOT_OBJECT "fs.read_file takes one object: "

/* clang-format off */
static const struct {
	const char *name, *source, *want;
} code_rows[] = {
	{"a value", "return 1 + 1", "2"},
	{"no value", "1 + 1", "(no return value)"},
	{"an empty program", "", "(no return value)"},
	{"a comment at its end", "return 1 // one", "1"},
	{"null", "return null", "null"},
	{"a string", "return 'a\\n\"b'", "\"a\\n\\\"b\""},
	{"an object", "return {b: [1, {}], a: null, u: undefined}", "{\"b\":[1,{}],\"a\":null}"},
	{"unicode", "return '\\u00e9\\u20ac\\u{1f600}'", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
	{"half a character", "return '\\ud800'", "\"\\ud800\""},
	{"half a character in logs", "console.log('\\ud800')", "[logs]\n\xef\xbf\xbd\n\n(no return value)"},
	{"controls in logs", "console.log('a\\x1b[0mb\\0c\\td')", "[logs]\na\xef\xbf\xbd[0mb\xef\xbf\xbd" "c\td\n\n(no return value)"},
	{"a circle", "const a = {}; a.a = a; a.b = [a]; return a", "{\"a\":\"[circular]\",\"b\":[\"[circular]\"]}"},
	{"the same twice is no circle", "const a = {x: 1}; return [a, a, {a}]", "[{\"x\":1},{\"x\":1},{\"a\":{\"x\":1}}]"},
	{"a circle through a map", "const m = new Map(); m.set('m', m); return m", "{\"m\":\"[circular]\"}"},
	{"maps and sets", "return [new Map([['a', 1]]), new Map([[1, 2]]), new Set([3])]", "[{\"a\":1},[[1,2]],[3]]"},
	{"what JSON has not", "return [1n, Symbol('s'), NaN, -Infinity, () => 1, new Error('x'), (async () => 1)()]",
	    "[\"1\",\"Symbol(s)\",\"NaN\",\"-Infinity\",\"[function ]\",{\"name\":\"Error\",\"message\":\"x\"},\"[promise]\"]"},
	{"a date", "return new Date(0)", "\"1970-01-01T00:00:00.000Z\""},
	{"too deep for JSON", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a", E "RangeError: Maximum call stack size exceeded"},
	{"await at the top", "return await Promise.resolve([1])", "[1]"},
	{"a promise returned", "return (async () => { await 1; return 'p'; })()", "\"p\""},
	{"a promise rejected", "return Promise.reject(new TypeError('r'))", E "TypeError: r"},
	{"a rejection that nobody hears", "Promise.reject({[Symbol.for('nodejs.util.inspect.custom')]() { console.log('heard') }}); return 1", E "{}"},
	{"a failure that nobody waits for", "(async () => { await 1; fs.fail() })(); return 1", E "fs.fail: DENIED: not \"here\"\n\xc3\xa9"},
	{"a failure that is heard in time", "const p = Promise.reject(new Error('x')); await 1; try { await p } catch (e) { return e.message }", "\"x\""},
	{"work that nobody waits for", "async function main() { for (let i = 0; i < 9; i++) await fs.json(); console.log('done') } main()", "[logs]\ndone\n\n(no return value)"},
	{"a promise without end", "await new Promise(() => {})", E "the program waits for a promise that never settles"},
	{"many promises", "return (await Promise.all([1, 2, 3].map(async (i) => fs.json({i}).n))).length", "3"},
	{"logs", "console.log('a', 1, {b: [2]}); console.error('%s is %d%%', 'x', 5, 'y'); return 0", "[logs]\na 1 {\"b\":[2]}\nx is 5% y\n\n0"},
	{"logs before an error", "console.log('a'); throw new Error('b')", "[logs]\na\n\n" E "b"},
	{"assert", "console.assert(true, 'no'); console.assert(false, 'yes')", "[logs]\nAssertion failed yes\n\n(no return value)"},
	{"an error", "throw new Error('plain')", E "plain"},
	{"another error", "null.x", E "TypeError: Cannot read properties of null (reading 'x')"},
	{"an unknown name", "return nothing", E "ReferenceError: nothing is not defined"},
	{"something else thrown", "throw {a: 1}", E "{\"a\":1}"},
	{"an error that cannot be shown", "throw {toJSON() { throw 1 }}", E "an error that cannot be shown"},
	{"import", "import fs from 'fs'", E "SyntaxError: there is no import: the program has its tools and the language only (line 1)"},
	{"import as a word", "const important = {import: /import/}; return `${important.import.test('to import')}`", "\"true\""},
	{"require", "require('fs')", E "ReferenceError: require is not defined: a program has its tools and the language only"},

	{"a tool", "return fs.read_file({path: '/x', list: [1, null]})", "\"text of read_file {\\\"list\\\":[1,null],\\\"path\\\":\\\"/x\\\"}\""},
	{"a tool without arguments", "return fs.read_file()", "\"text of read_file {}\""},
	{"a tool's JSON", "return fs.json({}).list[2].deep", "true"},
	{"a tool's JSON as text", "return fs.json.text({})", "\"{\\\"list\\\":[1,2,{\\\"deep\\\":true}],\\\"n\\\":7}\""},
	{"a tool's text that is nearly JSON", "return fs.broken()", "\"{no json\""},
	{"a tool that has no answer", "fs.nothing()", E "fs.nothing: the tool could not be called"},
	{"a tool's error", "fs.fail({})", E "fs.fail: DENIED: not \"here\"\n\xc3\xa9"},
	{"a tool's error is caught", "try { fs.fail({}) } catch (e) { return [e instanceof Error, e.name, e.tool, e.message] }",
	    "[true,\"ToolError\",\"fs.fail\",\"DENIED: not \\\"here\\\"\\n\xc3\xa9\"]"},
	{"a word instead of arguments", "fs.read_file('/x')",
	    E "TypeError: " NOT_OBJECT "fs.read_file({path: string, head?: number, mode?: \"a\" | \"b\", \"of-list\"?: Array<{x?: number | null}>})"},
	{"a circle as arguments", "const a = {}; a.a = a; try { fs.read_file(a) } catch (e) { return e instanceof TypeError }", "true"},
	{"a number that becomes the arguments", "fs.read_file({toJSON: () => 1})", E "TypeError: fs.read_file takes one object"},
	{"an unknown tool", "fs.write()", E "TypeError: fs.write is not a function"},
	{"a member in brackets", "return my_server['a-b']({}).length + globalThis['my-server']['a-b']({}).length", "28"},
	{"a redundant part of a name", "return [git.push(), git.git_push()]", "[\"text of git_push {}\",\"text of git_push {}\"]"},
	{"names of prototypes", "return [__proto___.constructor(), typeof __proto___.toString, typeof ({}).constructor]",
	    "[\"text of constructor {}\",\"undefined\",\"function\"]"},
	{"stubs are constant", "'use strict'; try { fs.read_file = 1 } catch (e) { return e.name }", "\"TypeError\""},
	{"prototypes that a program changes", "Array.prototype.map = Array.prototype.join = () => { throw 1 }; String.prototype.slice = () => 'x'; return 1", "1"},

	{"help", "return help.help()", "\"fs: 6 tools\\ngit: 1 tool\\nmy_server: 1 tool\\n__proto___: 1 tool\\nhelp.help(\\\"SERVER\\\") lists the tools of one.\""},
	{"help for a server", "return help.help('git') + help.help('my-server')", "\"git.push({})  Pushes.my_server[\\\"a-b\\\"]({})\""},
	{"help for a tool", "return help.help('fs.read_file')",
	    "\"fs.read_file({path: string, head?: number, mode?: \\\"a\\\" | \\\"b\\\", \\\"of-list\\\"?: Array<{x?: number | null}>})"
	    "\\nReads a file.\\nAll of it.\\n  path: The name.\""},
	{"help for nothing", "help.help('no')", E "nothing is named \"no\"; the servers are: fs, git, my_server, __proto___"},
	{"an interface", "return __getToolInterface('git.git_push')", "\"interface Arguments {}\\ngit.push(args: Arguments): unknown\""},
};
/* clang-format on */

#undef E
#undef NOT_OBJECT

#endif
