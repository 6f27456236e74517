import { expect, it } from 'vitest';
import { plan } from '../../../src/index.ts';

const LISTS = {
  SETPOINT_ALLOWED_ORIGINS: 'https://agents.example.com',
  SETPOINT_ALLOWED_VARIABLES: 'LLM_KEY,SERVICE_KEY',
  SETPOINT_ALLOWED_SECRETS: 'vault/llm',
} as const;
const NAMES = Object.keys(LISTS) as (keyof typeof LISTS)[];
const text = `version: 1
server: { url: "https://agents.example.com", api_key: "\${env:SERVICE_KEY}" }
settings: { llm_api_key: "\${env:LLM_KEY}", search_api_key: "\${secret:vault/llm}" }
`;

/** Every choice of the lists. */
const choices = NAMES.reduce<readonly (readonly (keyof typeof LISTS)[])[]>(
  (all, name) => [...all, ...all.map((some) => [...some, name])],
  [[]],
);

it.each(choices.slice(0, -1).map((set) => ({ set })))(
  'a pipeline that sets $set is told of all other lists by one run',
  async ({ set }) => {
    const env = { CI: 'true', LLM_KEY: 'l', SERVICE_KEY: 's' };
    const lists = Object.fromEntries(set.map((name) => [name, LISTS[name]]));
    const { environments } = await plan({ text, env: { ...env, ...lists } });
    const { message = '', hint = '' } = environments[0]?.error ?? {};
    for (const name of NAMES) {
      const isMissing = !set.includes(name);
      expect(message.includes(name), message).toBe(isMissing);
      const [, line] = new RegExp(`${name}=(\\S+)`).exec(hint) ?? [];
      const entries = line?.split(',').toSorted().join(',');
      expect(entries, hint).toBe(isMissing ? LISTS[name] : undefined);
    }
  },
);
