import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StatefulSet } from 'kubernetes-types/apps/v1.js';
import type { Service } from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMMANDS } from '../../src/command/cli/command-table.ts';
import { mistakesIn } from './manifest.ts';
import { readText } from './read-text.ts';
import { PACKAGE } from './workflow-file.ts';

const FOLDER = 'examples/kubernetes/watch';
const UNIT = readText('examples/systemd/setpoint-watch.service');

const set = parse(readText(`${FOLDER}/statefulset.yml`)) as StatefulSet;
const service = parse(readText(`${FOLDER}/service.yml`)) as Service;
const access = parseAllDocuments(readText(`${FOLDER}/access.yml`)).map(
  (document) => document.toJS() as NetworkPolicy & { readonly rules?: unknown },
);
const pod = set.spec?.template.spec;
const container = pod?.containers[0];
const labels = set.spec?.template.metadata?.labels;

const GROUPS: Readonly<Record<string, string>> = {
  StatefulSet: 'apps',
  Service: 'core',
  ServiceAccount: 'core',
  Role: 'rbac',
  RoleBinding: 'rbac',
  NetworkPolicy: 'networking',
};

describe.each([...access, set, service].map((one) => [one.kind ?? '', one] as const))(
  'the %s',
  (kind, object) => {
    it('is one, by the types of Kubernetes', () => {
      const group = GROUPS[kind] ?? '';
      expect(mistakesIn(stringify(object), [group, kind])).toEqual([]);
      const broken = stringify({ ...object, misspelt: true });
      expect(mistakesIn(broken, [group, kind]).join()).toMatch(/misspelt/);
    });
  },
);

describe('the pods', () => {
  it('run as nobody who could harm the node, this version, on a root that is read-only', () => {
    expect(pod).toMatchObject({
      serviceAccountName: 'setpoint-watch',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container).toMatchObject({
      image: `registry.example.com/setpoint:${PACKAGE.version}`,
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
  });

  it('write into their own volume alone', () => {
    const data = container?.args?.find((one) => one.startsWith('--data='))?.slice(7);
    const writable = container?.volumeMounts?.filter(({ readOnly }) => readOnly !== true);
    expect(writable).toEqual([{ name: 'data', mountPath: data }]);
    const [claim] = set.spec?.volumeClaimTemplates ?? [];
    expect(claim).toMatchObject({ metadata: { name: 'data' } });
    const inMemory = (pod?.volumes ?? []).filter((volume) => 'emptyDir' in volume);
    expect(inMemory).toEqual([]);
  });

  it('are as many as there are shards', () => {
    expect(container?.args).toContain(`--shard=$(POD_INDEX)/${set.spec?.replicas}`);
    const index = container?.env?.find(({ name }) => name === 'POD_INDEX')?.valueFrom;
    expect(index).toEqual({
      fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" },
    });
  });

  it('do not let a settings file read the token of their service account, nor the one of the page', () => {
    const variables = container?.env?.find(({ name }) => name === 'SETPOINT_ALLOWED_VARIABLES');
    const held = (container?.env ?? []).filter(
      ({ name, valueFrom }) => valueFrom !== undefined && name !== 'POD_INDEX',
    );
    expect(held).toEqual([]);
    expect(variables?.value).toBe('SETPOINT_API_KEY');
    const folders = container?.env?.find(({ name }) => name === 'SETPOINT_ALLOWED_FILES')?.value;
    const secrets = container?.volumeMounts?.find(({ name }) => name === 'secrets')?.mountPath;
    expect(folders).toBe(secrets);
    const token = container?.env?.find(({ name }) => name === 'SETPOINT_WATCH_TOKEN_FILE')?.value;
    expect(token).toMatch(/^\/run\/secrets\/page\//);
    expect(token).not.toContain(`${folders}/`);
    expect('/run/secrets/kubernetes.io/serviceaccount/token').not.toContain(`${folders}/`);
    const settings = readText('examples/kubernetes/fleet.yaml');
    const files = [...settings.matchAll(/\$\{file:([^}]+)\}/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((path) => !path.startsWith(`${folders}/`))).toEqual([]);
  });

  it('have their page and their probes on ports of their own', () => {
    const [page, probes] = container?.ports ?? [];
    expect(container?.args).toContain(`--listen=0.0.0.0:${page?.containerPort}`);
    expect(container?.args).toContain(`--probes=0.0.0.0:${probes?.containerPort}`);
    const probe = (path: string) => ({ httpGet: { path, port: probes?.name } });
    expect(container).toMatchObject({
      startupProbe: probe('/healthz'),
      livenessProbe: probe('/healthz'),
      readinessProbe: probe('/readyz'),
    });
  });

  it('are found by the Service, the policy and the monitor', () => {
    const monitor = parse(readText(`${FOLDER}/monitor.yml`)) as {
      readonly spec: {
        readonly selector: { readonly matchLabels: unknown };
        readonly endpoints: readonly { readonly port: string; readonly tlsConfig: unknown }[];
      };
    };
    const policy = access.find(({ kind }) => kind === 'NetworkPolicy');
    expect(set.spec?.selector.matchLabels).toEqual(labels);
    expect(service.spec?.selector).toEqual(labels);
    expect(policy?.spec?.podSelector?.matchLabels).toEqual(labels);
    expect(monitor.spec.selector.matchLabels).toEqual(service.metadata?.labels);
    expect(set.spec?.serviceName).toBe(service.metadata?.name);
    const ports = service.spec?.ports?.map(({ name }) => name);
    expect(monitor.spec.endpoints.map(({ port }) => port)).toEqual(ports);
    expect(monitor.spec.endpoints[0]?.tlsConfig).toMatchObject({
      serverName: service.metadata?.name,
    });
  });
});

it.each([
  ['the pods', container?.args ?? []],
  ['the unit', (/^ExecStart=\S+ (.*)$/m.exec(UNIT)?.[1] ?? '').split(' ')],
])('%s give the command flags that it takes', (_, args) => {
  expect(args[0]).toBe('watch');
  const flags = args.slice(1).map((arg) => arg.split('=')[0]);
  const known: readonly string[] = COMMANDS.watch.flags;
  expect(flags.length).toBeGreaterThan(2);
  expect(flags.filter((flag) => !known.includes(flag ?? ''))).toEqual([]);
});

describe('the unit', () => {
  it('keeps its data, and reads its keys, where systemd gives it both', () => {
    const [, name] = /^StateDirectory=(\S+)$/m.exec(UNIT) ?? [];
    expect(UNIT).toContain(`--data=/var/lib/${name} `);
    expect(UNIT).toContain('SETPOINT_ALLOWED_FILES=/run/credentials/setpoint-watch.service\n');
    expect(UNIT).toMatch(/^DynamicUser=yes$/m);
    expect(UNIT).toMatch(/^ProtectSystem=strict$/m);
  });

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  it.skipIf(!hasSystemd)(
    'is one that systemd takes, and hardened by its own measure (systemd)',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'setpoint-unit-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const path = join(folder, 'setpoint-watch.service');
      writeFileSync(path, UNIT.replace('/usr/bin/setpoint', process.execPath));
      const verified = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
      expect([verified.status, verified.stderr]).toEqual([0, '']);
      const args = ['security', '--offline=yes', '--threshold=20', '--no-pager', path];
      const judged = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      expect([judged.status, judged.stdout]).toEqual([0, expect.stringContaining('OK')]);
      writeFileSync(path, UNIT.replace('ProtectSystem=strict', 'ProtectSytem=strict'));
      const broken = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
      expect(broken.stderr).toContain('ProtectSytem');
    },
  );
});
