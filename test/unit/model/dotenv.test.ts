/** A file of variables says the same to setpoint, docker compose and a shell, or its line is named. */
import { describe, expect, it } from 'vitest';
import { isDotenvProblem, parseDotenv } from '../../../src/reconciler/model/dotenv.ts';

function valueOf(text: string, env: Readonly<Record<string, string>> = {}): string | null | number {
  const values = new Map<string, string>();
  const read = parseDotenv(
    text,
    (name) => env[name] ?? values.get(name),
    (name, value) => values.set(name, value),
  );
  return isDotenvProblem(read) ? read.line : (values.get('V') ?? null);
}

describe('a value', () => {
  it.each([
    ['V=abc', 'abc'],
    ['V=', ''],
    ['V=""', ''],
    ['  V = abc  ', 'abc'],
    ['export V=abc', 'abc'],
    ['\uFEFFV=abc\r\n', 'abc'],
    ['V=abc#def', 'abc#def'],
    ['V=#abc', '#abc'],
    ['V=abc # a comment', 'abc'],
    ['V= # a comment', ''],
    ['V="abc" # "x"', 'abc'],
    ['V="abc # def"', 'abc # def'],
    ["V='abc # def' #", 'abc # def'],
    ['V=a=b==', 'a=b=='],
    ["V=it's", "it's"],
    ['V=C:\\new', 'C:\\new'],
    ['V="a\\"b"', 'a"b'],
    ['V="a\\\\"', 'a\\'],
    ['V="a\\nb\\tc\\d"', 'a\nb\tc\\d'],
    ["V='a\\nb'", 'a\\nb'],
    ['V=`a"b\'c`', 'a"b\'c'],
    ['V="-----BEGIN K-----\nabc\n-----END K-----"\nW=1', '-----BEGIN K-----\nabc\n-----END K-----'],
    ["V='a\n# b\nW=c'", 'a\n# b\nW=c'],
    ['V=first\nV=second', 'second'],
    ['# V=no\n\n \nV=abc', 'abc'],
    ['export OTHER\nexport A B\nV=abc', 'abc'],
    ['V=pa$word$$', 'pa$word$$'],
    ['A=x\nV=${A}', 'x'],
    ['V="-${A:-d}-"', '-d-'],
    ["A=x\nV='${A}'", '${A}'],
    ['A=x\nV="\\${A}"', '${A}'],
    ['B=x\nV=${A:-${B}}', 'x'],
    ['A=1\nV=${A:+set}${B:+not}', 'set'],
    ['V=a${A}b', 'ab'],
    ['V=${A', '${A'],
  ])('%j is %j', (text, value) => {
    expect(valueOf(text)).toBe(value);
  });

  it('of the environment holds, and is not expanded itself', () => {
    expect(valueOf('A=x\nV=${A}', { A: '${B}' })).toBe('${B}');
  });
});

describe('a line that is not understood', () => {
  it.each([
    ['V="abc"def', 1],
    ['W=1\nV="abc\nX=2', 2],
    ["V='abc", 1],
    ['V=-----BEGIN K-----\nabc\n-----END K-----', 1],
    ['W=1\nabc\nV=1', 2],
    ['```\nV=abc\n```', 1],
    ['[prod]\nV=abc', 1],
    ['V=1\nNAME: value', 2],
    ['V={\n  "a": 1\n}', 2],
    ['W="a\nb"\n=x', 3],
    ['1V=abc', 1],
    ['set -a\nV=1', 1],
  ])('%j: its number', (text, line) => {
    expect(valueOf(text)).toBe(line);
  });
});
