import { expect, it } from 'vitest';
import { resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import { problems, source, target } from './reading.ts';

const HEAD = 'version: 1\nserver: { url: https://agents.example.com }\n';
const GITHUB = '{ github: { token: "${env:A}" } }';

function itemsOf(text: string, name: string) {
  const { items } = resolveSettings(target(HEAD + text, name), source({ A: 'a', B: 'b' }));
  return Object.fromEntries(
    [...items].map(([block, all]) => [block, all.map((one) => one.values)]),
  );
}

it('what the specification spells in secrets_store is the block of it, in every layer', () => {
  const text = `settings: { language: en, secrets_store: { provider_tokens: ${GITHUB} } }
environments:
  a: { settings: { secrets_store: { custom_secrets: { X: "\${env:B}" } } } }
  b: { settings: { secrets_store: { provider_tokens: { github: null } } } }
`;
  expect(Object.keys(itemsOf(text, 'a'))).toEqual(['secrets', 'git_providers']);
  expect(itemsOf(text, 'a')['secrets']).toMatchObject([[{ path: ['secrets', 'X'] }]]);
  expect(itemsOf(text, 'b')).toEqual({
    git_providers: [[{ path: ['git_providers', 'github'], value: null }]],
  });
});

it('unmanaged by that name it is declared by neither', () => {
  const text = `git_providers: ${GITHUB}\nenvironments: { a: { unmanaged: [secrets_store] }, b: {} }\n`;
  expect(Object.keys(itemsOf(text, 'a'))).toEqual([]);
  expect(Object.keys(itemsOf(text, 'b'))).toEqual(['git_providers']);
});

it('both spellings in one file are an error at both places, wherever in the file', () => {
  const store = `settings: { secrets_store: { provider_tokens: ${GITHUB} } }`;
  expect(problems(`${HEAD}${store}\ngit_providers: ${GITHUB}\n`)).toEqual([
    '3:30 declared-twice',
    '4:1 declared-twice',
  ]);
  const environments = `environments: { a: { git_providers: ${GITHUB} } }`;
  expect(problems(`${HEAD}${store}\n${environments}\n`)).toEqual([
    '3:30 declared-twice',
    '4:22 declared-twice',
  ]);
  expect(problems(`${HEAD}${store}\nsecrets: { X: "\${env:B}" }\n`)).toEqual([]);
});

it('names that no service has are found in either', () => {
  const store =
    'settings: { secrets_store: { provider_tokens: { GitHub: { token: "${env:A}" } } } }';
  expect(problems(`${HEAD}${store}\n`)).toEqual(['3:49 bad-value']);
  expect(problems(`${HEAD}git_providers: { GitHub: { token: "\${env:A}" } }\n`)).toEqual([
    '3:18 bad-value',
  ]);
});
