import { describe, expect, it } from 'vitest';
import { digestsUnder } from '../../../src/reconciler/host/digests.ts';
import type { SavedDigest } from '../../../src/reconciler/model/documents.gen.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import type { Json } from '../../../src/reconciler/model/value.ts';
import { restoreSavedSettings, settingsToSave } from '../../../src/reconciler/plan/snapshot.ts';
import { observedOf } from '../../fixture/observed.ts';
import { declared } from './declared.ts';

const MASK = '(sensitive)';
const DIGESTS = digestsUnder('00');
const A = 'https://a.example.com/mcp';

type Fields = Readonly<Record<string, unknown>>;

/** What is saved of a service that answers a record, under a file with these settings. */
function saved(record: Fields, settings: string, variables = { SECRET: 'word' }) {
  const { answer } = observedOf(record);
  return settingsToSave(answer, declared(settings, variables), DIGESTS);
}
const shown = (record: Fields, settings = 'language: en') => saved(record, settings).settings;
const pathsOf = (digests: readonly SavedDigest[]) => digests.map(({ path }) => path.join('.'));

describe('what is saved of an answer', () => {
  it('is open if nothing in it is a secret', () => {
    const record = { language: 'en', max_iterations: 5, confirmation_mode: true, agent: null };
    expect(shown(record)).toEqual(record);
  });

  it('is masked in each place that the file writes as a reference, whatever is there', () => {
    const record = { language: 'en', max_iterations: 5, agent: 'A' };
    expect(shown(record, 'language: ${env:SECRET}\nmax_iterations: ${env:MISSING}')).toEqual({
      language: MASK,
      max_iterations: MASK,
      agent: 'A',
    });
    expect(shown({ language: null, agent: 'A' }, 'language: ${env:SECRET}')).toMatchObject({
      language: null,
    });
  });

  it('is masked in every other place that has the value of a reference', () => {
    const record = {
      agent: 'word',
      language: 'word',
      security_analyzer: 'words',
      git_user_name: 'other',
      later: { list: ['word'], isThere: true },
    };
    expect(shown(record, 'agent: ${env:SECRET}\nlanguage: word')).toEqual({
      agent: MASK,
      language: MASK,
      security_analyzer: 'words',
      git_user_name: 'other',
      later: { list: [MASK], isThere: true },
    });
  });

  it('is not masked for a value that only the file has as a literal', () => {
    expect(shown({ agent: 'word', language: 'word' }, 'agent: word')).toEqual({
      agent: 'word',
      language: 'word',
    });
  });

  it('keeps the address of a url with a secret in it, unless a reference has it', () => {
    const url = 'https://me:pass@llm.example.com/v1?key=k';
    const bare = `https://llm.example.com/v1?${MASK}`;
    expect(shown({ llm_base_url: url })).toEqual({ llm_base_url: bare });
    const variables = { SECRET: url };
    expect(saved({ llm_base_url: url }, 'llm_base_url: ${env:SECRET}', variables).settings).toEqual(
      {
        llm_base_url: MASK,
      },
    );
    const elsewhere = saved({ agent: 'A', llm_base_url: url }, 'agent: ${env:SECRET}', variables);
    expect(elsewhere.settings).toEqual({ agent: MASK, llm_base_url: MASK });
  });

  it('shows of a program the literals of the file, and masks what comes from a reference', () => {
    const record = {
      mcp_config: {
        stdio_servers: [
          {
            name: 'files',
            command: 'npx',
            args: ['--root', '/srv', 'word'],
            env: { A: 'a', B: 'b' },
          },
          { name: 'other', command: 'npx', args: ['--root'] },
        ],
        shttp_servers: [{ url: A, api_key: 'k' }],
      },
    };
    const settings = `mcp_config:
  stdio_servers:
    - { name: files, command: npx, args: [--root, /tmp, "\${env:SECRET}"], env: { A: a, B: "\${env:SECRET}" } }`;
    expect(shown(record, settings)).toEqual({
      mcp_config: {
        stdio_servers: [
          {
            name: 'files',
            command: 'npx',
            args: ['--root', MASK, MASK],
            env: { A: 'a', B: MASK },
          },
          { name: 'other', command: 'npx', args: [MASK] },
        ],
        shttp_servers: [{ url: A, api_key: MASK }],
      },
    });
  });

  it('is saved as it is if the file and the service do not fit each other', () => {
    expect(shown({ mcp_config: null }, 'mcp_config: { stdio_servers: [] }')).toEqual({
      mcp_config: null,
    });
    expect(
      shown({ mcp_config: { stdio_servers: 'x' } }, 'mcp_config: { stdio_servers: [] }'),
    ).toEqual({ mcp_config: { stdio_servers: MASK } });
    const config = { mcp_config: { shttp_servers: [{ url: A, timeout: 5 }] } };
    expect(shown(config, 'mcp_config: null')).toEqual(config);
  });
});

describe('the digests that are saved', () => {
  const SERVER = `mcp_config: { shttp_servers: [{ url: "${A}?team=literal" }] }`;
  const stored = (url: string) => ({
    mcp_config: { shttp_servers: [{ url: 'https://other.example.com' }, { url }] },
  });

  it('are of masked values that the file has as literals in the same place', () => {
    const url = 'https://llm.example.com/v1?key=literal';
    const one = saved(
      { llm_base_url: url, language: 'en' },
      `llm_base_url: "${url}"\nlanguage: en`,
    );
    expect(pathsOf(one.digests)).toEqual(['llm_base_url']);
    expect(one.digests[0]?.digest).toMatch(/^hmac-sha256:/);
    expect(saved({ llm_base_url: `${url}2` }, `llm_base_url: "${url}"`).digests).toEqual([]);
    expect(saved({ language: 'en', llm_base_url: url }, 'language: en').digests).toEqual([]);
  });

  it('are of the entry that is compared, wherever it stands', () => {
    const { digests } = saved(stored(`${A}?team=literal`), SERVER);
    expect(pathsOf(digests)).toEqual(['mcp_config.shttp_servers.1.url']);
  });

  it('are none of a value that comes from a reference, or that only the service has', () => {
    const url = 'https://llm.example.com/v1?key=word';
    const text = 'llm_base_url: "https://llm.example.com/v1?key=${env:SECRET}"';
    expect(saved({ llm_base_url: url }, text).digests).toEqual([]);
    expect(saved(stored(`${A}?team=other`), SERVER).digests).toEqual([]);
  });

  it('are not made if none are asked for', () => {
    const url = 'https://llm.example.com/v1?key=literal';
    const { answer } = observedOf({ llm_base_url: url });
    const without = settingsToSave(answer, declared(`llm_base_url: "${url}"`), null);
    expect(without.digests).toEqual([]);
    expect(without.settings).toEqual({ llm_base_url: `https://llm.example.com/v1?${MASK}` });
  });
});

describe('an answer that is read from a snapshot', () => {
  const url = 'https://llm.example.com/v1?key=literal';
  const text = `llm_base_url: "${url}"`;
  const read = (
    settings: Readonly<Record<string, Json>>,
    digests: readonly SavedDigest[],
    file = text,
  ) => restoreSavedSettings(settings, digests, declared(file, { SECRET: url }), DIGESTS);
  const { settings, digests } = saved({ llm_base_url: url, language: 'en' }, text);
  const answer = settings as Readonly<Record<string, Json>>;

  it('has what is open, and of what is masked neither a value nor an equal', () => {
    const found = read({ language: 'en', agent: MASK, list: [1, { a: null, b: MASK }] }, []);
    expect(found['language']).toBe('en');
    expect(found['agent']).toBeInstanceOf(UnseenSecret);
    expect(found['list']).toEqual([1, { a: null, b: expect.any(UnseenSecret) }]);
    expect((found['agent'] as Secret).sameAs(found['agent'])).toBe(false);
    expect((found['agent'] as Secret).identity?.key).toBeNull();
  });

  it('has the literal of the file that has the digest of a masked value', () => {
    const found = read(answer, digests)['llm_base_url'] as Secret;
    expect(found).not.toBeInstanceOf(UnseenSecret);
    expect(found.reveal()).toBe(url);
    expect(found.identity?.shown).toBe('https://llm.example.com/v1');
  });

  it('has another value than the file if none of its literals has that digest', () => {
    for (const file of [`llm_base_url: "${url}2"`, 'llm_base_url: ${env:SECRET}', 'language: en']) {
      const found = read(answer, digests, file)['llm_base_url'] as Secret;
      expect(found).toBeInstanceOf(Secret);
      expect(found).not.toBeInstanceOf(UnseenSecret);
      expect(found.sameAs(new Secret(url))).toBe(false);
      expect(found.identity?.shown).toBe('https://llm.example.com/v1');
    }
  });

  it('finds literals inside of lists and maps, and those of the same field only', () => {
    const file = (url: string) =>
      `mcp_config: { shttp_servers: [{ url: "https://b.example.com" }, { url: "${url}" }] }`;
    const address = `${A}?team=literal`;
    const one = saved({ mcp_config: { shttp_servers: [{ url: address }] } }, file(address));
    const masked = one.settings as Readonly<Record<string, Json>>;
    const addressIn = (text: string) => {
      const config = read(masked, one.digests, text)['mcp_config'] as unknown as {
        shttp_servers: [{ url: Secret }];
      };
      return config.shttp_servers[0].url;
    };
    expect(pathsOf(one.digests)).toEqual(['mcp_config.shttp_servers.0.url']);
    expect(addressIn(file(address)).reveal()).toBe(address);
    expect(addressIn(file(A)).sameAs(address)).toBe(false);
    expect(addressIn(`llm_base_url: "${address}"`).sameAs(address)).toBe(false);
  });

  it('keeps a masked url apart from a text that is masked as a whole', () => {
    const found = read({ a: `https://a.example.com/x?${MASK}`, b: `word ${MASK} word` }, []);
    expect((found['a'] as Secret).identity).toMatchObject({
      shown: 'https://a.example.com/x',
      key: 'https://a.example.com/x',
    });
    expect((found['b'] as Secret).identity?.key).toBeNull();
  });
});
