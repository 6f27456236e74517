import { expect, it } from 'vitest';
import { folderWith, start } from '../../fixture/command.ts';
import { limitingServer } from '../../fixture/limiting-server.ts';
import { LONG } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const WAIT = 8;
/** Of the eight seconds, in ms: what was on its way before the answer had arrived; turns are more than a second apart. */
const ON_ITS_WAY = 3000;

it(
  'a 429 of one environment makes the others of its origin wait as long as it says, and none of another origin',
  LONG,
  async () => {
    const clock = { monotonic: () => performance.now() };
    const asked = { limited: [] as number[], other: [] as number[] };
    const limited = await limitingServer((now) => {
      asked.limited.push(now);
      return asked.limited.length === 1 ? String(WAIT) : null;
    }, clock);
    const other = await limitingServer((now) => {
      asked.other.push(now);
      return null;
    }, clock);
    const entries = NAMES.flatMap((name) => [
      `  ${name}: { server: { url: "${limited.url}/${name}", api_key: "\${env:KEY}" } }`,
      `  other-${name}: { server: { url: "${other.url}/${name}", api_key: "\${env:OTHER}" } }`,
    ]);
    const folder = folderWith({
      'settings.yaml': `version: 1
settings: { language: en }
watch: { interval: 10s }
environments:
${entries.join('\n')}
`,
    });
    const { child, ended } = start(['watch'], {
      cwd: folder.path,
      env: { KEY: 'a-session-key', OTHER: 'another-session-key' },
    });
    const afterwards = () =>
      asked.limited.some((at) => at > (asked.limited[0] ?? 0) + WAIT * 1000 - 100);
    await until(() => afterwards() || child.exitCode !== null);
    child.kill('SIGTERM');
    await ended;
    folder.remove();
    const [refused = Number.NaN, ...later] = asked.limited;
    expect(limited.refused).toHaveLength(1);
    const next = later.find((at) => at > refused + ON_ITS_WAY);
    expect(next).toBeGreaterThan(refused + WAIT * 1000 - 100);
    const meanwhile = asked.other.filter((at) => at > refused && at < refused + WAIT * 1000);
    expect(meanwhile.length).toBeGreaterThan(1);
  },
);
