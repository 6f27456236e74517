import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { readTargets } from '../../src/reconciler/desired/target.ts';
import { resolveSettings } from '../../src/reconciler/desired/resolve.ts';
import { isWithin, type Path } from '../../src/reconciler/model/path.ts';
import { NOTHING_KNOWN, planSettings } from '../../src/reconciler/plan/plan-settings.ts';
import { decode } from '../../src/reconciler/service/json.ts';
import { readV0Record } from '../../src/reconciler/service/settings-v0/read.ts';
import type { ReferenceSource } from '../../src/reconciler/model/ports.ts';
import type { ObservedState } from '../../src/reconciler/model/state.ts';
import { itHolds } from '../fixture/property-runs.ts';
import { loaded, RECORDED, type Json, type JsonRecord } from '../fixture/store-server.ts';

/** The variables of the files: what each of them replaces. */
const VARIABLES: Readonly<Record<string, string>> = {
  HOST: 'h.example.com',
  URL: 'https://u.example.com/mcp',
  NAME: 'named',
  COMMAND: 'uvx',
  ARG: '--fast',
  KEY: 'key-one',
  OTHER: 'key-two',
  TEXT: 'text',
  COUNT: '40',
};

const filled: ReferenceSource = {
  variable: (name) => VARIABLES[name],
  file: () => ({ problem: 'none' }),
};
const empty: ReferenceSource = { variable: () => undefined, file: () => ({ problem: 'none' }) };

const key = fc.constantFrom('${env:KEY}', '${env:OTHER}', null);
const url = fc.constantFrom(
  'https://a.example.com/mcp',
  'https://b.example.com/mcp',
  'https://${env:HOST}/mcp',
  '${env:URL}',
);
const urlEntry = fc.record({ url, api_key: key }, { requiredKeys: ['url'] });
const stdioEntry = fc.record(
  {
    name: fc.constantFrom('files', 'git', '${env:NAME}'),
    command: fc.constantFrom('npx', 'sh', '${env:COMMAND}'),
    args: fc.array(fc.constantFrom('-c', 'run', '${env:ARG}', 'x ${env:ARG}'), { maxLength: 3 }),
    env: fc.dictionary(
      fc.constantFrom('TOKEN', 'API_KEY'),
      fc.constantFrom('${env:KEY}', '${env:OTHER}'),
    ),
  },
  { requiredKeys: ['name', 'command'] },
);
const some = <T extends { url?: string; name?: string }>(entry: fc.Arbitrary<T>) =>
  fc.uniqueArray(entry, { maxLength: 4, selector: (one) => one.url ?? one.name });
const settings = fc.record(
  {
    language: fc.constantFrom('en', '${env:TEXT}', 'a ${env:TEXT} b'),
    agent: fc.constantFrom('A', '${env:TEXT}'),
    max_iterations: fc.constantFrom(20, '${env:COUNT}'),
    llm_api_key: fc.constantFrom('${env:KEY}', '${env:OTHER}'),
    mcp_config: fc.record(
      {
        sse_servers: some(urlEntry),
        shttp_servers: some(urlEntry),
        stdio_servers: some(stdioEntry),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['mcp_config'] },
);

/** What the file declares with its references resolved, as a store has it. */
function resolved(value: Json): Json {
  if (typeof value === 'string')
    return value === '${env:COUNT}'
      ? 40
      : value.replaceAll(/\$\{env:(\w+)\}/g, (_, name: string) => VARIABLES[name] ?? '');
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one)]));
}

/** A store that holds one file's values, so that it often agrees with another file, and often does not. */
function observed(stored: JsonRecord): ObservedState {
  const body = Buffer.from(JSON.stringify(loaded(stored, RECORDED)));
  const decoded = decode(body);
  if (decoded.kind !== 'value') throw new Error('not JSON');
  const state = readV0Record('GET /api/settings', decoded.value);
  if (state instanceof Error) throw state;
  return state;
}

function planOf(file: JsonRecord, stored: JsonRecord, source: ReferenceSource) {
  const text = JSON.stringify({
    version: 1,
    server: { url: 'https://x.example.com' },
    settings: file,
  });
  const { targets, diagnostics } = readTargets(
    { path: 'settings.yaml', text, bases: [] },
    { serverGiven: false, several: false },
  );
  expect(diagnostics).toEqual([]);
  const [target] = targets;
  if (target === undefined) throw new Error('no target');
  return planSettings(resolveSettings(target, source), observed(stored), NOTHING_KNOWN);
}

function names(paths: readonly { readonly path: Path }[], path: Path): boolean {
  return paths.some((named) => isWithin(named.path, path));
}

const pairs = fc.tuple(settings, settings, fc.boolean()).map(([file, other, same]) => ({
  file: file as JsonRecord,
  stored: resolved((same ? file : other) as JsonRecord) as JsonRecord,
}));

describe('a plan without any of the variables', () => {
  itHolds('names every path that the plan with all of them names', 100, (numRuns) => {
    fc.assert(
      fc.property(pairs, ({ file, stored }) => {
        const full = planOf(file, stored, filled);
        const blind = planOf(file, stored, empty);
        for (const { path } of full.changes)
          expect(names([...blind.changes, ...blind.unknown], path), path.join(' ')).toBe(true);
      }),
      { numRuns },
    );
  });

  itHolds(
    'lists each missing reference by its own path, and no change that is none',
    100,
    (numRuns) => {
      fc.assert(
        fc.property(pairs, ({ file, stored }) => {
          const full = planOf(file, stored, filled);
          const blind = planOf(file, stored, empty);
          const hidden = (list: readonly JsonRecord[]) =>
            list.filter((entry) => JSON.stringify(entry['url'] ?? entry['name']).includes('${'))
              .length;
          const lists = Object.values(file['mcp_config'] as Record<string, JsonRecord[]>);
          // Of two entries that nothing is known of, one may be compared with the other's.
          if (full.changes.length === 0 && lists.every((list) => hidden(list) < 2))
            expect(blind.changes).toEqual([]);
          for (const { ref } of blind.unknown) expect(ref).toMatch(/\$\{env:/);
        }),
        { numRuns },
      );
    },
  );
});
