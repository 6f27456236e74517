/** Null of what a service does not have is satisfied: there is nothing to clear. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fields } from '../../../src/reconciler/model/field.ts';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { DIALECTS } from '../../../src/reconciler/service/dialects.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';

const BLOCKS = {
  llm_profiles: { gone: null },
  provider_connections: { gone: null },
  agent_profiles: { gone: null },
  meta_profiles: { gone: null },
  skills: { gone: null },
  plugins: { gone: null },
};
const NEVER_NULL = new Set([
  'secrets_store',
  'enable_solvability_analysis',
  'enable_proactive_conversation_starters',
]);
/** Members that only servers with a schema have, and members of entries that only some have. */
const NATIVE = {
  agent_settings: { llm: { stream_idle_timeout: null }, persona: null },
  conversation_settings: { container_memory: null },
};

it.each(Object.keys(DIALECTS) as DialectName[])(
  '%s takes null of all that it lacks, and is sent nothing',
  async (dialect) => {
    const folder = folderWith({});
    const front = await startFronted({ dialect, data: join(folder.path, 'store.json') });
    const has = DIALECTS[dialect].dialect.fields;
    const lacking = fields().filter(({ name }) => !has.has(name) && !NEVER_NULL.has(name));
    const settings = {
      ...Object.fromEntries(lacking.map(({ name }) => [name, null])),
      ...(dialect === 'agent-server' ? {} : NATIVE),
    };
    const asked = (more: object) => ({
      text: JSON.stringify({ version: 1, server: { url: front.url }, ...more }),
      env: {},
      clock: quickClock(),
    });
    try {
      const stored = await apply(asked({ settings: { language: 'de' } }));
      expect(stored.environments).toMatchObject([{ error: null }]);
      front.seen.length = 0;
      const everything = asked({ settings: { language: 'de', ...settings }, ...BLOCKS });
      const planned = await plan(everything);
      expect(planned.environments).toMatchObject([{ error: null, changes: [] }]);
      expect((await apply(everything)).environments).toMatchObject([
        { error: null, status: 'in-sync' },
      ]);
      expect(front.writes()).toEqual([]);
      const refused = await plan(asked({ llm_profiles: { main: { model: 'openai/gpt-5' } } }));
      const error = dialect === 'settings-v0' ? { code: 'unfit-for-service' } : null;
      expect(refused.environments).toMatchObject([{ error }]);
    } finally {
      await front.close();
      folder.remove();
    }
  },
);
