// SPDX-License-Identifier: ISC
// Tests docker/node/types.cjs with a table of programs: node THIS TYPES.CJS.
// Rows of `stripped` have a program and what is left of it, with runs of spaces
// as one; `same` has programs without types, which stay as they are; `refused`
// has the reason and its line. Whatever is stripped is JavaScript, as long as
// before, with each line where it was.
'use strict';

const {readFileSync} = require('node:fs');
const {Script, runInThisContext} = require('node:vm');

const strip = runInThisContext(
  readFileSync(process.argv[2], 'utf8') + '\nstripTypes');
let count = 0;

function ok(good, what, more) {
  console.log(`${good ? 'ok' : 'not ok'} ${++count} - ` +
    JSON.stringify(what).slice(1, -1).replaceAll('#', '\\#'));
  if (!good)
    console.log('# ' + JSON.stringify(more));
}

const stripped = [
  ['const n: number = 2', 'const n = 2'],
  ['let a: string | undefined, b: typeof a = x', 'let a , b = x'],
  ['let v!: string; v = "a"', 'let v ; v = "a"'],
  ['var o: { a: string; b?: () => void } = {a: "1"}', 'var o = {a: "1"}'],
  ['const f: (a: number, ...b: string[]) => void = (a) => {}',
    'const f = (a) => {}'],
  ['const t: readonly [a: string, b?: number, ...c: any[]] = x',
    'const t = x'],
  ['const u: `a${string}b` | -1 | null = x', 'const u = x'],
  ['const u: import("x").Y<string>["a"] = x', 'const u = x'],
  ['const u: new (...a: any[]) => object = x', 'const u = x'],
  ['const m: Map<string, Array<Map<string, number>>> = x', 'const m = x'],
  ['const m: A<<T>() => T> = x', 'const m = x'],
  ['const m = new Map<string, Array<Map<string, number>>>()',
    'const m = new Map ()'],
  ['const s = new Set<string>; f<number>(1); g<A, B>`a`',
    'const s = new Set ; f (1); g `a`'],
  ['const {a, b: {c = 1}}: T = o; const [p, , ...q]: number[] = l',
    'const {a, b: {c = 1}} = o; const [p, , ...q] = l'],
  ['f(a as string, b satisfies T, c!, <T>d, e as const)',
    'f(a , b , c , d, e )'],
  ['a!.b![0]!.c<T>(1)?.[d as any]; x! += 1', 'a .b [0] .c (1)?.[d ]; x += 1'],
  ['a as unknown as string === b', 'a === b'],
  ['const r = await f({a: 1} as const) as {b: string}[]',
    'const r = await f({a: 1} ) '],
  ['const x = y as T\n(foo)', 'const x = y ; \n(foo)'],
  ['const x = y as T\n+ 1', 'const x = y \n+ 1'],
  ['const f = (x: A, y?: B): C => x', 'const f = (x , y ) => x'],
  ['const f = <T,>(x: T): T => x', 'const f = (x ) => x'],
  ['const f = async <T extends object>(x: T): Promise<T> => x',
    'const f = async (x ) => x'],
  ['l.filter((v): v is string => v !== null).map((v) => v!.length)',
    'l.filter((v) => v !== null).map((v) => v .length)'],
  ['const f = (a): (b: string) => void => b', 'const f = (a) => b'],
  ['const f = (a\n): \n  Promise<void>\n  => {}',
    'const f = (a\n \n \n )=> {}'],
  ['const f = (a):\n T => {}', 'const f = (a \n ) => {}'],
  ['const f = async <\n T\n>(a: T) => a', 'const f = async (\n \n a ) => a'],
  ['const r = a ? (b) : (c: D) => d', 'const r = a ? (b) : (c ) => d'],
  ['const r = a ? (b): C => d : e', 'const r = a ? (b) => d : e'],
  ['const r = a ? x as A : y as B', 'const r = a ? x : y '],
  ['function f<T>(this: A, a: T, b = 1 as B): a is T { return a }',
    'function f ( a , b = 1 ) { return a }'],
  ['function f(this: A) {}', 'function f( ) {}'],
  ['function f(x: any): asserts x is string {}', 'function f(x ) {}'],
  ['function f(a: string): void;\nfunction f(a: any) {}',
    '; \nfunction f(a ) {}'],
  ['async function* f<T>(): AsyncGenerator<T> { yield a as T; yield }',
    'async function* f () { yield a ; yield }'],
  ['type A<T> = T extends (infer U)[] ? U : never\nlet a = 1',
    '; \nlet a = 1'],
  ['type A =\n  | "a"\n  | {b: 1}\nlet a', '; \n \n \nlet a'],
  ['type A = B extends infer U extends string ? U : (C extends D ? 1 : 2);',
    '; '],
  ['type A = (<V>() => V extends T ? 1 : 2) extends B ? true : false', '; '],
  ['const a = 1\ntype A = string\n(b)', 'const a = 1\n; \n(b)'],
  ['interface A<T> extends B<T>, C { a(b: T): void; [k: string]: any }\na()',
    '; \na()'],
  ['declare const x: number, y: string\ndeclare function f(): void;\nx',
    '; \n; \nx'],
  ['declare global { interface W { a: 1 } }\ndeclare enum E { A }', '; \n; '],
  ['abstract class A<T> extends B<T> implements C<T>, D { abstract m(): T; }',
    ' class A extends B { ; }'],
  ['class A { private readonly x: number = 1; static y?: T; z!: T; w }',
    'class A { ; x = 1; static y ; z ; w }'],
  ['class A { x = 1\n private ["k"] = 2 }', 'class A { x = 1\n ; ["k"] = 2 }'],
  ['class A { declare w: string; [k: string]: any; m(a: B): void\nm(a) {} }',
    'class A { ; ; ; \nm(a) {} }'],
  ['class A { get v(): T { return 1 } set v(n: T) {} static async *g<T>() {} }',
    'class A { get v() { return 1 } set v(n ) {} static async *g () {} }'],
  ['class A { static { const q: number = 1 } #p: string = ""; override m() {} }',
    'class A { static { const q = 1 } #p = ""; ; m() {} }'],
  ['const o = {m<T>(a: T): T { return a }, get x(): T { return 1 }, ...(z as T)}',
    'const o = {m (a ) { return a }, get x() { return 1 }, ...(z )}'],
  ['for (const k of Object.keys(o) as K[]) f(k as K)',
    'for (const k of Object.keys(o) ) f(k )'],
  ['for (let i: number = 0; i < n!; i++) ;', 'for (let i = 0; i < n ; i++) ;'],
  ['try { a() } catch (e: unknown) { throw e as Error }',
    'try { a() } catch (e ) { throw e }'],
  ['switch (a as T) { case "x": { b!() } default: c() }',
    'switch (a ) { case "x": { b () } default: c() }'],
  ['`a${x as string}b${`n${(y as number) + 1}`}`', '`a${x }b${`n${(y ) + 1}`}`'],
  ['const a: A /* b */ = 1 // c: D', 'const a /* b */ = 1 // c: D'],
  ['const é: string = "è"', 'const é = "è"'],
];

const same = [
  'if (a < b && c > (d)) e(a < b, c > d)',
  'a < b > c; a >> 2; a >>> 1; a >>= 1',
  'const re = /ab[/`"]c/g.test(x), d = a / b / c',
  'let async = 1; async = 2; const type = 1; type\nA = 1; type + 1',
  'as = 1; declare = 2; of(x); namespace\n(a); interface_ = abstract',
  'x ? (y) : z => w; x ? (a, b) : (c)',
  'a: for (;;) { break a }\ndo x++; while (x < 3) y()',
  'for (x of y) z(); for (x in y) z(); for await (const x of y) z()',
  '({async: 1, get: 2, set() {}, async a() {}, get b() { return 1 }, *c() {}})',
  '[a, , b] = c; ({a = 1, ...b} = c); (async () => 1)(); async (a)',
  'new.target; new A; new (f())(1); new a.b.C().d',
  'class A extends (B, C) { static async = 1; get; set = 1; "a"() {} 1 = 2 }',
  '`\\`${"}"}#@%$ ✖`; "\\"//"; 1..a; .5e-3; 0x1fn; 1_000',
  'return; // nothing\nthrow a\n',
  'x = function () {} / 1; y = (a) / 2; z = {}\n/1/g',
];

const refused = [
  ['enum A { B }', 1, 'an enum is code and no type'],
  ['const enum A { B }', 1, 'an enum is code and no type'],
  ['\nnamespace A { export const b = 1 }', 2, 'a namespace is code'],
  ['class A {\n constructor(private a: string) {} }', 2, 'makes a parameter'],
  ['import a from "b"', 1, 'there is no import'],
  ['export const a = 1', 1, 'there is no export'],
  ['@a class B {}', 1, 'no decorators'],
  ['let a: = 1', 1, "Unexpected token '='"],
  ['let b = ;', 1, "Unexpected token ';'"],
  ['f(', 1, 'Unexpected end of input'],
  ['}', 1, "Unexpected token '}'"],
  ['`a${b', 1, 'Unexpected end of input'],
  ['`a', 1, 'Unterminated template literal'],
  ['let a: {b: string', 1, 'Unexpected end of input'],
  ['let a: (b>)', 1, "Unexpected token '"],
];

function check(code) {
  const out = strip(code);
  const lines = (text) => text.split('\n').map((line) => line.length).join();

  ok(lines(out) === lines(code), `${code}: each line is as long`, out);
  try {
    new Script(`(async function* () {${out}\n})`);
  } catch (e) {
    // No function contains these.
    if (!/yield|new\.target/.test(code))
      ok(false, `${code}: what is left is JavaScript`, [out, e.message]);
  }
  return out;
}

for (const [code, left] of stripped) {
  const out = check(code).replace(/ +/g, ' ');
  ok(out.trim() === left.trim(), code, [out, left]);
}
for (const code of same)
  ok(check(code) === code, code, strip(code));
for (const [code, line, reason] of refused) {
  let e = {message: 'nothing'};
  try {
    strip(code);
  } catch (error) {
    e = error;
  }
  ok(e.line === line && e.message.includes(reason), `${code}: ${reason}`,
    [e.line, e.message]);
}
// Time grows with the length, whatever is nested.
for (const code of ['('.repeat(900) + 'a' + ')'.repeat(900),
  '(a=('.repeat(300) + '1' + '))'.repeat(300),
  'a?(b):'.repeat(300) + 'c', 'a?(b?'.repeat(20) + 'c' + ':d):e'.repeat(20),
  'a<'.repeat(500) + 'b', 'let a: ' + 'A<'.repeat(500) + 'B' + '>'.repeat(500)]) {
  strip(code); // or the test's own limit ends it
  ok(true, `${code.slice(0, 12)}...: it ends`);
}
console.log(`1..${count}`);
