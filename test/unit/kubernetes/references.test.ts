import { describe, expect, it } from 'vitest';
import {
  findTextProblems,
  readSettingsTarget,
} from '../../../src/reconciler/kubernetes/read-target.ts';
import { findTextReferences } from '../../../src/reconciler/kubernetes/texts.ts';
import { DATA } from '../../../src/reconciler/kubernetes/spec.ts';
import type { SettingsTarget } from '../../../src/reconciler/kubernetes/settings-target.ts';
import type { Value, ValueRecord } from '../../../src/reconciler/model/value.ts';
import {
  REFERENCES,
  textPlaces,
  withText,
  type TextPlace,
} from '../../fixture/definition-texts.ts';

const SPEC = {
  server: { url: 'https://agents.example.com' },
  mode: 'Observe',
  settings: {},
};
const metadata = { name: 'production', namespace: 'agents' };

const objectWith = (place: TextPlace, text: string): SettingsTarget =>
  ({
    metadata,
    spec: withText(SPEC, place, text),
  }) as unknown as SettingsTarget;

const FROM = {
  metadata,
  spec: {
    server: SPEC.server,
    mode: 'Observe',
    settingsFrom: {
      configMapKeyRef: { name: 'settings', key: 'settings.yaml' },
    },
  },
} as unknown as SettingsTarget;

const BARE: Value = { version: 1 };
const PLACES = textPlaces('SettingsTarget');
const IN_A_FILE = PLACES.filter(([block = '']) => (DATA as readonly string[]).includes(block));

it('the definition has the texts that are tried below', () => {
  expect(PLACES.length).toBeGreaterThan(250);
  expect(IN_A_FILE.length).toBeGreaterThan(220);
  expect(PLACES).toContainEqual(['server', 'url']);
  expect(PLACES).toContainEqual(['valuesFrom', '0', 'secretKeyRef', 'name']);
});

describe.each(Object.entries(REFERENCES))('a reference (%s)', (_, text) => {
  it('is refused at each text of a SettingsTarget, with its place', () => {
    for (const place of PLACES) {
      const { target, diagnostics } = readSettingsTarget(objectWith(place, text));
      expect([place, target]).toEqual([place, null]);
      expect(diagnostics.map(({ code, path }) => [code, path])).toEqual([['bad-reference', place]]);
    }
  });

  it('is refused in each text of a ConfigMap, with its place', () => {
    // All of them in one file: each is reported.
    const file = IN_A_FILE.reduce<Value>((made, place) => withText(made, place, text), BARE);
    const { target, diagnostics } = readSettingsTarget(FROM, { settings: JSON.stringify(file) });
    expect(target).toBe(null);
    const at = new Set(diagnostics.map(({ path }) => path.join(' ')));
    expect(IN_A_FILE.filter((place) => !at.has(place.join(' ')))).toEqual([]);
    expect(new Set(diagnostics.map((one) => one.file))).toEqual(
      new Set(['ConfigMap settings, key settings.yaml']),
    );
  });

  it('is refused in what a file has besides its settings', () => {
    for (const block of [
      { server: { url: SPEC.server.url, api_key: text } },
      { server: { url: `${SPEC.server.url}/${text}` } },
      { name: text },
      { labels: { ring: text } },
      { guards: { max_changes: text } },
      { watch: { interval: text } },
      { kubernetes: { secret: text } },
      {
        environments: {
          production: { settings: {} },
          other: { settings: { language: text } },
        },
      },
      {
        settings: {
          mcp_config: {
            stdio_servers: [{ name: 'a', command: 'b', args: text }],
          },
        },
      },
    ]) {
      const settings = JSON.stringify({ version: 1, settings: {}, ...block });
      const { target, diagnostics } = readSettingsTarget(FROM, { settings });
      expect([block, target]).toEqual([block, null]);
      expect(diagnostics.length).toBeGreaterThan(0);
    }
  });

  it('is refused as a key', () => {
    for (const block of ['secrets', 'mcp_servers', 'native', 'llm_profiles']) {
      const spec = { ...SPEC, [block]: { [text]: {} } };
      expect(findTextProblems({ metadata, spec } as unknown as SettingsTarget)).toHaveLength(1);
    }
    const settings = JSON.stringify({
      version: 1,
      secrets: { [text]: { description: 'x' } },
    });
    expect(readSettingsTarget(FROM, { settings }).target).toBe(null);
  });

  it('is found in each text of a SettingsPolicy', () => {
    const places = textPlaces('SettingsPolicy');
    expect(places.length).toBeGreaterThan(5);
    for (const place of places)
      expect(findTextReferences(withText({}, place, text) as ValueRecord, [])).toEqual([place]);
  });
});

it('an escape is text', () => {
  for (const [text, stored] of [
    ['$${env:HOME}', '${env:HOME}'],
    ['$$${env:HOME}', '$${env:HOME}'],
    ['$', '$'],
    ['{HOME}', '{HOME}'],
  ]) {
    const { target } = readSettingsTarget(objectWith(['settings', 'git_user_name'], text ?? ''));
    expect([text, target === null, stored]).toEqual([text, false, stored]);
  }
});

it.each([
  ['embedded:', 'embedded:/tmp/store'],
  ['file:', 'file:///etc/passwd'],
  ['no scheme', 'agents.example.com'],
  ['a query', 'https://agents.example.com?x=1'],
  ['nothing', ''],
])('an address is refused that is none: %s', (_, url) => {
  const { target, diagnostics } = readSettingsTarget(objectWith(['server', 'url'], url));
  expect(target).toBe(null);
  expect(diagnostics.map(({ path }) => path)).toEqual([['server', 'url']]);
});
