import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fingerprintFile } from '../../../src/host/fingerprint-file.ts';
import { Secret } from '../../../src/model/secret.ts';

const ORIGIN = 'https://agents.example.com';
const PATH = ['llm_api_key'];
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'setpoint-fingerprints-'));
  file = join(folder, '.setpoint/fingerprints.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const remember = async (value: string | null, origin = ORIGIN, key = 'state-key', path = PATH) =>
  (await fingerprintFile(file, key, origin)).remember(
    [{ path, value: value === null ? null : new Secret(value) }],
    0,
  );
const compare = async (value: string, origin = ORIGIN, key = 'state-key', path = PATH) =>
  (await fingerprintFile(file, key, origin)).compare(path, value);

it('tells the value last written from another, and knows nothing of what was not written', async () => {
  expect(await compare('one')).toBe('none');
  await remember('one');
  expect(await compare('one')).toBe('same');
  expect(await compare('two')).toBe('different');
  expect(await compare('one', 'https://elsewhere.example.com')).toBe('none');
  expect(await compare('one', ORIGIN, 'state-key', ['search_api_key'])).toBe('none');
  await remember('two');
  expect(await compare('one')).toBe('different');
  expect(await compare('two')).toBe('same');
});

it('forgets what was cleared', async () => {
  await remember('one');
  await remember(null);
  expect(await compare('one')).toBe('none');
});

it('keeps origins and paths apart, also where they are written at once', async () => {
  await Promise.all([
    remember('a'),
    remember('b', 'https://other.example.com'),
    remember('c', ORIGIN, 'state-key', ['search_api_key']),
  ]);
  expect(await compare('a')).toBe('same');
  expect(await compare('b', 'https://other.example.com')).toBe('same');
  expect(await compare('c', ORIGIN, 'state-key', ['search_api_key'])).toBe('same');
});

it('without a key there is no file; under another key nothing is known', async () => {
  await remember('one', ORIGIN, '');
  expect(() => statSync(file)).toThrow();
  await remember('one');
  expect(await compare('one', ORIGIN, 'another')).toBe('none');
  expect(await compare('two', ORIGIN, 'another')).toBe('none');
});

it('is mode 0600, in a folder of mode 0700', async () => {
  await remember('one');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, '.setpoint')).mode & 0o777).toBe(0o700);
});

it.each([
  '',
  '{',
  '{"written_by":"other"}',
  '{"written_by":"setpoint","format_version":1,"key_id":"x","entries":[1]}',
])('a file that is none of these is refused, and its text is not quoted: %j', async (text) => {
  await remember('one');
  writeFileSync(file, text);
  await expect(compare('one')).rejects.toMatchObject({ code: 'file-unreadable' });
  await expect(remember('two')).rejects.toMatchObject({ code: 'file-unreadable' });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

it('never holds eight bytes of a secret, in any encoding', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 8, maxLength: 40 }), async (secret) => {
      await remember(secret);
      const text = readFileSync(file, 'utf8');
      const bytes = Buffer.from(secret);
      for (const form of [
        secret,
        ...(['base64', 'base64url', 'hex', 'latin1'] as const).map((encoding) =>
          bytes.toString(encoding),
        ),
      ])
        for (let at = 0; at + 8 <= form.length; at += 1)
          expect(
            KNOWN.includes(form.slice(at, at + 8)) || !text.includes(form.slice(at, at + 8)),
          ).toBe(true);
    }),
    { numRuns: 100 },
  );
});

/** What stands in every such file, so that a secret made of it proves nothing. */
const KNOWN = `written_by setpoint format_version key_id entries origin path llm_api_key hmac written_at ${ORIGIN} 1970-01-01T00:00:00.000Z                `;
