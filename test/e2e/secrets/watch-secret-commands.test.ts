import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SharedSecrets } from '../../../src/reconciler/host/shared-secrets.ts';
import { fleetNames, startFleet } from '../../fixture/fleet.ts';
import {
  HandClock,
  MINUTE,
  settingsFile,
  startWatching,
  watchFolder,
} from '../../fixture/watch-world.ts';
import { LONG } from '../../fixture/long.ts';

const CANARY = 'canary-of-a-store-17';

/** A program that notes each start, and what it was asked for. */
function program(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

it(
  '50 environments that read one secret start one process in a round, and one of a batch command',
  LONG,
  async () => {
    const fleet = await startFleet();
    onTestFinished(() => fleet.close());
    const folder = watchFolder();
    const calls = join(folder, 'calls');
    const one = program(folder, 'one', `echo "one $1" >> ${calls}; printf '${CANARY}'`);
    const all = program(
      folder,
      'all',
      // In one write: both programs note into the same file.
      `echo "$(tr '"' '\\n' | grep ^b | tr '\\n' ' ')" >> ${calls}
printf '{'; for n in $(seq 0 49); do printf '"b%s":{"value":"${CANARY}-%s","error":null},' $n $n; done; printf '"z":{}}'`,
    );
    const names = fleetNames(50);
    settingsFile(
      folder,
      `version: 1
settings: { max_iterations: 101, llm_api_key: "\${secret:one/llm}" }
environments:
${names.map((name, index) => `  ${name}: { server: { url: "${fleet.url}/${name}", api_key: "\${secret:all/b${index}}" } }`).join('\n')}
`,
    );
    const env = {
      SETPOINT_SECRET_COMMANDS: JSON.stringify({
        one: [one, '{}'],
        all: { argv: [all], protocol: 'batch' },
      }),
    };
    const watch = startWatching({ folder, request: { env } });
    await watch.pass(2 * MINUTE);
    expect(watch.controller.states().map(({ found }) => found)).toEqual(names.map(() => 'drift'));
    expect(watch.reads.length).toBeGreaterThanOrEqual(names.length);
    const [first = '', ...others] = linesOf(calls).filter((line) => line.startsWith('b'));
    expect(linesOf(calls).filter((line) => line === 'one llm')).toHaveLength(1);
    expect([first.trim().split(' ').length, others]).toEqual([names.length, []]);
    rmSync(calls);
    await watch.pass(5 * MINUTE);
    // A batch command is asked again for what the round before needed, whoever comes first.
    expect(linesOf(calls).filter((line) => line === 'one llm')).toHaveLength(1);
    const [again = '', ...more] = linesOf(calls).filter((line) => line.startsWith('b'));
    expect([again.trim().split(' ').length, more]).toEqual([names.length, []]);
    await watch.stop();
  },
);

it('a secret that no command gives is missing only where it is read, and is asked for again after a minute', async () => {
  const fleet = await startFleet();
  onTestFinished(() => fleet.close());
  const folder = watchFolder();
  const calls = join(folder, 'calls');
  const store = program(
    folder,
    'store',
    `echo "$1" >> ${calls}; [ "$1" = good ] || [ -e ${folder}/mended ] || exit 3; printf '${CANARY}'`,
  );
  settingsFile(
    folder,
    `version: 1
watch: { interval: 1m }
environments:
  one: { server: { url: "${fleet.url}/one" }, settings: { language: en, llm_api_key: "\${secret:store/good}" } }
  two: { server: { url: "${fleet.url}/two" }, settings: { language: en, llm_api_key: "\${secret:store/bad}" } }
`,
  );
  const env = { SETPOINT_SECRET_COMMANDS: JSON.stringify({ store: [store, '{}'] }) };
  const watch = startWatching({ folder, request: { env } });
  await watch.pass(MINUTE / 2);
  const unknown = (name: string) =>
    watch.state(name).plan?.unknown.map(({ kind, reason }) => [kind, reason]);
  expect(unknown('one')?.map(([kind]) => kind)).not.toContain('missing');
  expect(unknown('two')).toContainEqual([
    'missing',
    expect.stringContaining('the secret command store ended with exit code 3'),
  ]);
  expect(linesOf(calls).toSorted()).toEqual(['bad', 'good']);
  writeFileSync(join(folder, 'mended'), '');
  await watch.pass(2 * MINUTE);
  expect(unknown('two')?.map(([kind]) => kind)).not.toContain('missing');
  expect(linesOf(calls).toSorted()).toEqual(['bad', 'bad', 'good']);
  await watch.stop();
});

it('a value is forgotten when its round ends, but not by the run that asked', async () => {
  const folder = watchFolder();
  const store = program(folder, 'store', `date +%N >> ${folder}/calls; printf '${CANARY}'`);
  const env = { SETPOINT_SECRET_COMMANDS: JSON.stringify({ store: [store, '{}'] }) };
  const clock = new HandClock();
  const secret = { command: 'store', path: 'x' };
  const shared = new SharedSecrets(env, clock, MINUTE, undefined);
  const first = shared.forRun();
  await first.ask([secret]);
  clock.passed += MINUTE;
  const second = shared.forRun();
  expect(second.of(secret)).toBeUndefined();
  await second.ask([secret]);
  expect([first.of(secret), second.of(secret)]).toEqual([{ text: CANARY }, { text: CANARY }]);
  expect(linesOf(join(folder, 'calls'))).toHaveLength(2);
});
