import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ERRORS } from '../../../src/reconciler/model/error.ts';
import { folderWith, quickTime, setpoint, start, type Ended } from '../../fixture/command.ts';
import {
  startOtlpReceiver,
  tracedBy,
  type OtlpReceiver,
  type ReceivedSpan,
} from '../../fixture/otlp-receiver.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { LONG, itEach } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const COMMIT = '0123456789abcdef0123456789abcdef01234567';

let store: StoreServer;
let receiver: OtlpReceiver;
let folder: ReturnType<typeof folderWith>;
let traced: Record<string, string>;

beforeEach(async () => {
  store = await startStore({}, { language: 'de' });
  receiver = await startOtlpReceiver();
  folder = folderWith({ 'settings.yaml': settings() });
  traced = tracedBy(folder.path, receiver);
});
afterEach(async () => {
  await store.close();
  await receiver.close();
  folder.remove();
});

function settings(more = ''): string {
  return `version: 1
environments:
  production:
    server: { url: "${store.url}" }
    settings: { language: en }
${more}`;
}

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return setpoint(args, { cwd: folder.path, env: { ...traced, ...env } });
}

/** Each span below its parent, as lines that are indented by its depth. */
function tree(spans: readonly ReceivedSpan[]): string[] {
  const ids = new Set(spans.map(({ id }) => id));
  const below = (parent: string, depth: number): string[] =>
    spans
      .filter((span) => span.parent === parent)
      .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...below(span.id, depth + 1)]);
  const roots = new Set(spans.map(({ parent }) => parent).filter((parent) => !ids.has(parent)));
  return [...roots].flatMap((root) => below(root, 0));
}

function named(name: string): ReceivedSpan {
  const found = receiver.spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`no span ${name}: ${tree(receiver.spans).join(', ')}`);
  return found;
}

describe('with an SDK of OpenTelemetry in the process', () => {
  it('a plan is one trace, which has arrived when the command has ended', async () => {
    const { code, stderr } = await run(['plan'], { GITHUB_SHA: COMMIT });
    expect([code, stderr]).toEqual([0, '']);
    expect(tree(receiver.spans)).toEqual([
      'RUN setpoint plan',
      '  plan',
      '    read settings',
      '    read secrets',
    ]);
    expect(named('RUN setpoint plan')).toMatchObject({
      scope: 'setpoint',
      kind: 2,
      parent: '',
      status: 0,
      attributes: {
        'cicd.pipeline.name': 'setpoint plan',
        'cicd.pipeline.action.name': 'RUN',
        'cicd.pipeline.result': 'success',
        'process.exit.code': 0,
        'vcs.ref.head.revision': COMMIT,
      },
    });
    expect(named('plan')).toMatchObject({
      kind: 1,
      status: 0,
      attributes: {
        'cicd.pipeline.task.name': 'plan',
        'cicd.pipeline.task.run.result': 'success',
        'deployment.environment.name': 'production',
        'setpoint.status': 'differs',
        'setpoint.changes': 1,
        'setpoint.dialect': 'settings-v0',
      },
    });
  });

  it('an apply belongs to the trace that TRACEPARENT names, and its requests to its parts', async () => {
    const env = { TRACEPARENT: `00-${TRACE}-${PARENT}-01`, TRACE_REQUESTS: '1' };
    expect((await run(['apply', '--yes'], env)).code).toBe(0);
    expect(store.stored).toMatchObject({ language: 'en' });
    expect(new Set(receiver.spans.map(({ trace }) => trace))).toEqual(new Set([TRACE]));
    expect(named('SYNC setpoint apply').parent).toBe(PARENT);
    expect(tree(receiver.spans)).toEqual([
      'SYNC setpoint apply',
      '  apply',
      ...['read settings', 'read settings', 'write settings', 'read settings'].flatMap((part) => [
        `    ${part}`,
        `      ${part.startsWith('read') ? 'GET' : 'POST'}`,
      ]),
    ]);
    expect(named('write settings').attributes).toMatchObject({
      'cicd.pipeline.task.type': 'deploy',
      'cicd.pipeline.task.run.result': 'success',
    });
    expect(named('apply').attributes).toMatchObject({ 'setpoint.status': 'applied' });
  });

  it(
    'drift went well although it ends with 2, and a plan of a service that refuses the key failed',
    LONG,
    async () => {
      expect((await run(['drift'])).code).toBe(2);
      expect(named('RUN setpoint drift')).toMatchObject({
        status: 0,
        attributes: { 'cicd.pipeline.result': 'success', 'process.exit.code': 2 },
      });
      store.intercept = (_request, response) => {
        response.writeHead(401).end();
        return true;
      };
      expect((await run(['plan'])).code).toBe(4);
      const failed = { status: 2, attributes: { 'error.type': 'unauthorized' } };
      expect(named('RUN setpoint plan')).toMatchObject(failed);
      expect(named('RUN setpoint plan').attributes).toMatchObject({
        'cicd.pipeline.result': 'failure',
      });
      expect(receiver.spans.filter(({ name }) => name === 'plan')).toMatchObject([{}, failed]);
    },
  );

  itEach(
    [
      ['a file that is not valid', ['plan', '-f', 'tracing.mjs'], 'settings-invalid', 'failure'],
      ['a question that nobody answers', ['apply'], 'confirmation-needed', 'failure'],
      ['a service that does not answer', ['plan', '--timeout', '1s'], 'timed-out', 'timeout'],
    ] as const,
    (_, index) => index === 0,
  )('%s is the error of the run', async (_, args, code, result) => {
    store.intercept = () => true;
    expect((await run(args)).code).toBe(ERRORS[code].exit);
    const [root] = receiver.spans.filter(({ kind }) => kind === 2);
    expect(root?.attributes).toMatchObject({ 'error.type': code, 'cicd.pipeline.result': result });
  });

  it('a command that is stopped was cancelled', async () => {
    const stopped = start(['plan'], { cwd: folder.path, env: traced });
    store.intercept = () => {
      stopped.child.kill('SIGTERM');
      return true;
    };
    expect((await stopped.ended).code).toBe(143);
    const root = named('RUN setpoint plan');
    expect(root.attributes['cicd.pipeline.result']).toBe('cancellation');
    expect([root.status, root.attributes['error.type']]).toEqual([0, undefined]);
  });

  it('that throws at whatever it is told, a command does and prints the same', LONG, async () => {
    const plain = await setpoint(['plan'], { cwd: folder.path });
    const hostile = tracedBy(
      folder.path,
      receiver,
      `{ onStart() { throw new Error('start'); }, onEnd() { throw new Error('end'); }, forceFlush() { throw new Error('flush'); }, shutdown: async () => {} }`,
    );
    expect(await setpoint(['plan'], { cwd: folder.path, env: hostile })).toEqual(plain);
    const ends = hostile;
    tracedBy(
      folder.path,
      receiver,
      `{ onStart() {}, onEnd() { throw new Error('end'); }, forceFlush: async () => { throw new Error('flush'); }, shutdown: async () => {} }`,
    );
    expect(await setpoint(['plan'], { cwd: folder.path, env: ends })).toEqual(plain);
    const applied = await setpoint(['apply', '--yes'], { cwd: folder.path, env: ends });
    expect([applied.code, applied.stderr]).toEqual([0, '']);
    expect(store.stored).toMatchObject({ language: 'en' });
    expect(receiver.spans).toEqual([]);
  });

  // The limits of the SDK here are an hour: without one of its own the command would not end.
  it('a receiver that does not answer is not waited for', LONG, async () => {
    receiver.silent = true;
    const plain = await setpoint(['plan'], { cwd: folder.path });
    expect(await run(['plan'])).toEqual(plain);
    expect(receiver.spans).not.toEqual([]);
  });
});

describe('a controller with an SDK', () => {
  function journal(): string {
    const path = join(folder.path, '.setpoint/watch/journal.jsonl');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  async function watching(env: Record<string, string>, isThere: () => boolean): Promise<Ended> {
    const { child, ended } = start(['watch', '--interval', '10s'], {
      cwd: folder.path,
      env: { ...traced, ...env },
      time: quickTime(),
    });
    const isOver = () => child.exitCode !== null || child.signalCode !== null;
    await until(() => isThere() || isOver(), { show: journal });
    child.kill('SIGTERM');
    return ended;
  }

  it('has a trace for each turn, with the heal in it, all of which arrive when it is stopped', async () => {
    writeFileSync(join(folder.path, 'settings.yaml'), settings('    watch: { mode: heal }\n'));
    const env = { TRACEPARENT: `00-${TRACE}-${PARENT}-01`, TRACE_REQUESTS: '1' };
    const { code, stderr } = await watching(env, () => journal().includes('"status":"in-sync"'));
    expect([code, stderr]).toEqual([0, '']);
    expect(store.stored).toMatchObject({ language: 'en' });
    const turns = receiver.spans.filter(({ kind }) => kind === 2);
    expect(turns.map(({ name, parent }) => [name, parent])).toEqual(
      turns.map(() => ['SYNC setpoint watch', '']),
    );
    expect(new Set(turns.map(({ trace }) => trace)).size).toBe(turns.length);
    expect(turns[0]).toMatchObject({
      attributes: {
        'cicd.pipeline.name': 'setpoint watch',
        'cicd.pipeline.result': 'success',
        'deployment.environment.name': 'production',
        'setpoint.watch.mode': 'heal',
        'setpoint.status': 'drift',
        'setpoint.changes': 1,
      },
    });
    const healing = receiver.spans.find(({ name }) => name === 'apply');
    const healed = turns.find(({ id }) => id === healing?.parent);
    expect(healed?.attributes).toMatchObject({ 'setpoint.status': 'in-sync' });
    const own = receiver.spans.filter(({ trace }) => trace === healed?.trace);
    const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/traces.md'), 'utf8');
    expect(/```text\n(SYNC [^]*?)```/.exec(page)?.[1]).toBe(`${tree(own).join('\n')}\n`);
  });

  it('in mode detect names the commit, and the error of a service that is down', LONG, async () => {
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: folder.path,
        encoding: 'utf8',
      }).trim();
    git('init', '-q');
    git('add', 'settings.yaml');
    git('commit', '-qm', 'first');
    await store.close();
    const { code } = await watching({ PATH: process.env['PATH'] ?? '' }, () =>
      journal().includes('"status":"error"'),
    );
    expect(code).toBe(0);
    expect(named('RUN setpoint watch')).toMatchObject({
      status: 2,
      attributes: {
        'cicd.pipeline.action.name': 'RUN',
        'cicd.pipeline.result': 'failure',
        'error.type': 'unreachable',
        'setpoint.status': 'error',
        'setpoint.watch.mode': 'detect',
        'vcs.ref.head.revision': git('rev-parse', 'HEAD'),
      },
    });
  });
});
