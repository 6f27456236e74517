import { spawnSync } from 'node:child_process';
import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../fixture/program.ts';
import { readText } from './read-text.ts';

const FOLDER = 'examples/kubernetes/argo-cd';
const KIND = `${FOLDER}/setpoint.dev/SettingsTarget`;
/** Argo CD has Lua 5.1; what is written here is the same in later ones. */
const LUA = [process.env['SETPOINT_TEST_LUA'], 'lua5.1', 'lua', 'lua5.4', 'luajit'].find(
  (name) => name !== undefined && hasProgram(name),
);

type Data = boolean | number | string | null | readonly Data[] | { readonly [key: string]: Data };

interface HealthTests {
  readonly tests: readonly {
    readonly healthStatus: { readonly status: string; readonly message: string };
    readonly inputPath: string;
  }[];
}
interface ActionTests {
  readonly discoveryTests: readonly {
    readonly inputPath: string;
    readonly result: readonly { readonly name: string; readonly disabled: boolean }[];
  }[];
  readonly actionTests: readonly {
    readonly action: string;
    readonly inputPath: string;
    readonly expectedOutputPath: string;
  }[];
}
interface Actions {
  readonly 'discovery.lua': string;
  readonly definitions: readonly { readonly name: string; readonly 'action.lua': string }[];
}

const { data } = parse(readText(`${FOLDER}/argocd-cm.yml`)) as {
  readonly data: Readonly<Record<string, string>>;
};
const health = data['resource.customizations.health.setpoint.dev_SettingsTarget'] ?? '';
const actions = parse(
  data['resource.customizations.actions.setpoint.dev_SettingsTarget'] ?? '',
) as Actions;
const healthTests = (parse(readText(`${KIND}/health_test.yaml`)) as HealthTests).tests;
const actionTests = parse(readText(`${KIND}/actions/action_test.yaml`)) as ActionTests;

const object = (path: string): Data => parse(readText(`${KIND}/${path}`)) as Data;

function table(value: Data): string {
  if (value === null) return 'nil';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `{${value.map(table).join(', ')}}`;
  const members = Object.entries(value as Readonly<Record<string, Data>>);
  return `{${members.map(([key, member]) => `[${JSON.stringify(key)}] = ${table(member)}`).join(', ')}}`;
}

/** Prints what a script returns as JSON. It has of the system what Argo CD gives it: the time. */
const HARNESS = `
local write = io.write
local function json(value)
  if type(value) == "string" then return string.format("%q", value):gsub("\\\\\\n", "\\\\n") end
  if type(value) == "number" then return string.format("%.14g", value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  if #value > 0 then
    for _, item in ipairs(value) do parts[#parts + 1] = (json(item)) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, item in pairs(value) do parts[#parts + 1] = (json(key)) .. ":" .. (json(item)) end
  return "{" .. table.concat(parts, ",") .. "}"
end
os = { time = os.time, date = os.date }
package.loaded.os = os
io, debug, dofile, loadfile = nil, nil, nil, nil
`;

function run(script: string, obj: Data): unknown {
  const input = `${HARNESS}obj = ${table(obj)}\nwrite((json((function()\n${script}\nend)())))\n`;
  const { status, stdout, stderr } = spawnSync(LUA ?? '', ['-'], { input, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

describe('what Argo CD is told of SettingsTargets', () => {
  it('is in argocd-cm as it is in the files that Argo CD tests', () => {
    expect(health).toBe(readText(`${KIND}/health.lua`));
    expect(actions).toEqual({
      'discovery.lua': readText(`${KIND}/actions/discovery.lua`),
      definitions: actionTests.actionTests.map(({ action }) => ({
        name: action,
        'action.lua': readText(`${KIND}/actions/${action}/action.lua`),
      })),
    });
  });

  it('has a test of each health that it tells', () => {
    const told = [...health.matchAll(/(?:say\(|status = )"(\w+)"/g)].map(([, word]) => word);
    const tested = healthTests.map(({ healthStatus }) => healthStatus.status);
    expect(new Set(tested)).toEqual(new Set(told));
  });

  describe.skipIf(LUA === undefined)('run by Lua (lua5.1, or SETPOINT_TEST_LUA)', () => {
    it.each(healthTests)('health of $inputPath', ({ inputPath, healthStatus }) => {
      expect(run(health, object(inputPath))).toEqual(healthStatus);
    });

    it('may be Degraded while the server differs, and else as before', () => {
      const strict = health.replace('drifted = false', 'drifted = true');
      for (const { inputPath, healthStatus } of healthTests) {
        const isObserved = inputPath === 'testdata/observed.yaml';
        const status = isObserved ? 'Degraded' : healthStatus.status;
        expect(run(strict, object(inputPath))).toEqual({ ...healthStatus, status });
      }
    });

    it.each(actionTests.discoveryTests)('actions of $inputPath', ({ inputPath, result }) => {
      const found = result.map(({ name, disabled }) => [name, { disabled }]);
      expect(run(actions['discovery.lua'], object(`actions/${inputPath}`))).toEqual(
        Object.fromEntries(found),
      );
    });

    it.each(actionTests.actionTests)('action $action', ({ action, inputPath, ...expected }) => {
      const [definition] = actions.definitions.filter(({ name }) => name === action);
      const changed = run(definition?.['action.lua'] ?? '', object(`actions/${inputPath}`));
      const text = JSON.stringify(changed);
      const [time = ''] = /(?<="setpoint.dev\/requestedAt":")[^"]+/.exec(text) ?? [];
      expect(Math.abs(Date.now() - Date.parse(time))).toBeLessThan(60_000);
      const output = text.replace(time, '0001-01-01T00:00:00Z');
      expect(JSON.parse(output)).toEqual(object(`actions/${expected.expectedOutputPath}`));
    });
  });
});

describe('what Flux is told of SettingsTargets', () => {
  const CONDITIONS = /(?:type == |\[|, )'(\w+)'/g;

  it('is about the kind of the definition, and the conditions that Argo CD is told of', () => {
    const [, kustomization] = parseAllDocuments(readText('examples/kubernetes/chart/flux.yml')).map(
      (one) => one.toJS() as { readonly spec: { readonly healthCheckExprs?: unknown } },
    );
    const [rule, ...others] = (kustomization?.spec.healthCheckExprs ?? []) as Record<
      string,
      string
    >[];
    expect(others).toEqual([]);
    const { apiVersion, kind, ...expressions } = rule ?? {};
    expect(object('testdata/in-sync.yaml')).toMatchObject({ apiVersion, kind });
    expect(Object.keys(expressions)).toEqual(['inProgress', 'failed', 'current']);
    const named = Object.values(expressions).flatMap((text) =>
      [...text.matchAll(CONDITIONS)].map(([, name = '']) => name),
    );
    expect(named).toEqual(['Reconciling', 'Stalled', 'Drifted', 'Ready']);
    expect(named.filter((name) => !health.includes(`is_true("${name}")`))).toEqual([]);
  });
});
