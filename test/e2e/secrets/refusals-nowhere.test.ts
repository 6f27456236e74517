/** Servers answer to what they do not take with what was sent: whatever call is answered so, nothing of the answer is shown or kept. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import { servePage } from '../../../src/controller/page/serve-page.ts';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { RESOURCES } from '../../../src/reconciler/resources/resources.ts';
import { NAMED_SETTINGS } from '../../../src/reconciler/desired/named-settings.ts';
import { startFronted, type Fronted, type Seen } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import {
  GIT_HOSTS,
  ITEM_ENV,
  SAMPLES_HERE,
  type SampleItem,
} from '../../fixture/every-collection.ts';
import { itEach } from '../../fixture/long.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { receiver } from '../../fixture/receivers.ts';
import { quickClock } from '../../fixture/settings.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../../fixture/watch-world.ts';

const QUOTED = 'quoted-by-the-server';
const answering = (type: string, loc: readonly string[]) => ({
  status: 422,
  body: { detail: [{ type, loc, msg: QUOTED, input: QUOTED, ctx: { x: QUOTED } }] },
});

/** What a server answers to a call. Of the record of settings-v0 the places that it refuses are told, by their names. */
function quoting({ method, path }: Seen) {
  return method === 'POST' && path === '/api/settings'
    ? answering('string_type', ['body', 'language'])
    : answering(QUOTED, ['body', QUOTED]);
}

/** Which profile is active: it has requests of its own. */
const ACTIVE: SampleItem = {
  block: 'active',
  name: 'llm_profile',
  dialects: ['app-server', 'agent-server'],
  declared: () =>
    'llm_profiles: { theirs: { model: openai/gpt-5, api_key: "${env:THE_KEY}" } }\nactive: { llm_profile: theirs }',
  removed: 'llm_profiles: { theirs: { model: openai/gpt-5 } }',
};

const CASES: readonly (readonly [string, DialectName, SampleItem])[] = [
  ...SAMPLES_HERE,
  ...ACTIVE.dialects.map((dialect) => [`active of ${dialect}`, dialect, ACTIVE] as const),
];

it('is tested of everything that is declared by name', () => {
  const here = new Set(CASES.map(([, dialect, { block }]) => `${block} of ${dialect}`));
  const known = RESOURCES.flatMap(({ block, named }) =>
    (named?.dialects ?? []).map((dialect) => `${block} of ${dialect}`),
  );
  expect(known.filter((one) => !here.has(one))).toEqual([]);
  const blocks = CASES.map(([, , { block }]) => block);
  for (const block of NAMED_SETTINGS) expect(blocks).toContain(block);
});

/** A service, and a folder for the files of a run. */
async function begun(dialect: DialectName) {
  const folder = folderWith({});
  const front = await startFronted({
    dialect,
    apiKey: 'k',
    data: join(folder.path, 'store.json'),
    ...(GIT_HOSTS === undefined ? {} : { gitProviders: GIT_HOSTS }),
  });
  onTestFinished(async () => {
    await front.close();
    folder.remove();
  });
  return { folder, front };
}

function fileOf(front: Fronted, blocks: string, more = ''): string {
  return `version: 1\nserver: { url: "${front.url}" }\n${more}settings: { language: en }\n${blocks}\n`;
}

/** A call as its kind: a path without what names one thing in it. */
function kindOf({ method, path }: Seen): string {
  return `${method} ${path.replace(/\?.*$/, '').replaceAll(/[0-9a-f]{32}/g, 'ID')}`;
}

/** What all files of a folder hold, of a run that has ended. */
function textIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
}

/** A service that has lost its only secret is healed, too. */
const WATCH = 'watch: { mode: heal, interval: 1m }\nguards: { secrets_gone: false }\n';

const RULES = [
  'empty-store',
  'run-code',
  'clear-secret',
  'lose-unreadable',
  'move-endpoint',
] as const;

/**
 * What a file declares is new, rotated, changed and removed. Of every kind of call the first is refused.
 */
async function wholeLife(
  dialect: DialectName,
  { declared, removed, altered }: SampleItem,
  { asked, refused }: { readonly asked: Set<string>; readonly refused: Set<string> },
): Promise<void> {
  const { folder, front } = await begun(dialect);
  const shown = join(folder.path, 'shown');
  mkdirSync(shown);
  front.before = async (seen) => {
    asked.add(kindOf(seen));
  };
  /**
   * Runs a command as often as there is a call that was never refused; the last of them has its way. Some calls follow only on one that
   * was refused, as the schema on the release: they are refused in the same run.
   */
  const everyCall = async (text: string, args: readonly string[]): Promise<void> => {
    writeFileSync(join(folder.path, 'settings.yaml'), text);
    for (let runs = 0, isLast = false; !isLast; runs += 1) {
      expect(runs).toBeLessThan(60);
      isLast = true;
      front.instead = (seen) => {
        const kind = kindOf(seen);
        if (refused.has(kind)) return null;
        isLast = false;
        refused.add(kind);
        return quoting(seen);
      };
      const ended = await setpoint(args, { cwd: folder.path, env: { ...ITEM_ENV } });
      expect(ended.stdout + ended.stderr).not.toContain(QUOTED);
      expect(ended.stdout + ended.stderr).not.toContain('canary-key');
      expect(textIn(shown)).not.toContain(QUOTED);
      if (isLast) expect([0, 2], ended.stderr).toContain(ended.code);
    }
  };
  const written = ['json', 'markdown', 'html', 'github'].flatMap((form) => [
    '-o',
    `${form}=shown/${form}`,
  ]);
  const allowed = RULES.flatMap((rule) => ['--allow', rule]);
  const apply = ['apply', '--yes', ...written, '--journal', 'shown/journal', ...allowed];
  const first = declared(folder.path);
  await everyCall(fileOf(front, first), ['drift', '-o', 'prometheus=shown/metrics']);
  await everyCall(fileOf(front, first), ['plan', '-v', '--out', 'shown/plan.json']);
  await everyCall(fileOf(front, first), apply);
  await everyCall(fileOf(front, first), [...apply, '--rotate', 'all']);
  if (altered !== undefined && !altered[0].includes('git.'))
    await everyCall(fileOf(front, first.replace(...altered)), apply);
  await everyCall(fileOf(front, removed), apply);
}

describe('no answer to any single call is quoted', () => {
  itEach(CASES, ([, dialect, { block }]) => dialect === 'agent-server' && block === 'secrets')(
    '%s: as text, JSON, Markdown, HTML, for GitHub, in a saved plan, in a journal, and as metrics',
    async (_, dialect, sample) => {
      const asked = new Set<string>();
      const refused = new Set<string>();
      const isLeft = () => [...asked].filter((kind) => !refused.has(kind));
      // Some calls follow only on others, which were refused the first time.
      for (let rounds = 0; rounds === 0 || (rounds < 4 && isLeft().length > 0); rounds += 1)
        await wholeLife(dialect, sample, { asked, refused });
      expect([...refused].filter((kind) => !kind.startsWith('GET'))).not.toEqual([]);
      expect(isLeft()).toEqual([]);
    },
  );
});

describe('no answer to a write is quoted by a controller', () => {
  itEach(
    SAMPLES_HERE,
    ([, dialect, { block }]) => dialect === 'agent-server' && block === 'secrets',
  )(
    '%s: in its state, journal, notes, page, API, metrics and notices',
    async (_, dialect, sample) => {
      const { folder, front } = await begun(dialect);
      const received: string[] = [];
      const chat = await onLoopback((_incoming, response, body) => {
        received.push(body);
        response.end('ok');
      });
      onTestFinished(() => chat.close());
      const first = sample.declared(folder.path);
      const own = watchFolder();
      settingsFile(own, fileOf(front, first, WATCH));
      // Through the library: a command of this process moves the clock of the controller's locks.
      const by = async (blocks: string): Promise<void> => {
        const text = fileOf(front, blocks);
        const file = join(folder.path, 'theirs.yaml');
        const asked = { text, file, env: ITEM_ENV, allow: RULES, clock: quickClock() };
        expect((await apply(asked)).environments[0]?.error ?? null).toBeNull();
      };
      await by(first);
      const forms = ['json', 'slack', 'teams'] as const;
      const world = startWatching({
        folder: own,
        request: { env: { ...ITEM_ENV } },
        notify: {
          page: null,
          heartbeat: null,
          receivers: forms.map((form) =>
            receiver({ name: form, to: { form, url: new Secret(chat.url), headers: new Map() } }),
          ),
        },
      });
      await world.pass(3 * MINUTE);
      expect(world.state().status).toBe('in-sync');
      await by(sample.removed);
      const refused: string[] = [];
      front.instead = (seen) => {
        if (seen.method === 'GET') return null;
        refused.push(kindOf(seen));
        return quoting(seen);
      };
      await world.pass(8 * MINUTE);
      expect(refused).not.toEqual([]);
      expect(world.state().healFailed?.message).toContain('422');
      const metrics = createMetrics(world.controller);
      const page = await servePage(world.controller, {
        host: '127.0.0.1',
        port: 0,
        publicOrigin: null,
        token: null,
        tls: null,
        allowActions: false,
        metrics: () => metrics.text(),
        failed: () => {},
        clock: world.clock,
      });
      const paths = [
        '/',
        '/environments/default',
        '/api/environments',
        '/api/environments/default',
      ];
      const pages: string[] = [];
      for (const path of [...paths, '/metrics']) {
        const answer = await fetch(page.url + path);
        expect([path, answer.status]).toEqual([path, 200]);
        pages.push(await answer.text());
      }
      await page.close();
      metrics.close();
      await world.stop();
      expect(received.length).toBeGreaterThan(0);
      const said = [...pages, ...received, JSON.stringify([world.state(), world.notes])];
      for (const text of [...said, textIn(world.data)]) {
        expect(text).not.toContain(QUOTED);
        expect(text).not.toContain('canary-key');
      }
    },
  );
});
