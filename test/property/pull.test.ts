import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Json } from '../../src/reconciler/model/value.ts';
import type { PullDocument } from '../../src/reconciler/model/documents.gen.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { pull, type PullRun } from '../../src/reconciler/operations/pull.ts';
import { validate } from '../../src/reconciler/operations/validate.ts';
import { formatPulled } from '../../src/reconciler/render/pulled-text.ts';
import {
  anySemantics,
  ENVIRONMENT,
  leaks,
  sparseSettings,
  storedRecord,
} from '../fixture/arbitrary.ts';
import { folderWith } from '../fixture/command.ts';
import { hand, writer } from '../fixture/hand-written.ts';
import { quickClock } from '../fixture/settings.ts';
import { startStore, type JsonRecord, type StoreServer } from '../fixture/store-server.ts';
import { itHolds } from '../fixture/property-runs.ts';
import { omitDoubtful } from '../fixture/omit-doubtful.ts';

const STYLE = { color: false, width: null, verbose: true };

/** Which of the variables that files read are set. */
const environment = fc
  .subarray(Object.keys(ENVIRONMENT) as (keyof typeof ENVIRONMENT)[])
  .map((names) => Object.fromEntries(names.map((name) => [name, ENVIRONMENT[name]])));

/** What a file leaves unmanaged: fields, a whole config, a list, an entry. */
const unmanaged = fc.subarray([
  'language',
  'git_user_name',
  'mcp_config.stdio_servers',
  'mcp_config.sse_servers[https://a.example.com/sse]',
  'mcp_config.shttp_servers[https://a.example.com]',
]);

/** Secrets of a store that no file may hold, those that are long enough to be unmistakable. */
function secretsOf(stored: JsonRecord): string[] {
  const found: string[] = [];
  const visit = (value: Json, name: string): void => {
    if (typeof value === 'string' && /api_key|TOKEN/.test(name) && value.length > 11)
      found.push(value);
    if (Array.isArray(value)) value.forEach((item: Json) => visit(item, name));
    else if (typeof value === 'object' && value !== null)
      Object.entries(value).forEach(([key, member]) => visit(member, key));
  };
  visit(stored, '');
  return found;
}

/** Whether a document reports of a target's path that it was left alone, or could not be compared. */
function isSaid({ environments }: PullDocument, target: string, path: readonly string[]): boolean {
  const { left = [], unknown = [] } = environments.find(({ name }) => name === target) ?? {};
  const within = (one: readonly string[], other: readonly string[]): boolean =>
    other.every((segment, index) => one[index] === segment);
  return [...left, ...unknown].some((one) => within(one.path, path) || within(path, one.path));
}

const comments = (text: string): string[] =>
  text.split(/\r?\n/).filter((line) => /^\s*#/.test(line));

async function pulledAndChecked(
  stores: readonly StoreServer[],
  written: string,
  env: Record<string, string>,
  more: Pick<PullRun, 'adopt' | 'targets'>,
): Promise<void> {
  const folder = folderWith({ 'settings.yaml': written });
  try {
    const asked = { file: join(folder.path, 'settings.yaml'), env, clock: quickClock(), ...more };
    const valid = await validate(asked);
    expect(omitDoubtful(valid.diagnostics)).toEqual([]);
    const document = await pull(asked);
    const text = readFileSync(asked.file, 'utf8');
    for (const { error } of document.environments) expect(error).toBeNull();
    expect(leaks(JSON.stringify(document) + formatPulled(document, STYLE))).toBe(false);
    for (const { stored } of stores)
      for (const secret of secretsOf(stored ?? {})) expect(text.includes(secret)).toBe(false);
    for (const value of Object.values(ENVIRONMENT)) expect(text.includes(value)).toBe(false);
    expect(omitDoubtful((await validate(asked)).diagnostics)).toEqual([]);
    const { environments } = await plan(asked);
    for (const { name, changes, error } of environments) {
      expect(error).toBeNull();
      for (const { path } of changes)
        expect([path, isSaid(document, name, path)]).toEqual([path, true]);
    }
    const { adopt: taken, ...rest } = asked;
    const again = await pull(taken === 'all' ? asked : rest);
    expect(again.files.every(({ status }) => status === 'unchanged')).toBe(true);
    expect(readFileSync(asked.file, 'utf8')).toBe(text);
    expect(stores.map((store) => store.posts())).toEqual(stores.map(() => 0));
    const top = comments(written).filter((line) => line.startsWith('#'));
    for (const line of top) expect(comments(text)).toContain(line);
  } finally {
    folder.remove();
  }
}

describe('pull, over real HTTP', () => {
  itHolds(
    'after it the plan is empty but for what was reported, and a second one changes nothing',
    20,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          storedRecord,
          sparseSettings,
          anySemantics,
          hand,
          environment,
          fc.tuple(fc.constantFrom(undefined, 'all' as const), unmanaged, fc.boolean()),
          async (stored, settings, semantics, how, env, [adopt, letGo, back]) => {
            const store = await startStore(semantics, structuredClone(stored));
            try {
              const written = writer(how)({
                version: 1,
                server: { url: store.url },
                settings,
                guards: { max_changes: 3 },
                unmanaged: letGo,
              });
              await pulledAndChecked([store], written, env, { adopt: back ? letGo : adopt });
            } finally {
              await store.close();
            }
          },
        ),
        { numRuns },
      );
    },
  );

  itHolds('with environments, all or one of them', 15, async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(storedRecord, storedRecord, fc.boolean()),
        fc.tuple(sparseSettings, sparseSettings, sparseSettings),
        anySemantics,
        hand,
        fc.tuple(
          fc.constantFrom(undefined, 'all' as const),
          fc.constantFrom<(string[] | undefined)[]>(undefined, ['a']),
        ),
        async ([first, second, same], [top, one, other], semantics, how, [adopt, targets]) => {
          const stores = [
            await startStore(semantics, structuredClone(first)),
            await startStore(semantics, structuredClone(same ? first : second)),
          ];
          try {
            const written = writer(how)({
              version: 1,
              settings: top,
              environments: {
                a: { server: { url: stores[0]?.url ?? '' }, settings: one },
                b: { server: { url: stores[1]?.url ?? '' }, settings: other },
              },
            });
            const folder = folderWith({ 'settings.yaml': written });
            const others = {
              file: join(folder.path, 'settings.yaml'),
              env: ENVIRONMENT,
              clock: quickClock(),
              targets: ['b'],
            };
            const before = JSON.stringify((await plan(others)).environments[0]?.changes);
            await pulledAndChecked(stores, written, ENVIRONMENT, { adopt, targets });
            if (targets !== undefined) {
              // What was not chosen is planned as before, places apart.
              await pull({ ...others, targets: ['a'], adopt });
              const places = /"source":(null|\{[^}]*\})/g;
              const after = JSON.stringify((await plan(others)).environments[0]?.changes);
              expect(after.replaceAll(places, '')).toBe(before.replaceAll(places, ''));
            }
            folder.remove();
          } finally {
            await Promise.all(stores.map((store) => store.close()));
          }
        },
      ),
      { numRuns },
    );
  });
});
