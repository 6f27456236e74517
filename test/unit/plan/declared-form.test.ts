import { describe, expect, it } from 'vitest';
import type { ReferenceSource } from '../../../src/reconciler/model/ports.ts';
import type { ObservedState } from '../../../src/reconciler/model/state.ts';
import { readTargets } from '../../../src/reconciler/desired/target.ts';
import { resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import { digestsUnder } from '../../../src/reconciler/host/digests.ts';
import { digestDeclaredChanges } from '../../../src/reconciler/plan/declared.ts';
import { NOTHING_KNOWN, planSettings } from '../../../src/reconciler/plan/plan-settings.ts';
import { settingsToSave } from '../../../src/reconciler/plan/snapshot.ts';
import type { concealV0Record } from '../../../src/reconciler/service/settings-v0/read.ts';
import { observedOf } from '../../fixture/observed.ts';
import { createSettingsPart } from '../../../src/reconciler/plan/settings-part.ts';

const CANARY = 'canary-5be0d1';
const SETTINGS = `version: 1
server: { url: "https://agents.example.com" }
settings:
  language: \${env:SECRET}
  llm_api_key: \${env:SECRET}
  llm_base_url: "https://me:\${env:SECRET}@llm.example.com/v1?key=literal-key"
  mcp_config:
    stdio_servers:
      - { name: files, command: npx, args: "--password literal-word \${env:SECRET}", env: { A: "\${env:SECRET}", B: literal } }
    shttp_servers:
      - { url: "https://a.example.com/mcp?team=literal-team", api_key: "\${env:SECRET}" }
`;

function desiredWith(secret: string) {
  const file = { path: 'settings.yaml', text: SETTINGS, bases: [] };
  const { targets } = readTargets(file, { serverGiven: false, several: false });
  const source: ReferenceSource = {
    variable: () => secret,
    file: () => ({ problem: 'none' }),
  };
  const [target] = targets;
  if (target === undefined) throw new Error('The file has a target.');
  return resolveSettings(target, source);
}

function observed(record: Parameters<typeof concealV0Record>[0]): ObservedState {
  return observedOf(record);
}

/** Digests that keep what they were made of. */
function noted() {
  const texts: string[] = [];
  const { quick } = digestsUnder('00');
  return {
    texts,
    quick: (text: string) => {
      texts.push(text);
      return quick(text);
    },
  };
}

describe('no digest is made of a value of a reference, or of what only the service has', () => {
  const digestsOf = (secret: string, digests = noted()) => {
    const desired = desiredWith(secret);
    const settings = planSettings(desired, observed({ llm_api_key_set: true }), NOTHING_KNOWN);
    const made = digestDeclaredChanges([createSettingsPart(settings)], desired, digests);
    return { digests: made, texts: digests.texts };
  };

  it('in a saved plan: other values of the same references give the same digests', () => {
    const one = digestsOf(CANARY);
    expect(one.digests).toHaveLength(4);
    expect(one.digests).toEqual(digestsOf('another-value').digests);
    expect(one.texts.join('\n')).not.toContain(CANARY);
    expect(one.texts.join('\n')).toContain('literal-word');
  });

  it('in a saved observation: only of what the file writes out in the same place', () => {
    const digests = noted();
    const { settings, digests: saved } = settingsToSave(
      observed({
        language: CANARY,
        llm_base_url: `https://me:${CANARY}@llm.example.com/v1?key=literal-key`,
        later_token: 'literal-word',
        mcp_config: {
          stdio_servers: [
            {
              name: 'files',
              command: 'npx',
              args: ['--password', 'literal-word', CANARY],
              env: { A: CANARY, B: 'service', C: 'x' },
            },
            { name: 'other', command: 'npx', args: ['literal-word'], env: {} },
          ],
          shttp_servers: [
            { url: 'https://a.example.com/mcp?team=literal-team', api_key: CANARY, timeout: 60 },
            { url: 'https://b.example.com/mcp?team=service-only', api_key: 'service-only' },
          ],
        },
      }).answer,
      desiredWith(CANARY),
      digests,
    );
    const texts = digests.texts.join('\n');
    expect(texts).not.toContain(CANARY);
    expect(texts).not.toContain('service');
    expect(texts).toContain('literal-team');
    const places = saved.map(({ path }) => path.join('.'));
    expect(places).toContain('mcp_config.shttp_servers.0.url');
    for (const place of places)
      expect(place).toMatch(/^mcp_config\.(stdio_servers\.0\.args\.[01]|shttp_servers\.0\.url)$/);
    expect(JSON.stringify(settings)).not.toContain(CANARY);
  });
});

it('digests under one salt are alike, under another they are not, and a guess costs time if it must', async () => {
  const [one, same, other] = [digestsUnder('aa'), digestsUnder('aa'), digestsUnder()];
  expect(one.quick('x')).toBe(same.quick('x'));
  expect(one.quick('x')).not.toBe(other.quick('x'));
  expect(await one.slow('x')).toBe(await same.slow('x'));
  expect(await one.slow('x')).not.toBe(await other.slow('x'));
  expect(await one.slow('x')).toMatch(/^scrypt:[0-9a-f]{64}$/);
  expect(other.salt).toMatch(/^[0-9a-f]{32}$/);
});

it('a server has the digest of its own declaration, also if its name ends as a second one alike does', () => {
  const digests = digestsUnder('00');
  const [one, same, other] = ['--key one', '--key one', '--key two'].map((args) => {
    const text = `version: 1
server: { url: "https://agents.example.com" }
settings:
  agent_settings: { mcp_config: { "tool#2": { command: npx, args: [${args}] }, tool: { command: npx } } }
`;
    const { targets } = readTargets(
      { path: 'settings.yaml', text, bases: [] },
      { serverGiven: false, several: false },
    );
    const [target] = targets;
    if (target === undefined) throw new Error('The file has a target.');
    const desired = resolveSettings(target, { variable: () => '', file: () => ({ problem: '' }) });
    const settings = planSettings(desired, observed({}), NOTHING_KNOWN);
    return digestDeclaredChanges([createSettingsPart(settings)], desired, digests);
  });
  expect(one).toHaveLength(2);
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
});
