import { expect, it } from 'vitest';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { outcomeText, planText } from '../../src/reconciler/render/section-text.ts';
import { startSandboxServer } from '../fixture/sandbox-server.ts';
import { quickClock, request } from '../fixture/settings.ts';
import { expectGolden } from './golden-file.ts';

interface Scenario {
  readonly world: Parameters<typeof startSandboxServer>[1];
  readonly sandboxes: string;
  readonly settings?: string;
}

const AGES = ['2023-11-14T20:00:00Z', '2023-11-14T21:00:00Z', '2023-11-14T22:00:00Z'];
const OLD = { sandbox_spec_id: 'spec-a', created_at: '2023-11-01T00:00:00Z' };

function running(id: string, age: number, spec = 'spec-a') {
  return { id, sandbox_spec_id: spec, status: 'RUNNING', created_at: AGES[age] ?? '' };
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'a bit of everything': {
    world: {
      stored: { language: 'fr' },
      specs: ['spec-a', 'spec-b'],
      sandboxes: [
        running('spare', 0),
        running('busy', 1),
        running('surplus', 2),
        { ...OLD, id: 'paused', sandbox_spec_id: 'spec-b', status: 'PAUSED' },
        { ...OLD, id: 'broken', sandbox_spec_id: 'spec-b', status: 'ERROR' },
        running('named', 0, 'spec-b'),
      ],
      conversations: [{ id: 'c', sandbox_id: 'busy', execution_status: 'running' }],
    },
    settings: '  language: en\n  sandbox_api_key: null\n',
    sandboxes: '  - spec: spec-b\n    running: 2\n  - running: 0\n    surplus: pause\n  - id: named\n    state: paused\n',
  },
  'two that are gone': {
    world: { sandboxes: [] },
    sandboxes: '  - id: a\n    state: running\n  - id: b\n    state: paused\n',
  },
  'more than the service allows': {
    world: { sandboxes: [running('one', 0), running('two', 1)], limit: 2, boots: 0 },
    sandboxes: '  - running: 3\n',
  },
  'another spec than the one that was started': {
    world: { shows: (spec) => `${spec}@sha256` },
    sandboxes: '  - spec: spec-a\n    running: 1\n',
  },
  'what nobody declared makes room': {
    world: { sandboxes: [running('theirs', 0, 'spec-b')], specs: ['spec-a', 'spec-b'], limit: 2, boots: 0 },
    sandboxes: '  - spec: spec-a\n    running: 2\n',
  },
};

it.each(Object.keys(SCENARIOS))('%s', async (name) => {
  const { world, sandboxes, settings = '' } = SCENARIOS[name] as Scenario;
  const clock = quickClock();
  const server = await startSandboxServer(clock, world);
  try {
    const { text = '', ...asked } = request(server.url, settings, { clock });
    const options = { ...asked, text: `${text}sandboxes:\n${sandboxes}` };
    const style = { color: false, width: 80, verbose: false };
    const planned = planText(await plan(options), style);
    const document = await apply(options);
    const [error] = document.environments.map((environment) => environment.error);
    const failure = error === null || error === undefined ? '' : `\nsetpoint: ${error.message}\n  ${error.hint}\n`;
    const shown = [planned, outcomeText(document, style) + failure].join('\n--------\n\n');
    const path = `sandboxes/${name.replaceAll(/[^a-z]+/g, '-')}/expected.txt`;
    expectGolden(path, shown.replaceAll(server.url, 'http://127.0.0.1:3000'));
    expect(server.posts()).toBeLessThan(10);
  } finally {
    await server.close();
  }
});
