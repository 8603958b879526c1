// SPDX-License-Identifier: ISC
// Takes the types out of TypeScript: each becomes as many spaces, so that every
// line and column stays where it is. It reads the whole grammar of the language
// but keeps no tree; what it calls JavaScript, node checks afterwards. What is
// code and no type (enum, namespace, parameter properties) is refused with the
// reason. execute.cjs calls it in a process without rights.
'use strict';

const stripTypes = (() => {
  const WORD = /(?:[$_\p{ID_Start}]|\\u(?:[\da-fA-F]{4}|\{[\da-fA-F]+\}))(?:[$_\u200c\u200d\p{ID_Continue}]|\\u(?:[\da-fA-F]{4}|\{[\da-fA-F]+\}))*/uy;
  const NUMBER = /0[xXbBoO][\da-fA-F_]+n?|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?n?/y;
  const STRING = /'(?:[^'\\\n\r]|\\(?:\r\n|[^]))*'|"(?:[^"\\\n\r]|\\(?:\r\n|[^]))*"/y;
  const SPACE = /(?:\s|\ufeff|\/\/.*|\/\*[^]*?\*\/)+/y;
  const SIGN = />>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|[-+*/%&|^]=|<<|>>|\*\*|[{}()[\];,<>+\-*/%&|^!~?:=.@]/y;
  const ASSIGN = /^(?:[-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)?=$/;
  const BINARY = /^(?:[=!]==?|<=?|>=?|>>>?|<<|[-+*/%&|^]|\*\*|&&|\|\||\?\?)$/;
  const PREFIX = new Set(['!', '~', '+', '-', '++', '--', 'typeof', 'void',
    'delete', 'await', 'new']);
  const RESERVED = new Set(['break', 'case', 'catch', 'class', 'const',
    'continue', 'debugger', 'default', 'delete', 'do', 'else', 'enum', 'export',
    'extends', 'finally', 'for', 'function', 'if', 'import', 'in',
    'instanceof', 'new', 'return', 'super', 'switch', 'this', 'throw', 'try',
    'typeof', 'var', 'void', 'while', 'with']);
  const ACCESS = new Set(['public', 'private', 'protected', 'readonly',
    'override', 'abstract', 'declare']);
  const KEPT = new Set(['static', 'async', 'get', 'set', 'accessor']);
  const AMBIENT = new Set(['const', 'let', 'var', 'function', 'class',
    'abstract', 'async', 'type', 'interface', 'enum', 'namespace', 'module',
    'global']);

  let code, t, last; // the token that is next, and the end of the one before
  let edits, never; // spans to blank; places where no arrow function begins
  let heritage; // after "extends" of a class

  class Refused extends Error {
    constructor(text, at) {
      super(text);
      this.line = code.slice(0, at).split('\n').length;
    }
  }

  function fail(text) {
    throw new Refused(text ?? (t.kind === 'end' ? 'Unexpected end of input' :
      `Unexpected token '${t.text.slice(0, 40)}'`), t.start);
  }

  // ---- tokens

  function match(pattern, at) {
    pattern.lastIndex = at;
    const found = pattern.exec(code);
    return found === null ? '' : found[0];
  }

  function scan(at) {
    const space = match(SPACE, at);
    const start = at + space.length;
    const token = (kind, text) => ({kind, text, start,
      end: start + text.length, newline: /[\n\r\u2028\u2029]/.test(space)});
    const c = code[start];

    if (c === undefined)
      return token('end', '');
    if (c === '`')
      return token('template', c);
    if (c === '"' || c === '\'')
      return token('string', match(STRING, start) || c);
    let text;
    if (/[\d.]/.test(c) && (text = match(NUMBER, start)) !== '')
      return token('number', text);
    if ((text = match(WORD, start)) !== '')
      return token('word', text);
    if (c === '#' && (text = match(WORD, start + 1)) !== '')
      return token('private', c + text);
    if ((text = match(SIGN, start)) !== '')
      return token('sign', text);
    return token('odd', c); // within a template or a pattern, seen from before
  }

  function next() {
    last = t.end;
    t = scan(t.end);
  }

  const peek = () => scan(t.end);
  const is = (text) => t.text === text && t.kind === 'sign';
  const word = (text) => t.text === text && t.kind === 'word';
  const name = (token) => token.kind === 'word' && !RESERVED.has(token.text);

  function eat(text) {
    if (!is(text) && !word(text))
      fail();
    next();
  }

  function maybe(text) {
    const found = is(text) || word(text);
    if (found)
      next();
    return found;
  }

  // ---- what is taken out

  function blank(start, end, first = ' ') {
    edits.push({start, end, first});
  }

  // Erases a statement or member from `start`. A semicolon stays, lest the lines
  // around it become one.
  const erase = (start) => blank(start, last, ';');

  function apply() {
    const out = code.split('');

    for (const {start, end, first} of edits)
      for (let i = start; i < end; i++)
        if (!/[\n\r\u2028\u2029]/.test(out[i]))
          out[i] = i === start ? first : ' ';
    return out.join('');
  }

  // Runs `parse`; if it fails, or returns false, nothing has happened.
  function attempt(parse) {
    const was = [t, last, edits.length];

    try {
      if (parse() !== false)
        return true;
    } catch (e) {
      if (!(e instanceof Refused))
        throw e;
    }
    [t, last, edits.length] = was;
    return false;
  }

  // ---- types

  function template(inner) {
    let at = t.end;

    for (;;) {
      const c = code[at];
      if (c === undefined)
        fail('Unterminated template literal');
      if (c === '`')
        break;
      if (c === '\\') {
        at += 2;
      } else if (c === '$' && code[at + 1] === '{') {
        t = scan(at + 2);
        inner();
        if (!is('}'))
          fail();
        at = t.end;
      } else {
        at++;
      }
    }
    last = at + 1;
    t = scan(last);
  }

  // Skips a bracket of a type, with all that it contains.
  function bracket() {
    const open = [];

    do {
      if (t.kind === 'end')
        fail();
      if (t.kind === 'template') {
        template(type);
        continue;
      }
      if (t.kind === 'sign') {
        const at = '([{<'.indexOf(t.text);
        if (at !== -1)
          open.push(')]}>'[at]);
        else if (t.text === '<<')
          open.push('>', '>');
        else if (t.text[0] === '>') {
          closing();
          if (open.pop() !== '>')
            fail();
          continue;
        } else if (')]}'.includes(t.text) && open.pop() !== t.text)
          fail();
      }
      next();
    } while (open.length > 0);
  }

  // Takes one > of a token that may be >> or >=.
  function closing() {
    if (t.kind !== 'sign' || t.text[0] !== '>')
      fail();
    last = t.start + 1;
    t = scan(last);
  }

  const begins = (token) => !token.newline && (token.kind !== 'sign' ||
    '([{<-'.includes(token.text)) && token.kind !== 'end' &&
    !(token.kind === 'word' && ['extends', 'is', 'in'].includes(token.text));

  // Returns true if it was one in parentheses, which may be parameters.
  function operand(plain) {
    while (t.kind === 'word' && ['keyof', 'unique', 'readonly', 'typeof', 'new',
      'abstract', 'asserts', 'infer'].includes(t.text) && begins(peek())) {
      const infer = word('infer');
      next();
      if (infer) {
        next();
        if (word('extends'))
          attempt(() => {
            next();
            type(true);
            return plain || !is('?');
          });
        return false;
      }
    }
    if (is('<')) { // of a function
      bracket();
      if (!is('('))
        fail();
    }
    if (is('(')) {
      bracket();
      return true;
    }
    if (is('{') || is('[')) {
      bracket();
    } else if (t.kind === 'template') {
      template(type);
    } else {
      maybe('-');
      if (!['word', 'string', 'number'].includes(t.kind))
        fail();
      next();
      if (is('(') && code.slice(last - 6, last) === 'import')
        bracket();
    }
    return false;
  }

  // `plain`: a conditional type does not begin with it.
  function type(plain = false) {
    for (;;) {
      if (is('|') || is('&'))
        next();
      const round = operand(plain);
      if (round && is('=>')) {
        next();
        return type();
      }
      for (;;) {
        if (is('.')) {
          next();
          next();
        } else if ((is('<') || is('<<') || is('[')) && !t.newline) {
          bracket();
        } else {
          break;
        }
      }
      if (word('is') && !t.newline) {
        next();
        continue;
      }
      if (!plain && word('extends') && !t.newline) {
        next();
        type(true);
        eat('?');
        type();
        eat(':');
        continue;
      }
      if (!is('|') && !is('&'))
        return undefined;
    }
  }

  // Erases ": type".
  function annotation() {
    const start = t.start;

    if (!is(':'))
      return false;
    next();
    type();
    blank(start, last);
    return true;
  }

  function parameters() { // of a type
    const start = t.start;

    if (!is('<'))
      return;
    bracket();
    blank(start, last);
  }

  function optional() {
    if (is('?') || is('!')) {
      blank(t.start, t.end);
      next();
    }
  }

  // ---- patterns and functions

  function pattern() {
    if (is('{'))
      list('}', () => {
        if (maybe('...'))
          return pattern();
        key();
        if (maybe(':'))
          pattern();
        if (maybe('='))
          assign();
      });
    else if (is('['))
      list(']', () => {
        maybe('...');
        pattern();
        if (maybe('='))
          assign();
      });
    else if (name(t))
      next();
    else
      fail();
  }

  // Reads what is between brackets and separated by commas; holes are allowed.
  function list(end, item) {
    next();
    while (!is(end)) {
      if (!is(','))
        item();
      if (!is(end))
        eat(',');
    }
    next();
  }

  function key() {
    if (is('[')) {
      next();
      assign();
      eat(']');
    } else if (['word', 'string', 'number', 'private'].includes(t.kind)) {
      next();
    } else {
      fail();
    }
  }

  function arguments_() {
    if (!is('('))
      fail();
    list(')', () => {
      const after = peek();
      if (word('this') && after.text === ':') {
        const start = t.start;
        next();
        next();
        type();
        if (is(','))
          next();
        blank(start, last);
        if (!is(')'))
          one();
        return;
      }
      one();
    });

    function one() {
      const after = peek();
      if (t.kind === 'word' && ACCESS.has(t.text) && (name(after) ||
          after.text === '{' || after.text === '['))
        fail(`"${t.text}" makes a parameter a property, which is code and no ` +
          'type: assign it in the constructor');
      maybe('...');
      pattern();
      optional();
      annotation();
      if (maybe('='))
        assign();
    }
  }

  // Reads a function from its type parameters on. Returns false if it has no
  // body.
  function rest() {
    parameters();
    arguments_();
    annotation();
    if (!is('{'))
      return false;
    block();
    return true;
  }

  function arrowHead() {
    const angle = t.start;

    if (is('<')) {
      bracket();
      // A line may not end between "async" and the parenthesis.
      if (/\n/.test(code.slice(angle, t.start))) {
        blank(angle, last, '(');
        blank(t.start, t.end);
      } else {
        blank(angle, last);
      }
    }
    arguments_();
    const close = last - 1;
    const typed = is(':');
    if (typed) {
      next();
      type();
      blank(close + 1, last);
      if (/\n/.test(code.slice(close, t.start)))
        joined(close);
    }
    if (!is('=>'))
      fail();
    next();
    return typed;
  }

  // Moves the parenthesis of an arrow function onto the line of its arrow, which
  // is next, or the arrow onto that of the parenthesis.
  function joined(close) {
    if (!t.newline) {
      blank(close, close + 1);
      blank(last - 1, last, ')');
    } else if (/[ \t]/.test(code[t.start - 1])) {
      blank(close, close + 1);
      blank(t.start - 1, t.start, ')');
    } else if (!/\n/.test(code.slice(close, close + 3))) {
      blank(close + 1, close + 2, '=');
      blank(close + 2, close + 3, '>');
      blank(t.start, t.end);
    } else {
      fail('Put the arrow onto the line on which its type ends');
    }
  }

  function body(noIn) {
    if (is('{'))
      block();
    else
      assign(noIn);
  }

  // Reads an arrow function, if there is one. `choice`: between ? and :, where
  // "(a): b => c" is one only if another : follows.
  function arrow(noIn, choice) {
    let after = peek();

    if (name(t) && after.text === '=>') {
      next();
      next();
      body(noIn);
      return true;
    }
    const async = word('async') && !after.newline;
    if (async && name(after) && scan(after.end).text === '=>') {
      next();
      next();
      next();
      body(noIn);
      return true;
    }
    const at = async ? after : t;
    if (at.kind !== 'sign' || (at.text !== '(' && at.text !== '<') ||
        never.has(at.start))
      return false;
    let typed;
    const found = attempt(() => {
      if (async)
        next();
      typed = arrowHead();
      if (!typed || !choice)
        return true;
      body(noIn);
      return is(':');
    });
    if (!found)
      never.add(at.start);
    else if (!typed || !choice)
      body(noIn);
    return found;
  }

  // ---- expressions

  const starts = () => t.kind !== 'end' && t.kind !== 'odd' && (t.kind !== 'sign' ||
    ['(', '[', '{', '+', '-', '!', '~', '++', '--', '/', '/=', '<'].includes(
      t.text)) && !(t.kind === 'word' && ['in', 'instanceof', 'of', 'as',
    'satisfies'].includes(t.text));

  function expression(noIn = false) {
    do
      assign(noIn);
    while (maybe(','));
  }

  // Erases "as T" and "satisfies T".
  function cast() {
    const start = t.start;

    next();
    if (!maybe('const'))
      type();
    // The next line would go on with the expression.
    blank(start, last, t.newline && (is('(') || is('[') ||
      t.kind === 'template') ? ';' : ' ');
  }

  function assign(noIn = false, choice = false) {
    if (arrow(noIn, choice))
      return;
    if (word('yield')) {
      next();
      if (!t.newline && (is('*') || starts())) {
        maybe('*');
        assign(noIn);
      }
      return;
    }
    unary();
    for (;;) {
      if (t.kind === 'word' && !t.newline &&
          (word('as') || word('satisfies'))) {
        cast();
      } else if (is('?')) {
        next();
        assign(false, true);
        eat(':');
        assign(noIn, choice);
        return;
      } else if (t.kind === 'sign' && ASSIGN.test(t.text)) {
        next();
        assign(noIn, choice);
        return;
      } else if ((t.kind === 'sign' && BINARY.test(t.text)) ||
          word('instanceof') || (word('in') && !noIn)) {
        next();
        unary();
      } else {
        return;
      }
    }
  }

  function unary() {
    while (t.kind !== 'string' && PREFIX.has(t.text)) {
      next();
      if (is('.') && code.slice(last - 3, last) === 'new')
        break; // new.target
    }
    if (is('<')) {
      const start = t.start;
      next();
      type();
      closing();
      blank(start, last);
      return unary();
    }
    if (!is('.'))
      primary();
    for (;;) {
      if (is('.') || is('?.')) {
        next();
        if (t.kind === 'word' || t.kind === 'private')
          next();
        else if (!is('(') && !is('[') && !is('<') && t.kind !== 'template')
          fail();
      } else if (is('(')) {
        list(')', spread);
      } else if (is('[')) {
        next();
        expression();
        eat(']');
      } else if (t.kind === 'template') {
        template(expression);
      } else if (is('!') && !t.newline) {
        optional();
      } else if ((is('++') || is('--')) && !t.newline) {
        next();
      } else if (!is('<') || !attempt(typed)) {
        return undefined;
      }
    }
  }

  // Erases the type arguments of a call, if they are some.
  function typed() {
    const start = t.start;

    next();
    for (;;) {
      type();
      if (!is(','))
        break;
      next();
    }
    closing();
    if (is('<') || is('>') || is('+') || is('-'))
      return false;
    if (!is('(') && t.kind !== 'template' && !t.newline && starts() &&
        !(heritage && (is('{') || word('implements'))))
      return false;
    blank(start, last);
    return true;
  }

  function spread() {
    maybe('...');
    assign();
  }

  function regexp() {
    let at = t.start + 1;

    for (let inside = false; inside || code[at] !== '/'; at++) {
      if (code[at] === undefined || code[at] === '\n')
        fail('Invalid regular expression: missing /');
      if (code[at] === '\\')
        at++;
      else if (code[at] === '[')
        inside = true;
      else if (code[at] === ']')
        inside = false;
    }
    last = at + 1 + match(/[A-Za-z]*/y, at + 1).length;
    t = scan(last);
  }

  function primary() {
    const inner = heritage;

    heritage = false;
    if (t.kind === 'template') {
      template(expression);
    } else if (is('(')) {
      next();
      expression();
      eat(')');
    } else if (is('[')) {
      list(']', spread);
    } else if (is('{')) {
      list('}', property);
    } else if (is('/') || is('/=')) {
      regexp();
    } else if (word('function') ||
        (word('async') && peek().text === 'function' && !peek().newline)) {
      callable();
    } else if (word('class')) {
      classLike();
    } else if (is('@')) {
      fail('there are no decorators here');
    } else if (['sign', 'end', 'odd'].includes(t.kind) || (RESERVED.has(t.text) &&
        !['this', 'super', 'import'].includes(t.text))) {
      fail();
    } else {
      next();
    }
    heritage = inner;
  }

  function callable() {
    maybe('async');
    eat('function');
    maybe('*');
    if (name(t))
      next();
    return rest();
  }

  // Does a name follow this word, so that it is a modifier?
  function modifies() {
    const after = peek();
    return after.kind !== 'end' && (after.kind !== 'sign' ||
      after.text === '[' || after.text === '*' || after.text === '{') &&
      after.kind !== 'template';
  }

  function property() {
    if (maybe('...'))
      return assign();
    while (KEPT.has(t.text) && t.kind === 'word' && modifies())
      next();
    maybe('*');
    key();
    if (is('(') || is('<')) {
      if (!rest())
        fail();
    } else if (maybe(':') || maybe('=')) {
      assign();
    }
    return undefined;
  }

  // ---- classes

  function classLike() {
    eat('class');
    if (name(t) && !word('implements'))
      next();
    parameters();
    if (maybe('extends')) {
      heritage = true;
      unary();
      heritage = false;
    }
    if (word('implements')) {
      const start = t.start;
      do {
        next();
        type();
      } while (is(','));
      blank(start, last);
    }
    eat('{');
    while (!is('}'))
      member();
    next();
  }

  function member() {
    const start = t.start;
    let gone = false;

    if (maybe(';'))
      return;
    while (t.kind === 'word' && (ACCESS.has(t.text) || KEPT.has(t.text)) &&
        modifies()) {
      if (word('static') && peek().text === '{') {
        next();
        return block();
      }
      gone ||= word('abstract') || word('declare');
      if (ACCESS.has(t.text))
        blank(t.start, t.end, t.start === start ? ';' : ' ');
      next();
    }
    if (is('[') && name(peek()) && scan(peek().end).text === ':') {
      bracket();
      eat(':');
      type();
      gone = true;
    } else {
      maybe('*');
      key();
      optional();
      if (is('(') || is('<')) {
        if (rest())
          return;
        gone = true;
      } else {
        annotation();
        if (maybe('='))
          assign();
      }
    }
    semicolon();
    if (gone)
      erase(start);
  }

  // ---- statements

  function semicolon() {
    if (!maybe(';') && !is('}') && t.kind !== 'end' && !t.newline)
      fail();
  }

  function block() {
    eat('{');
    while (!is('}'))
      statement();
    next();
  }

  function declarations(noIn) {
    next();
    do {
      pattern();
      optional();
      annotation();
      if (maybe('='))
        assign(noIn);
    } while (maybe(','));
  }

  function head() {
    eat('(');
    expression();
    eat(')');
  }

  function loop() {
    next();
    maybe('await');
    eat('(');
    if (word('var') || word('const') || (word('let') &&
        (name(peek()) || '[{'.includes(peek().text))))
      declarations(true);
    else if (!is(';'))
      expression(true);
    if (maybe('of') || maybe('in')) {
      expression();
    } else {
      eat(';');
      if (!is(';'))
        expression();
      eat(';');
      if (!is(')'))
        expression();
    }
    eat(')');
    statement();
  }

  function branches() {
    next();
    head();
    eat('{');
    while (!maybe('}')) {
      if (maybe('case'))
        expression();
      else
        eat('default');
      eat(':');
      while (!is('}') && !word('case') && !word('default'))
        statement();
    }
  }

  function trial() {
    next();
    block();
    if (maybe('catch')) {
      if (maybe('(')) {
        pattern();
        annotation();
        eat(')');
      }
      block();
    }
    if (maybe('finally'))
      block();
  }

  function alias(start) {
    next();
    next();
    if (is('<'))
      bracket();
    eat('=');
    type();
    semicolon();
    erase(start);
  }

  function face(start) {
    next();
    next();
    if (is('<'))
      bracket();
    if (maybe('extends'))
      do
        type();
      while (maybe(','));
    bracket();
    erase(start);
  }

  // Something that exists elsewhere, as the program says.
  function ambient(start) {
    next();
    if (['enum', 'namespace', 'module', 'global'].includes(t.text)) {
      while (!is('{'))
        next();
      bracket();
    } else {
      statement();
    }
    erase(start);
  }

  const words = {
    var: () => (declarations(), semicolon()),
    const() {
      if (peek().text === 'enum')
        next(), words.enum();
      declarations();
      semicolon();
    },
    function() {
      const start = t.start;
      if (callable())
        return;
      semicolon();
      erase(start); // one of several signatures
    },
    class: classLike,
    if() {
      next();
      head();
      statement();
      if (maybe('else'))
        statement();
    },
    while() {
      next();
      head();
      statement();
    },
    do() {
      next();
      statement();
      eat('while');
      head();
      maybe(';');
    },
    for: loop,
    switch: branches,
    try: trial,
    return() {
      next();
      if (!is(';') && !is('}') && t.kind !== 'end' && !t.newline)
        expression();
      semicolon();
    },
    throw() {
      next();
      expression();
      semicolon();
    },
    break() {
      next();
      if (!t.newline && name(t))
        next();
      semicolon();
    },
    debugger() {
      next();
      semicolon();
    },
    enum() {
      fail('an enum is code and no type: use a const object');
    },
    export() {
      fail('there is no export: use return');
    },
  };
  words.continue = words.break;

  // Reads a statement that begins with a word which is none of the language's.
  function soft() {
    const start = t.start;
    const after = peek();
    const near = !after.newline;

    if (word('let') && (name(after) || '[{'.includes(after.text)))
      words.var();
    else if (word('async') && near && after.text === 'function')
      words.function();
    else if (word('abstract') && near && after.text === 'class') {
      blank(t.start, t.end);
      next();
      classLike();
    } else if (word('type') && near && name(after) &&
        '=<'.includes(scan(after.end).text))
      alias(start);
    else if (word('interface') && near && name(after))
      face(start);
    else if (word('declare') && near && AMBIENT.has(after.text))
      ambient(start);
    else if ((word('namespace') || word('module')) && near && name(after))
      fail(`a ${t.text} is code and no type: use an object`);
    else if (word('import') && after.text !== '(' && after.text !== '.')
      fail('there is no import: the program has its tools and the language ' +
        'only');
    else if (name(t) && after.text === ':') {
      next();
      next();
      statement();
    } else
      return false;
    return true;
  }

  function statement() {
    if (is('{'))
      return block();
    if (maybe(';'))
      return undefined;
    if (t.kind === 'word') {
      if (Object.hasOwn(words, t.text))
        return words[t.text]();
      if (soft())
        return undefined;
    }
    expression();
    return semicolon();
  }

  return (text) => {
    code = text;
    edits = [];
    never = new Set();
    heritage = false;
    last = 0;
    t = scan(0);
    while (t.kind !== 'end')
      statement();
    return apply();
  };
})();
