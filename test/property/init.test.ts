import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Json } from '../../src/reconciler/model/value.ts';
import type { NewVariable } from '../../src/reconciler/model/documents.gen.ts';
import { init } from '../../src/reconciler/operations/init.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { validate } from '../../src/reconciler/operations/validate.ts';
import { initText } from '../../src/reconciler/render/pulled-text.ts';
import {
  anySemantics,
  ENVIRONMENT,
  leaks,
  sparseSettings,
  storedRecord,
} from '../fixture/arbitrary.ts';
import { folderWith } from '../fixture/command.ts';
import { quickClock } from '../fixture/settings.ts';
import { startStore, type JsonRecord } from '../fixture/store-server.ts';
import { itHolds } from '../fixture/property-runs.ts';
import { omitDoubtful } from '../fixture/omit-doubtful.ts';

const STYLE = { color: false, width: null, verbose: true };
const KEY = { SETPOINT_API_KEY: ENVIRONMENT.SETPOINT_API_KEY };

/** What a store has under the path of a variable; undefined for arguments, of which a variable may be a part. */
function valueOf(stored: JsonRecord, { path }: NewVariable): string | undefined {
  const [name = '', list = '', segment, member = '', key] = path;
  const value = stored[name];
  if (typeof value === 'string') return value;
  const entries = (value as Record<string, JsonRecord[]> | null)?.[list] ?? [];
  const entry = entries.find((one) => one['url'] === segment || one['name'] === segment)?.[member];
  if (member === 'args') return undefined;
  const text = key === undefined ? entry : (entry as JsonRecord | undefined)?.[key];
  return typeof text === 'string' ? text : undefined;
}

function valuesOf(stored: JsonRecord, variables: readonly NewVariable[]): Record<string, string> {
  const known = variables.flatMap((variable): [string, string][] => {
    const value = valueOf(stored, variable);
    return value === undefined ? [] : [[variable.name, value]];
  });
  return Object.fromEntries(known);
}

describe('init, over real HTTP', () => {
  itHolds(
    'then plan shows that nothing changes, with the variables and without',
    20,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          fc.option(storedRecord, { nil: null, freq: 20 }),
          anySemantics,
          fc.boolean(),
          async (stored, semantics, keyed) => {
            const store = await startStore(semantics, structuredClone(stored));
            const folder = folderWith({});
            try {
              const file = join(folder.path, 'settings.yaml');
              const env = keyed ? KEY : {};
              const document = await init({ file, server: store.url, env, clock: quickClock() });
              const text = readFileSync(file, 'utf8');
              expect(leaks(JSON.stringify(document) + initText(document, STYLE))).toBe(false);
              for (const name of ['llm_api_key', 'search_api_key']) {
                const secret = stored?.[name];
                if (typeof secret === 'string' && secret.length > 11)
                  expect(text).not.toContain(secret);
              }
              expect(text).not.toContain('*****');
              const values = { ...env, ...valuesOf(stored ?? {}, document.variables) };
              for (const one of [env, values]) {
                expect(omitDoubtful((await validate({ file, env: one })).diagnostics)).toEqual([]);
                const { environments } = await plan({ file, env: one, clock: quickClock() });
                expect(environments).toMatchObject([
                  { status: 'in-sync', changes: [], error: null },
                ]);
              }
              expect(store.posts()).toBe(0);
            } finally {
              folder.remove();
              await store.close();
            }
          },
        ),
        { numRuns },
      );
    },
  );

  itHolds(
    'an environment added to any file leaves the others, and differs in nothing',
    20,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          storedRecord,
          sparseSettings,
          anySemantics,
          fc.boolean(),
          async (stored, settings, semantics, alone) => {
            const store = await startStore(semantics, structuredClone(stored));
            const server = { url: 'https://agents.example.com' };
            const blocks: Json = alone
              ? { version: 1, server, settings }
              : { version: 1, settings, environments: { first: { server } } };
            const before = `# top\n${stringify(blocks, { lineWidth: 0 })}# end\n`;
            const folder = folderWith({ 'settings.yaml': before });
            try {
              const file = join(folder.path, 'settings.yaml');
              const keyed = { ...ENVIRONMENT, ADDED_API_KEY: ENVIRONMENT.SETPOINT_API_KEY };
              const asked = { file, server: store.url, env: keyed, clock: quickClock() };
              const document = await init({ ...asked, environment: 'added' });
              const text = readFileSync(file, 'utf8');
              for (const line of before.split('\n')) expect(text.split('\n')).toContain(line);
              for (const value of Object.values(ENVIRONMENT)) expect(text).not.toContain(value);
              const env = { ...keyed, ...valuesOf(stored, document.variables) };
              const { environments } = await plan({
                file,
                env,
                clock: quickClock(),
                targets: ['added'],
              });
              const left = document.left.map(({ path }) => path[0]);
              for (const { error, changes } of environments) {
                expect(error).toBeNull();
                for (const { path } of changes) expect(left).toContain(path[0]);
              }
            } finally {
              folder.remove();
              await store.close();
            }
          },
        ),
        { numRuns },
      );
    },
  );
});

it('a file that is there is never written over', async () => {
  const folder = folderWith({});
  const file = join(folder.path, 'settings.yaml');
  writeFileSync(file, 'mine');
  await expect(init({ file, server: 'embedded:', env: {} })).rejects.toMatchObject({
    code: 'usage',
  });
  expect(readFileSync(file, 'utf8')).toBe('mine');
  folder.remove();
});
