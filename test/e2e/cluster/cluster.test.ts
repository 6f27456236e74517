import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../fixture/until.ts';
import {
  clusterWorld,
  KEY,
  languageOf,
  MODEL_KEY,
  SERVERS,
  reasonOf,
  store,
  type Admin,
} from '../../fixture/cluster-world.ts';
import { LONG } from '../../fixture/long.ts';

const MODEL = { path: 'settings.llm_api_key', secretKeyRef: { name: 'agents', key: 'model' } };

describe.each(SERVERS)('a controller of SettingsTargets, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);
  const world = async (times?: number) =>
    clusterWorld(await (open as () => Promise<Admin>)(), times);

  test('shows the plan of what it observes, and no secret', async () => {
    const one = await world();
    await one.target('production', { settings: { language: 'en' }, valuesFrom: [MODEL] });
    await one.start();
    const status = await one.until('production', (now) => reasonOf(now, 'Ready') === 'Observed');
    expect(status.plan).toMatchObject({ changes: 2, summary: '2 changes' });
    expect(status.plan?.items).toEqual([
      { path: 'language', action: 'set', after: 'en' },
      { path: 'llm_api_key', action: 'set', sensitive: true },
    ]);
    expect(status).toMatchObject({ sync: 'OutOfSync', observedGeneration: 1 });
    expect(reasonOf(status, 'Drifted')).toBe('Differs');
    expect(JSON.stringify(status)).not.toMatch(new RegExp(`${KEY}|${MODEL_KEY}`));
  });

  test('writes the plan that is approved, and then says that it has all', async () => {
    const one = await world();
    await one.target('production', { settings: { language: 'en' }, valuesFrom: [MODEL] });
    await one.start({ SETPOINT_STATE_KEY: 'a-key-of-fingerprints' });
    const { plan } = await one.until('production', (now) => now.plan !== undefined);
    await one.admin.patch(one.pathOf('production'), {
      spec: { mode: 'Apply', approval: { planDigest: plan?.digest } },
    });
    const status = await one.until('production', (now) => now.sync === 'Synced');
    expect(reasonOf(status, 'Ready')).toBe('InSync');
    expect(status.observedGeneration).toBe(2);
    expect(status.lastApplied?.time).toBeDefined();
  });

  test('writes nothing that is not approved', async () => {
    const one = await world();
    const approval = { planDigest: `sha256:${'0'.repeat(64)}` };
    await one.target('production', { mode: 'Apply', approval, settings: { language: 'en' } });
    await one.start();
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') !== null);
    expect(reasonOf(status, 'Stalled')).toBe('NotCovered');
    expect(reasonOf(status, 'Ready')).toBe('NotCovered');
    expect(await languageOf(one.service.url)).toBeNull();
  });

  test('heals what drifts', async () => {
    const one = await world();
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } });
    await one.start();
    await one.until('production', (now) => now.sync === 'Synced');
    await store(one.service.url, { language: 'de' });
    await one.until('production', (now) => now.sync === 'OutOfSync');
    await one.until('production', (now) => now.sync === 'Synced');
    expect(await languageOf(one.service.url)).toBe('en');
    const events = await one.events();
    expect(events.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['Applied', 'Drifted', 'InSync']),
    );
    for (const { regarding } of events)
      expect(regarding).toMatchObject({ kind: 'SettingsTarget', name: 'production' });
    expect(events.find(({ reason }) => reason === 'Drifted')?.note).toBe('language');
    expect(one.said).not.toContain('Events cannot be written');
  });

  test('writes nothing that a guard refuses', async () => {
    const one = await world();
    const guards = { maxChanges: 1 };
    await one.target('production', {
      mode: 'Apply',
      guards,
      settings: { language: 'en' },
      valuesFrom: [MODEL],
    });
    await one.start({ SETPOINT_STATE_KEY: 'a-key-of-fingerprints' });
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') !== null);
    expect(reasonOf(status, 'Ready')).toBe('Refused');
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
      'guards.max_changes is 1',
    );
    expect(await languageOf(one.service.url)).toBeNull();
    await expect
      .poll(async () => (await one.events()).map(({ reason }) => reason))
      .toContain('Refused');
    await one.admin.patch(one.pathOf('production'), { spec: { guards: { maxChanges: 2 } } });
    await one.until('production', (now) => now.sync === 'Synced');
  });

  test('leaves one alone that is suspended, and says so', async () => {
    const one = await world();
    await one.target('production', { settings: { language: 'en' } });
    await one.start();
    await one.until('production', (now) => reasonOf(now, 'Ready') === 'Observed');
    await one.admin.patch(one.pathOf('production'), { spec: { suspend: true, mode: 'Apply' } });
    const status = await one.until('production', (now) => reasonOf(now, 'Suspended') !== null);
    expect(reasonOf(status, 'Ready')).toBe('Observed');
    expect(await languageOf(one.service.url)).toBeNull();
    await one.admin.patch(one.pathOf('production'), { spec: { suspend: false } });
    await one.until('production', (now) => now.sync === 'Synced');
  });

  test('ends the watch of one that is deleted, and leaves the server as it is', async () => {
    const one = await world();
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } });
    const { controller } = await one.start();
    await one.until('production', (now) => now.sync === 'Synced');
    await one.admin.remove(one.pathOf('production'));
    await until(() => controller.states().length === 0);
    expect(await one.admin.get(one.pathOf('production'))).toBeNull();
    expect(await languageOf(one.service.url)).toBe('en');
    expect(one.said).toBe('');
  });

  test('ends the watch of one that is being deleted, whoever keeps it', LONG, async () => {
    const one = await world();
    const finalizers = ['example.com/keeps-it'];
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } }, { finalizers });
    const { controller } = await one.start();
    await one.until('production', (now) => now.sync === 'Synced');
    await one.admin.remove(one.pathOf('production'));
    await until(() => controller.states().length === 0);
    await one.admin.patch(one.pathOf('production'), { metadata: { finalizers: null } });
    await until(async () => (await one.admin.get(one.pathOf('production'))) === null);
  });

  test('says what is not valid, and reads a whole file from a ConfigMap', LONG, async () => {
    const one = await world();
    const from = { configMapKeyRef: { name: 'settings', key: 'settings.yaml' } };
    await one.target('production', { settingsFrom: from });
    await one.target('asleep', { suspend: true, settings: {} });
    const { controller } = await one.start();
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Invalid');
    const unwatched = () => Object.fromEntries(controller.health.unwatched ?? []);
    expect(unwatched()).toEqual({ Forbidden: 0, Invalid: 1, OverLimit: 0, Suspended: 1 });
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
      'No such ConfigMap',
    );
    await one.admin.put(`/api/v1/namespaces/${one.namespace}/configmaps/settings`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: one.namespace },
      data: { 'settings.yaml': 'version: 1\nsettings:\n  language: fr\n' },
    });
    const { plan } = await one.until('production', (now) => now.plan !== undefined);
    expect(plan?.items).toEqual([{ path: 'language', action: 'set', after: 'fr' }]);
    expect(unwatched()).toEqual({ Forbidden: 0, Invalid: 0, OverLimit: 0, Suspended: 1 });
  });

  test('watches nothing that the policy of the controller refuses', async () => {
    const one = await world();
    const folder = mkdtempSync(join(tmpdir(), 'setpoint-policy-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const policy = join(folder, 'policy.json');
    const language = { enum: ['en'] };
    writeFileSync(
      policy,
      JSON.stringify({ properties: { settings: { properties: { language } } } }),
    );
    await one.target('production', { mode: 'Apply', settings: { language: 'de' } });
    await one.start({}, { policy });
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.message).toContain('language');
    expect(await languageOf(one.service.url)).toBeNull();
    await one.admin.patch(one.pathOf('production'), { spec: { settings: { language: 'en' } } });
    await one.until('production', (now) => now.sync === 'Synced');
  });

  test('writes a Secret that was rotated, if it keeps fingerprints', async () => {
    const one = await world();
    const path = 'settings.llm_api_key';
    const secretKeyRef = { name: 'model', key: 'key' };
    await one.secret('model', { key: MODEL_KEY });
    const valuesFrom = [{ path, secretKeyRef }];
    await one.target('production', { mode: 'Apply', settings: {}, valuesFrom });
    await one.start({ SETPOINT_STATE_KEY: 'a-key-of-fingerprints' });
    const { lastApplied } = await one.until('production', (now) => now.sync === 'Synced');
    const data = { key: Buffer.from('sk-the-next-0123456789').toString('base64') };
    await one.admin.patch(`/api/v1/namespaces/${one.namespace}/secrets/model`, { data });
    const status = await one.until(
      'production',
      (now) => now.sync === 'Synced' && now.lastApplied?.time !== lastApplied?.time,
    );
    expect(reasonOf(status, 'Verified')).toBeNull();
  });

  test('answers whoever asks for a look', async () => {
    const one = await world(1);
    await one.target('production', { settings: { language: 'en' } });
    await one.start();
    await one.until('production', (now) => now.sync === 'OutOfSync');
    await store(one.service.url, { language: 'en' });
    await one.admin.patch(one.pathOf('production'), {
      metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': 'now' } },
    });
    const status = await one.until('production', (now) => now.lastHandledReconcileAt === 'now');
    expect(status.sync).toBe('Synced');
  });

  test(
    'answers whoever asks by one annotation, whatever the other one asked before',
    LONG,
    async () => {
      const one = await world(1);
      const ask = (name: string, value: string) =>
        one.admin.patch(one.pathOf('production'), {
          metadata: { annotations: { [`${name}/requestedAt`]: value } },
        });
      await one.target('production', { settings: { language: 'en' } });
      await one.start();
      for (const [name, value] of [
        ['reconcile.fluxcd.io', 'one'],
        ['setpoint.dev', 'two'],
        ['reconcile.fluxcd.io', 'three'],
      ] as const) {
        await ask(name, value);
        await one.until('production', (now) => now.lastHandledReconcileAt === value);
      }
    },
  );

  test('reads a ConfigMap again for whoever asks for a look', LONG, async () => {
    const one = await world(1);
    const path = `/api/v1/namespaces/${one.namespace}/configmaps/settings`;
    const text = (language: string) => ({
      data: { 'settings.yaml': `version: 1\nsettings:\n  language: ${language}\n` },
    });
    const metadata = { name: 'settings', namespace: one.namespace };
    await one.admin.put(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...text('fr') });
    const from = { configMapKeyRef: { name: 'settings', key: 'settings.yaml' } };
    await one.target('production', { settingsFrom: from });
    await one.start();
    await one.until('production', (now) => now.plan?.items[0]?.after === 'fr');
    await one.admin.patch(path, text('de'));
    await one.admin.patch(one.pathOf('production'), {
      metadata: { annotations: { 'setpoint.dev/requestedAt': 'now' } },
    });
    const status = await one.until('production', (now) => now.lastHandledReconcileAt === 'now');
    expect(status.plan?.items[0]?.after).toBe('de');
  });

  test('answers whoever asks for a look while it has one', LONG, async () => {
    const one = await world(1);
    const held: ServerResponse[] = [];
    const server = createServer((_request, response) => held.push(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    await one.target('production', {
      server: { url: `http://127.0.0.1:${port}` },
      settings: { language: 'en' },
    });
    await one.start();
    await until(() => held.length > 0);
    await one.admin.patch(one.pathOf('production'), {
      metadata: { annotations: { 'setpoint.dev/requestedAt': 'now' } },
    });
    const release = setInterval(() => {
      for (const response of held.splice(0)) response.writeHead(401).end();
    }, 300);
    onTestFinished(() => clearInterval(release));
    await one.until('production', (now) => now.lastHandledReconcileAt === 'now');
  });

  test('sends a Secret that names its origins to no other', async () => {
    const one = await world();
    const annotations = { 'setpoint.dev/allowed-origins': 'https://elsewhere.example.com' };
    await one.secret('pinned', { 'api-key': KEY }, { annotations });
    const server = { url: one.service.url, apiKeySecretRef: { name: 'pinned', key: 'api-key' } };
    await one.target('production', { server, settings: { language: 'en' } });
    await one.start();
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') !== null);
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    expect(ready?.message).toContain('setpoint.dev/allowed-origins');
    expect(JSON.stringify(status)).not.toContain(KEY);
  });

  test('sends no key to an origin that the controller does not allow', async () => {
    const one = await world();
    const server = {
      url: 'https://agents.example.com',
      apiKeySecretRef: { name: 'agents', key: 'api-key' },
    };
    await one.target('production', { server, settings: { language: 'en' } });
    await one.start();
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') !== null);
    expect(reasonOf(status, 'Ready')).toBe('Forbidden');
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
      'SETPOINT_ALLOWED_ORIGINS',
    );
  });
});
