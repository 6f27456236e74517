import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filePlace, fingerprintStore } from '../../../src/reconciler/host/fingerprint-file.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';

const ADDRESS = 'https://agents.example.com/tenant-address';
const PATH = ['llm_api_key'];
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'setpoint-fingerprints-'));
  file = join(folder, '.setpoint/fingerprints.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const opened = (address = ADDRESS, key = 'state-key') =>
  fingerprintStore(filePlace(file), key, { origin: 'https://agents.example.com', address });
const remember = async (value: string | null, address = ADDRESS, key = 'state-key', path = PATH) =>
  (await opened(address, key)).remember(
    [{ path, value: value === null ? null : new Secret(value) }],
    0,
  );
const forget = async (address = ADDRESS, key = 'state-key', path = PATH) =>
  (await opened(address, key)).forget([path]);
const compare = async (value: string, address = ADDRESS, key = 'state-key', path = PATH) =>
  (await opened(address, key)).compare(path, value);

it('distinguishes the value last written from another, and knows nothing of what was not written', async () => {
  expect(await compare('one')).toBe('none');
  await remember('one');
  expect(await compare('one')).toBe('same');
  expect(await compare('two')).toBe('different');
  expect(await compare('one', 'https://elsewhere.example.com')).toBe('none');
  expect(await compare('one', ADDRESS, 'state-key', ['search_api_key'])).toBe('none');
  await remember('two');
  expect(await compare('one')).toBe('different');
  expect(await compare('two')).toBe('same');
});

it('forgets what was cleared', async () => {
  await remember('one');
  await remember(null);
  expect(await compare('one')).toBe('none');
});

it('keeps addresses and paths apart, also if they are written at once', async () => {
  await Promise.all([
    remember('a'),
    remember('b', 'https://other.example.com'),
    remember('c', ADDRESS, 'state-key', ['search_api_key']),
  ]);
  expect(await compare('a')).toBe('same');
  expect(await compare('b', 'https://other.example.com')).toBe('same');
  expect(await compare('c', ADDRESS, 'state-key', ['search_api_key'])).toBe('same');
});

it('keeps path prefixes of one origin apart, and the address out of the file', async () => {
  await remember('one', 'https://agents.example.com/staging');
  expect(await compare('one', 'https://agents.example.com/staging')).toBe('same');
  expect(await compare('one', 'https://agents.example.com/production')).toBe('none');
  expect(readFileSync(file, 'utf8')).not.toContain('staging');
});

it('two targets of one run that are one service see what the other has written', async () => {
  await remember('one');
  const other = await opened();
  await remember('two');
  expect(other.compare(PATH, 'one')).toBe('different');
  await forget();
  expect(other.compare(PATH, 'two')).toBe('none');
});

it('knows nothing of entries that name no address', async () => {
  await remember('one');
  const document = JSON.parse(readFileSync(file, 'utf8')) as { entries: { address?: string }[] };
  for (const entry of document.entries) delete entry.address;
  writeFileSync(file, JSON.stringify({ ...document, format_version: 1 }));
  expect(await compare('one')).toBe('none');
  await remember('one');
  expect(await compare('one')).toBe('same');
});

describe('what is forgotten before a write', () => {
  const other = 'https://agents.example.com/other';

  it('is gone from the file, and nothing else is', async () => {
    await remember('one');
    await remember('two', other);
    await remember('three', ADDRESS, 'state-key', ['search_api_key']);
    await forget();
    expect(await compare('one')).toBe('none');
    expect(await compare('two', other)).toBe('same');
    expect(await compare('three', ADDRESS, 'state-key', ['search_api_key'])).toBe('same');
  });

  it('makes no file', async () => {
    await forget();
    expect(() => statSync(file)).toThrow();
  });

  it('comes back when the write had no effect, unless another value was written since', async () => {
    await remember('one');
    const putBack = await forget();
    await putBack();
    expect(await compare('one')).toBe('same');
    const putBackLate = await forget();
    await remember('two');
    await putBackLate();
    expect(await compare('two')).toBe('same');
  });

  it.each(['', 'another'])(
    'under a key that cannot distinguish services (%j) is of every service',
    async (key) => {
      await remember('one');
      await remember('two', other);
      await remember('three', ADDRESS, 'state-key', ['search_api_key']);
      await forget(ADDRESS, key);
      expect(await compare('one')).toBe('none');
      expect(await compare('two', other)).toBe('none');
      expect(await compare('three', ADDRESS, 'state-key', ['search_api_key'])).toBe('same');
    },
  );

  it('stays forgotten while others write to the same file', async () => {
    const all = Array.from({ length: 8 }, (_, index) => `https://${index}.example.com`);
    for (const address of all) await remember('one', address);
    await Promise.all(
      all.map((address, index) => (index % 2 === 0 ? forget(address) : remember('two', address))),
    );
    for (const [index, address] of all.entries())
      expect(await compare('two', address)).toBe(index % 2 === 0 ? 'none' : 'same');
  });
});

it('without a key there is no file; under another key nothing is known', async () => {
  await remember('one', ADDRESS, '');
  expect(() => statSync(file)).toThrow();
  await remember('one');
  expect(await compare('one', ADDRESS, 'another')).toBe('none');
  expect(await compare('two', ADDRESS, 'another')).toBe('none');
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
  '{"written_by":"setpoint","format_version":2,"key_id":"x","entries":[1]}',
])('a file that is none of these is refused, and its text is not quoted: %j', async (text) => {
  await remember('one');
  writeFileSync(file, text);
  await expect(compare('one')).rejects.toMatchObject({ code: 'file-unreadable' });
  await expect(remember('two')).rejects.toMatchObject({ code: 'file-unreadable' });
  expect(readFileSync(file, 'utf8')).toBe(text);
});
