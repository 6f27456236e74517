/** Several setpoints that write profiles of one service at the same time. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { truthIn } from '../../fixture/collections/truth.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { itEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

const WRITERS = ['a', 'b', 'c'] as const;
const ROUNDS = 6;

itEach(['app-server', 'agent-server'] as const, () => false)(
  '%s: each has its own profiles as declared, with its own keys, and the one that is active stays so',
  async (dialect) => {
    const folder = folderWith({});
    const data = join(folder.path, 'store.json');
    const front = await startFronted({ dialect, apiKey: 'a-key', data });
    const asked = (writer: string, round: number) => {
      const active = writer === 'a' ? 'active: { llm_profile: a }\n' : '';
      const own = `{ model: openai/gpt-5, base_url: "https://${writer}.example.com/v1", num_retries: ${round}, api_key: "\${env:KEY}" }`;
      const head = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n`;
      return {
        text: `${head}llm_profiles: { ${writer}: ${own}, ${writer}-2: { model: openai/gpt-5-mini } }\n${active}`,
        file: join(folder.path, `${writer}.yaml`),
        env: { KEY: `canary-${writer}-${round}`, SETPOINT_STATE_KEY: 'state' },
        clock: quickClock(),
        allow: ['empty-store'] as const,
      };
    };
    try {
      await apply(asked('a', 0));
      for (let round = 1; round <= ROUNDS; round += 1) {
        const ends = await Promise.all(
          WRITERS.map((writer) => apply({ ...asked(writer, round), rotate: 'all' })),
        );
        expect(JSON.stringify(ends)).not.toContain('canary');
        for (const { environments } of ends) expect(environments[0]?.error).toBeNull();
        const { items } = truthIn(data, dialect, {});
        expect(Object.keys(items.llm_profiles).toSorted()).toEqual(
          WRITERS.flatMap((writer) => [writer, `${writer}-2`]),
        );
        for (const writer of WRITERS)
          expect(items.llm_profiles[writer]).toMatchObject({
            num_retries: round,
            api_key: `canary-${writer}-${round}`,
          });
        // What another writer's store has made inactive is found by the next run.
        await apply(asked('a', round));
        expect(truthIn(data, dialect, {}).items.active['llm_profile']).toEqual({ profile: 'a' });
      }
      for (const writer of WRITERS) {
        const [found] = (await plan(asked(writer, ROUNDS))).environments;
        expect(found).toMatchObject({ error: null, changes: [] });
      }
    } finally {
      await front.close();
      folder.remove();
    }
  },
);
