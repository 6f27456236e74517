import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import { apply } from '../../src/operations/apply.ts';
import { get } from '../../src/operations/get.ts';
import { loadTargets } from '../../src/operations/load.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
let service: Emulator | undefined;
afterEach(() => service?.close());

const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.yaml') && !path.endsWith('base.yaml'),
);

describe('the examples', () => {
  it.each(files)('%s is valid', (path) => {
    const { targets, diagnostics } = loadTargets({ file: join(EXAMPLES, path), env: {} });
    expect(diagnostics).toEqual([]);
    expect(targets.length).toBeGreaterThan(0);
  });

  it('sandboxes: started by the first morning, paused every evening, resumed every other morning', async () => {
    service = await startEmulator({ startMs: 0 });
    const file = join(EXAMPLES, 'sandboxes/settings.yaml');
    const options = { file, server: service.url, env: {} };
    const seen: string[] = [];
    for (const targets of [['day'], ['night'], ['day'], ['night']]) {
      const { environments } = await apply({ ...options, targets });
      const { environments: looks } = await get({ ...options, targets, resources: ['sandboxes'] });
      const changes = environments[0]?.changes.map(({ action }) => action) ?? [];
      const states = looks[0]?.sandboxes?.map(({ status }) => status) ?? [];
      seen.push(`${changes.join(' ')}: ${states.join(' ')}`);
    }
    expect(seen).toEqual([
      'start start: RUNNING RUNNING',
      'pause pause: PAUSED PAUSED',
      'resume resume: RUNNING RUNNING',
      'pause pause: PAUSED PAUSED',
    ]);
  });
});
