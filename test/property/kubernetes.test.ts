import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { resolveServer, resolveSettings } from '../../src/reconciler/desired/resolve.ts';
import { readTargets, type Target } from '../../src/reconciler/desired/target.ts';
import { renderObjects } from '../../src/reconciler/kubernetes/objects.ts';
import { readSettingsTarget } from '../../src/reconciler/kubernetes/read-target.ts';
import { clusterSource } from '../fixture/cluster-source.ts';
import type { SettingsTarget } from '../../src/reconciler/kubernetes/settings-target.ts';
import { yamlDocument } from '../../src/reconciler/kubernetes/objects.ts';
import { Secret, UnseenSecret } from '../../src/reconciler/model/secret.ts';
import { isList, isRecord, type Value } from '../../src/reconciler/model/value.ts';
import type { DeclaredItem } from '../../src/reconciler/model/state.ts';
import type { Variables } from '../../src/reconciler/model/ports.ts';
import { sparseSettings, ENVIRONMENT } from '../fixture/arbitrary.ts';
import { blocksOf, ENV, fitted, textOf } from '../fixture/collections/files.ts';
import { DIALECTS } from '../fixture/collections/truth.ts';
import { fromSchema } from '../fixture/from-schema.ts';
import {
  administer,
  establishAll,
  kubeApiserver,
  newNamespace,
  type KubeApiserver,
} from '../fixture/kube-apiserver.ts';
import { itHolds, propertyRuns } from '../fixture/property-runs.ts';
import { itEach } from '../fixture/long.ts';

const server = kubeApiserver();
const ROOT = join(import.meta.dirname, '../..');

function read(text: string): ReturnType<typeof readTargets> {
  const file = { path: 'settings.yaml', text, bases: [] };
  return readTargets(file, { serverGiven: false, several: false });
}

function targetsOf(text: string): readonly Target[] | null {
  const { targets, diagnostics } = read(text);
  return diagnostics.some(({ severity }) => severity === 'error') ? null : targets;
}

/** What a target declares, without places: a value is the same whether it came from a reference or not. */
function declared(target: Target, source: Parameters<typeof resolveSettings>[1]): unknown {
  const { fields, items, ...rest } = resolveSettings(target, source);
  return {
    server: plain(resolveServer(target, source)),
    fields: sorted(plain(fields.map((one) => ({ ...one, value: unordered(one.value) })))),
    items: [...items]
      .map(([block, list]) => [block, sorted(plain(list.map(seen)))] as const)
      .toSorted(([a], [b]) => a.localeCompare(b)),
    rest: plain({
      ...rest,
      unknownNames: sorted(rest.unknownNames?.map(({ path }) => path) ?? []),
      // Which variable a value comes from is known of a file alone.
      missing: rest.missing.map((one) => ({
        ...one,
        reason: one.reason.replace(/^(?:the variable \w+|its value) /, ''),
      })),
    }),
  };
}

/** A text from a reference is one to look up; the default of a reference is only a text. */
function seen(item: DeclaredItem): unknown {
  const { values = [], ...rest } = item;
  return { ...rest, values: values.filter(({ isText }) => isText !== true) };
}

/** Maps of an object have no order, so that what a file names one after another has none either. */
function sorted(list: unknown): readonly unknown[] {
  const keyed = (list as readonly unknown[]).map((one) => [JSON.stringify(one), one] as const);
  return keyed.toSorted(([a], [b]) => a.localeCompare(b)).map(([, one]) => one);
}

/** The order of mcp servers and marketplaces is no difference. */
function unordered(value: Value): unknown {
  if (isList(value)) return sorted(plain(value));
  if (!isRecord(value)) return value;
  const lists = Object.values(value).every(isList);
  return lists
    ? Object.fromEntries(Object.entries(value).map(([key, list]) => [key, sorted(plain(list))]))
    : value;
}

/** An object as the API server hands it out: it sorts the members of maps. */
function stored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, stored(member)] as const);
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function plain(value: unknown): unknown {
  if (value instanceof UnseenSecret) return { unseen: true };
  if (value instanceof Secret) return value.reveal();
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (value instanceof Set) return [...value].map(String).toSorted((a, b) => a.localeCompare(b));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('line' in value && 'column' in value) return 'a place';
  const members = Object.entries(value)
    .filter(([key, member]) => !PLACES.has(key) && typeof member !== 'function')
    .map(([key, member]) => [key, plain(member)] as const);
  return Object.fromEntries(members.toSorted(([a], [b]) => a.localeCompare(b)));
}

/** Where something is written, and that of it which is read by the names of its members. */
const PLACES: ReadonlySet<string> = new Set(['source', 'lock', 'file', 'node', 'ref']);

/** The values that the file's source has, under the keys that an object names. */
function bothSources(env: Variables) {
  return {
    ofFile: {
      variable: (name: string) => env[name],
      file: () => ({ problem: 'none' }),
    },
    ofCluster: (target: Target) =>
      clusterSource(target, ({ key }) => {
        const text = env[key];
        return text === undefined ? { problem: 'no such key' } : { text };
      }),
  };
}

/** Renders each target, and reads what comes of it once it was YAML. Null if the file is not valid, or no object can hold it. */
function there(text: string, env: Variables): 'refused' | 'invalid' | 'same' {
  const targets = targetsOf(text);
  if (targets === null) return 'invalid';
  const { objects, findings } = renderObjects(targets, { secret: 'agents', namespace: 'agents' });
  if (findings.length > 0) return 'refused';
  const { ofFile, ofCluster } = bothSources(env);
  const rendered = objects.filter(({ kind }) => kind === 'SettingsTarget');
  expect(rendered.length).toBe(targets.length);
  for (const [index, target] of targets.entries()) {
    const written = yamlDocument(rendered[index]);
    expect(written.replaceAll('$${', '')).not.toContain('${');
    for (const value of Object.values(env).filter((text = '') => text.length > 3))
      expect(written).not.toContain(value);
    const object = stored(parse(written)) as SettingsTarget;
    expect(holdsNull(object)).toBe(false);
    const hasKey = ({ key }: { readonly key: string }) => (env[key] ?? '').trim() !== '';
    const back = readSettingsTarget(object, { hasKey });
    expect(back.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(declared(back.target as Target, ofCluster(back.target as Target))).toEqual(
      declared(target, ofFile),
    );
  }
  return 'same';
}

function holdsNull(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'object' && Object.values(value).some(holdsNull);
}

const whole = (blocks: object): string =>
  JSON.stringify({
    version: 1,
    server: { url: 'https://agents.example.com', api_key: '${env:SETPOINT_API_KEY}' },
    ...blocks,
  });

describe('a settings file as a SettingsTarget, and back', () => {
  itHolds('declares the same settings', 400, (numRuns) => {
    fc.assert(
      fc.property(sparseSettings, (settings) => {
        expect(there(whole({ settings }), ENVIRONMENT)).toBe('same');
      }),
      { numRuns },
    );
  });

  itHolds('declares the same in each environment, whatever lies below it', 300, (numRuns) => {
    fc.assert(
      fc.property(sparseSettings, sparseSettings, (settings, own) => {
        const environments = { one: { settings: own }, two: { labels: { ring: '2' } } };
        expect(there(whole({ settings, environments }), ENVIRONMENT)).toBe('same');
      }),
      { numRuns },
    );
  });

  itEach(DIALECTS, (one) => one === 'agent-server')(
    'declares the same collections on %s',
    (dialect) => {
      fc.assert(
        fc.property(blocksOf(dialect, true), (blocks) => {
          const file = fitted(dialect, { blocks, others: [] });
          const text = textOf(file, 'https://agents.example.com', {});
          expect(there(text, { ...ENV, KEY: 'a-key' })).not.toBe('refused');
        }),
        { numRuns: 60 },
      );
    },
  );

  itHolds('declares the same, whatever the schema allows', 600, (numRuns) => {
    const ends = { same: 0, refused: 0, invalid: 0 };
    fc.assert(
      fc.property(anyFile(), (file) => {
        ends[there(whole(repaired(file)), VALUES)] += 1;
      }),
      { numRuns },
    );
    expect(ends.invalid).toBe(0);
    expect(ends.same).toBeGreaterThan(numRuns / 2);
  });

  it.skipIf(server === null)(
    'is taken by a real kube-apiserver as it is (SETPOINT_KUBE_APISERVER)',
    async () => {
      const real = server as KubeApiserver;
      await establishAll(real);
      const namespace = await newNamespace(real);
      const path = `/apis/setpoint.dev/v1alpha1/namespaces/${namespace}/settingstargets`;
      const query = '?fieldValidation=Strict&dryRun=All';
      await fc.assert(
        fc.asyncProperty(anyFile(), async (file) => {
          const targets = targetsOf(whole(repaired(file))) ?? [];
          const { objects, findings } = renderObjects(targets, { secret: 'agents', namespace });
          for (const object of findings.length > 0 ? [] : objects.slice(1)) {
            const { status, body } = await administer(real, 'POST', `${path}${query}`, object);
            if (status !== 201) throw new Error(JSON.stringify(body));
            const { spec } = body as { readonly spec: unknown };
            expect(JSON.stringify(stored(spec))).toBe(JSON.stringify(stored(object['spec'])));
          }
        }),
        { numRuns: propertyRuns(100) },
      );
    },
  );
});

/** Files of all that the schema allows. */
function anyFile(): fc.Arbitrary<object> {
  const schema = JSON.parse(
    readFileSync(join(ROOT, 'schemas/settings.schema.json'), 'utf8'),
  ) as Schema;
  const text = fc.constantFrom(...TEXTS);
  const blocks: [string, fc.Arbitrary<unknown>][] = BLOCKS.map((name) => {
    const { properties, additionalProperties: other, ...part } = schema.$defs[name] ?? {};
    // Of a block by name, one item is always there.
    const named = properties ?? (typeof other === 'object' ? { one: other } : {});
    const some = { ...part, properties: named, $defs: schema.$defs };
    return [name, fromSchema(some, text, fc.jsonValue({ maxDepth: 2 }))];
  });
  const model = Object.fromEntries<fc.Arbitrary<unknown>>(blocks);
  return fc.record(model, { requiredKeys: [] });
}

type Schema = Parameters<typeof fromSchema>[0] & {
  readonly $defs: Readonly<Record<string, Parameters<typeof fromSchema>[0]>>;
};

const BLOCKS = [
  'settings secrets skills git_providers provider_connections llm_profiles meta_profiles',
  'agent_profiles active collections mcp_servers marketplaces disabled_skills sandboxes guards watch',
].flatMap((line) => line.split(' '));
const TEXTS = ['plain', 'https://x.example.com', 'costs $${5}', '${env:ONE}', '${env:TWO:-3}'];
const VALUES = { ONE: 'oNe-VaLuE', TWO: '7', SETPOINT_API_KEY: 'kEy' };

/** A file without what is not valid in it. */
function repaired(file: object): object {
  const copy = JSON.parse(JSON.stringify(file)) as object;
  for (let tries = 0; tries < 30; tries += 1) {
    const { diagnostics } = read(whole(copy));
    const wrong = diagnostics.filter(({ severity }) => severity === 'error');
    if (wrong.length === 0) break;
    for (const { path } of wrong.toReversed()) remove(copy, path);
  }
  return copy;
}

/** Removes what is at a path, or the nearest thing above it. */
function remove(from: object, [key = '', ...rest]: readonly string[]): void {
  const inner = (from as Record<string, unknown>)[key];
  if (rest.length > 0 && typeof inner === 'object' && inner !== null && rest[0] !== undefined) {
    if (rest[0] in inner) {
      remove(inner, rest);
      return;
    }
  }
  if (Array.isArray(from)) from.splice(Number(key), 1);
  else delete (from as Record<string, unknown>)[key];
}
