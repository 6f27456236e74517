import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { isAttentionDue } from '../../../src/controller/page/listing.ts';
import { createWatchedReport } from '../../../src/controller/page/api.ts';
import { logLine } from '../../../src/controller/watch/telemetry/log.ts';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import {
  journalLines,
  MINUTE,
  settingsFile,
  startWatching,
  watchFolder,
  type World,
  type WorldOptions,
} from '../../fixture/watch-world.ts';
import { LONG, describeEach, itEach } from '../../fixture/long.ts';

const ENV = { SETPOINT_API_KEY: 'a-session-key', LLM: 'sk-of-the-test', MCP: 'key-of-the-test' };

interface Declared {
  readonly language?: string;
  readonly iterations?: number;
  readonly more?: string;
}

/** A file with secrets that the service does not show, in one spelling. */
function settings(url: string, spelling: string, declared: Declared = {}): string {
  const { language = 'en', iterations = 50, more = '' } = declared;
  const secret = '"${env:LLM}"';
  const model =
    spelling === 'native'
      ? `agent_settings: { llm: { model: gpt-4o, api_key: ${secret} } }
  conversation_settings: { max_iterations: ${iterations} }`
      : `llm_model: gpt-4o
  llm_api_key: ${secret}
  max_iterations: ${iterations}`;
  const entry = 'url: "https://tools.example.com/mcp", api_key: "${env:MCP}"';
  const servers =
    spelling === 'map'
      ? `agent_settings: { mcp_config: { tools: { url: "https://tools.example.com/mcp", auth: { strategy: api_key, value: "\${env:MCP}" } } } }`
      : spelling === 'list'
        ? `mcp_config: { shttp_servers: [{ ${entry} }] }`
        : '';
  return `version: 1
server: { url: "${url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings:
  language: ${language}
  ${model}
  ${servers}
watch: { interval: 1m }
${more}`;
}

/** What changes on each line of a plan, and whose doing it is. */
function classes(watch: World): Record<string, string | undefined> {
  const changes = watch.state().plan?.changes ?? [];
  return Object.fromEntries(changes.map((change) => [change.path.at(-1), change.class]));
}

async function service(dialect: DialectName): Promise<string> {
  const emulator = await startEmulator({ dialect, apiKey: 'a-session-key' });
  onTestFinished(() => emulator.close());
  return emulator.url;
}

async function applied(text: string): Promise<void> {
  const { environments } = await apply({ text, env: ENV });
  expect(environments.map(({ status }) => status)).toEqual(['applied']);
}

function watching(folder: string, options: WorldOptions = {}): World {
  return startWatching({ folder, request: { env: ENV }, ...options });
}

const SPELLINGS: readonly (readonly [DialectName, string])[] = [
  ['settings-v0', 'flat'],
  ['settings-v0', 'list'],
  ['app-server', 'flat'],
  ['app-server', 'native'],
  ['app-server', 'list'],
  ['app-server', 'map'],
  ['agent-server', 'flat'],
  ['agent-server', 'native'],
  ['agent-server', 'list'],
  ['agent-server', 'map'],
];

describeEach(SPELLINGS, (_, index) => index === SPELLINGS.length - 1)(
  'secrets that %s does not show, in the %s spelling',
  (dialect, spelling) => {
    it('leave an environment in sync on every surface, and their number stands beside it', async () => {
      const url = await service(dialect);
      const text = settings(url, spelling);
      await applied(text);
      const document = await plan({ text, env: ENV });
      const count = document.environments[0]?.unknown.length ?? 0;
      expect(count).toBeGreaterThan(0);
      expect(document).toMatchObject({
        environments: [{ status: 'in-sync', complete: false }],
        summary: { unknown: count, environments: { 'in-sync': 1 }, attention: [] },
      });
      const folder = watchFolder();
      settingsFile(folder, text);
      const watch = watching(folder);
      const metrics = createMetrics(watch.controller);
      await watch.pass(2 * MINUTE);
      const state = watch.state();
      expect(state).toMatchObject({ status: 'in-sync', stopped: null });
      expect([isAttentionDue(state, false), state.lastInSync === state.lastRead]).toEqual([
        false,
        true,
      ]);
      expect(createWatchedReport(state, [], 0)).toMatchObject({
        status: 'in-sync',
        unknown: count,
        changes: 0,
      });
      const measured = (await metrics.text()).text;
      expect(measured).toContain(
        'setpoint_target_status{environment="default",status="in_sync"} 1',
      );
      expect(measured).toContain(`setpoint_target_unknowns{environment="default"} ${count}\n`);
      metrics.close();
      await watch.stop();
      const [record] = await watch.controller.history('default');
      expect(record).toMatchObject({ kind: 'state', status: 'in-sync' });
      expect(record && logLine(record, 'text')).toMatch(/ info .*could not be compared/);

      const strict = watching(folder, { clock: watch.clock, request: { env: ENV, strict: true } });
      await strict.pass(2 * MINUTE);
      expect(strict.state().status).toBe('unknown');
      expect(isAttentionDue(strict.state(), false)).toBe(true);
      await strict.stop();
      settingsFile(folder, text.replace('interval: 1m', 'interval: 1m, strict: true'));
      const declared = watching(folder, { clock: strict.clock });
      await declared.pass(2 * MINUTE);
      expect(declared.state().status).toBe('unknown');
      await declared.stop();
    });

    it(
      'do not hide who changed what: each path is judged by what it was when it was last equal',
      LONG,
      async () => {
        const url = await service(dialect);
        await applied(settings(url, spelling));
        const folder = watchFolder();
        settingsFile(folder, settings(url, spelling));
        const watch = watching(folder);
        await watch.pass(2 * MINUTE);
        // A committed edit is no drift.
        settingsFile(folder, settings(url, spelling, { language: 'fr' }));
        await watch.pass(2 * MINUTE);
        expect([watch.state().status, classes(watch)]).toEqual([
          'pending',
          { language: 'pending' },
        ]);
        // Nor is it if somebody changes something else meanwhile, which is.
        await applied(settings(url, spelling, { iterations: 70 }));
        await watch.pass(2 * MINUTE);
        expect(watch.state().status).toBe('drift');
        expect(classes(watch)).toEqual({ language: 'pending', max_iterations: 'drift' });
        await watch.stop();
        const again = watching(folder, { clock: watch.clock });
        await again.pass(2 * MINUTE);
        expect(classes(again)).toEqual({ language: 'pending', max_iterations: 'drift' });
        // The edit is applied without the rest: it is agreed on although the environment has not been in sync.
        await applied(settings(url, spelling, { language: 'fr', iterations: 70 }));
        await again.pass(2 * MINUTE);
        expect(classes(again)).toEqual({ max_iterations: 'drift' });
        await applied(settings(url, spelling, { language: 'de', iterations: 70 }));
        await again.pass(2 * MINUTE);
        expect(classes(again)).toEqual({ language: 'drift', max_iterations: 'drift' });
        settingsFile(folder, settings(url, spelling, { language: 'it', iterations: 70 }));
        await again.pass(2 * MINUTE);
        expect(classes(again)).toEqual({ language: 'conflict' });
        await again.stop();
      },
    );
  },
);

describe('a new address', () => {
  const GUARDED = 'guards: { overwrite_drift: true }\n';

  async function moved(more: string): Promise<readonly [string, string, string]> {
    const [one, other] = [await service('settings-v0'), await service('settings-v0')];
    await applied(settings(one, 'flat'));
    await applied(settings(other, 'flat', { language: 'de', iterations: 70 }));
    const folder = watchFolder();
    settingsFile(folder, settings(one, 'flat', { more }));
    return [folder, one, other];
  }

  itEach(['while it runs', 'while it is down'], (when) => when === 'while it is down')(
    'is no drift, given %s',
    async (when) => {
      const [folder, , other] = await moved(GUARDED);
      let watch = watching(folder);
      await watch.pass(2 * MINUTE);
      expect(watch.state().status).toBe('in-sync');
      if (when !== 'while it runs') await watch.stop();
      settingsFile(folder, settings(other, 'flat', { more: GUARDED }));
      if (when !== 'while it runs') watch = watching(folder, { clock: watch.clock });
      const pending = { language: 'pending', max_iterations: 'pending' };
      for (let reads = 0; reads < 3; reads += 1) {
        await watch.pass(2 * MINUTE);
        expect([watch.state().status, classes(watch)]).toEqual(['pending', pending]);
        expect(watch.state().plan?.refusals).toEqual([]);
      }
      await watch.stop();
      // It is still known after a restart, and what is changed on the new service from now on is drift.
      const again = watching(folder, { clock: watch.clock });
      await again.pass(2 * MINUTE);
      expect(classes(again)).toEqual(pending);
      await applied(settings(other, 'flat', { language: 'en', iterations: 70 }));
      await again.pass(2 * MINUTE);
      expect(classes(again)).toEqual({ max_iterations: 'pending' });
      await applied(settings(other, 'flat', { language: 'it', iterations: 70 }));
      await again.pass(2 * MINUTE);
      expect(classes(again)).toEqual({ language: 'drift', max_iterations: 'pending' });
      expect(again.state()).toMatchObject({
        status: 'refused',
        plan: { refusals: [{ rule: 'overwrite-drift', path: ['language'] }] },
      });
      await again.stop();
    },
  );

  it('is healed as the edit that it is, where healing leaves drift to people', async () => {
    const [folder, one, other] = await moved(GUARDED);
    const healing = (url: string, more: Declared = {}) =>
      settings(url, 'flat', { ...more, more: GUARDED }).replace(
        'interval: 1m',
        'interval: 1m, mode: heal',
      );
    settingsFile(folder, healing(one));
    const watch = watching(folder);
    await watch.pass(2 * MINUTE);
    settingsFile(folder, healing(other));
    await watch.pass(4 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'in-sync', heals: [{}] });
    const { environments } = await plan({ text: settings(other, 'flat'), env: ENV });
    expect(environments[0]?.changes).toEqual([]);
    await applied(settings(other, 'flat', { language: 'it' }));
    await watch.pass(4 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'refused', heals: [{}] });
    await watch.stop();
  });

  it('is one, too, if it is the value of a reference, of which the journal has only a slow digest', async () => {
    const [folder, one, other] = await moved('');
    settingsFile(folder, settings('${env:ADDRESS}', 'flat'));
    const at = (ADDRESS: string, from?: World) =>
      watching(folder, {
        request: { env: { ...ENV, ADDRESS } },
        ...(from && { clock: from.clock }),
      });
    const first = at(one);
    await first.pass(2 * MINUTE);
    await first.stop();
    expect(first.state().status).toBe('in-sync');
    const second = at(other, first);
    await second.pass(2 * MINUTE);
    expect(second.state().status).toBe('pending');
    await second.stop();
    const back = at(one, second);
    await back.pass(2 * MINUTE);
    await back.stop();
    expect(back.state().status).toBe('in-sync');
    const kept = readFileSync(join(folder, 'data', 'journal.jsonl'), 'utf8');
    expect(kept).toContain('"address":"scrypt:');
    for (const url of [one, other]) expect(kept).not.toContain(url);
  });
});

describe('the journal of the version before', () => {
  /** As that version wrote it: without an address, and without what was not in sync. */
  function withoutAddress(folder: string, status: string): void {
    const path = join(folder, 'data', 'journal.jsonl');
    const lines = journalLines(join(folder, 'data')).map((line) => {
      if (line?.kind === 'agreed') return { ...line, address: undefined };
      return line?.kind === 'state' ? { ...line, status } : line;
    });
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  it.each(['in-sync', 'unknown'])(
    'with the state %s is read, and tells edits from drift',
    async (status) => {
      const url = await service('settings-v0');
      await applied(settings(url, 'flat'));
      const folder = watchFolder();
      settingsFile(folder, settings(url, 'flat'));
      const watch = watching(folder);
      await watch.pass(2 * MINUTE);
      await watch.stop();
      withoutAddress(folder, status);
      settingsFile(folder, settings(url, 'flat', { language: 'fr' }));
      const again = watching(folder, { clock: watch.clock });
      expect(await again.begun).toMatchObject([{ found: status, agreed: { address: null } }]);
      await again.pass(2 * MINUTE);
      expect([again.state().status, classes(again)]).toEqual(['pending', { language: 'pending' }]);
      settingsFile(folder, settings(url, 'flat'));
      await again.pass(2 * MINUTE);
      expect(again.state().status).toBe('in-sync');
      await again.stop();
    },
  );
});

it('what differed at the first read of all is of nobody known, also once other paths are agreed on', async () => {
  const url = await service('settings-v0');
  await applied(settings(url, 'flat', { language: 'de' }));
  const folder = watchFolder();
  settingsFile(folder, settings(url, 'flat'));
  const watch = watching(folder);
  for (let reads = 0; reads < 3; reads += 1) {
    await watch.pass(2 * MINUTE);
    expect([watch.state().status, classes(watch)]).toEqual(['drift', { language: undefined }]);
  }
  settingsFile(folder, settings(url, 'flat', { iterations: 60 }));
  await watch.pass(2 * MINUTE);
  expect(classes(watch)).toEqual({ language: undefined, max_iterations: 'pending' });
  await watch.stop();
});
