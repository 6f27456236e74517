import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The version of undici that scripts/build.mjs and the files that it names fit. Before another one is named here, read what they leave out. */
const VERSION = '7.30.2';

const undici = join(import.meta.dirname, '../../node_modules/undici');
/** What the command bundles of undici; what is in web/ is read from the package if it is needed. */
const FOLDERS = ['api', 'core', 'dispatcher', 'handler', 'interceptor', 'llhttp', 'util'];
const texts = FOLDERS.flatMap((folder) =>
  readdirSync(join(undici, 'lib', folder))
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(undici, 'lib', folder, name), 'utf8')),
);

/** What is read of a module of Node, wherever undici's own code names it. */
function membersOf(name: string, readers = texts): readonly string[] {
  const members = readers.flatMap((text) =>
    [...text.matchAll(new RegExp(`(?<!/)\\b${name}(?:\\.(\\w+)|\\()`, 'g'))].map(
      ([called, member]) => member ?? called,
    ),
  );
  return [...new Set(members)].toSorted();
}

it(`undici is the version that the build was written for, ${VERSION}`, () => {
  const { version } = JSON.parse(readFileSync(join(undici, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  expect(version).toBe(VERSION);
});

it('undici uses what the build replaces as the build supposes', () => {
  expect(membersOf('assert')).toEqual(['assert(']);
  expect(membersOf('http')).toEqual(['maxHeaderSize']);
  const parsers = texts.filter((text) => text.includes("require('../llhttp/constants.js')"));
  expect(parsers).toHaveLength(1);
  expect(membersOf('constants', parsers)).toEqual(['ERROR', 'TYPE']);
  expect(texts.join('\n')).toContain("try {\n  http2 = require('node:http2')\n} catch {");
});
