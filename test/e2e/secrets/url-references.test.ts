import { expect, it } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { quickClock } from '../../fixture/settings.ts';

/* A reference behind the host of a url, or in its userinfo, is sent to that host like a key. */

const ALL: readonly DialectName[] = ['settings-v0', 'app-server', 'agent-server'];
const LATER: readonly DialectName[] = ['app-server', 'agent-server'];
const LAST: readonly DialectName[] = ['agent-server'];

const PLACES: readonly (readonly [
  place: string,
  dialects: readonly DialectName[],
  text: string,
])[] = [
  ['an mcp server', ALL, 'mcp_servers: { one: { url: URL, transport: http } }'],
  ['a list of mcp servers', ALL, 'settings: { mcp_config: { shttp_servers: [URL] } }'],
  ['a skill', LAST, 'skills: { one: { source: URL } }'],
  ['a plugin', LAST, 'plugins: { one: { source: URL } }'],
  ['a marketplace', LATER, 'marketplaces: { one: { source: URL } }'],
];
const URLS = [
  'https://git.example.com/${env:K}',
  'https://git.example.com/x?k=${env:K}',
  'https://u:${env:K}@git.example.com/x',
];
/** A `ref` beside the address of a repository is sent there, too. */
const REPOSITORIES = [
  'https://git.example.com/x',
  'ssh://git@git.example.com/x',
  'git@git.example.com:x/y',
];
const CASES_OF_REF = PLACES.filter(([, , text]) => text.includes('source:')).flatMap(
  ([place, dialects, text]) =>
    dialects.flatMap((dialect) =>
      REPOSITORIES.map(
        (url) => [place, dialect, url, text.replace('URL', 'URL, ref: "${env:K}"')] as const,
      ),
    ),
);
const CASES_OF_URL = PLACES.flatMap(([place, dialects, text]) =>
  dialects.flatMap((dialect) =>
    // Validation refuses userinfo of mcp servers.
    URLS.slice(0, place.includes('mcp') ? 2 : 3).map((url) => [place, dialect, url, text] as const),
  ),
);

const CASES = [...CASES_OF_URL, ...CASES_OF_REF];

it.each(CASES)(
  'the host of %s of %s must be an allowed origin: %s',
  async (_, dialect, url, text) => {
    const front = await startFronted({ dialect });
    try {
      const asked = (origins: string) => ({
        text: `version: 1\nserver: { url: "${front.url}" }\n${text.replace('URL', `"${url}"`)}\n`,
        env: { K: 'a-secret-key', SETPOINT_ALLOWED_ORIGINS: origins },
        clock: quickClock(),
      });
      const [refused] = (await plan(asked(front.url))).environments;
      expect(refused?.error).toMatchObject({
        code: 'not-allowed',
        message: expect.stringContaining('git.example.com is not among') as string,
      });
      expect(JSON.stringify(refused)).not.toContain('a-secret-key');
      expect(front.seen).toEqual([]);
      const [allowed] = (await plan(asked(`${front.url},https://git.example.com`))).environments;
      expect(allowed?.error ?? null).toBeNull();
      const plain = {
        ...asked(front.url),
        text: asked('').text.replace(/, ref: "\$\{env:K\}"|(?:u:)?\$\{env:K\}@?/, ''),
      };
      const [listedNowhere] = (await plan(plain)).environments;
      expect(listedNowhere?.error ?? null).toBeNull();
    } finally {
      await front.close();
    }
  },
);
