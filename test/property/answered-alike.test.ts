import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { RecentBodies } from '../../src/reconciler/service/network.ts';
import { onLoopback } from '../fixture/on-loopback.ts';
import { itHolds } from '../fixture/property-runs.ts';
import { quickClock } from '../fixture/settings.ts';
import { loaded, RECORDED } from '../fixture/store-server.ts';

const WHOLE = loaded({}, RECORDED);

const VALUE = 'value-of-a-reference';
const OTHER = 'another-secret-4711';

/** Members of an answer in which services of a fleet differ, secrets and lies among them. */
const record = fc.record(
  {
    language: fc.constantFrom('en', 'de', null, VALUE, `${VALUE}-1`),
    llm_model: fc.constantFrom('a/b', VALUE, '', null),
    max_iterations: fc.constantFrom(100, 7, null),
    llm_api_key: fc.constantFrom(null, '**********', VALUE, ''),
    llm_api_key_set: fc.constantFrom<unknown>(true, false, 'yes'),
    search_api_key_set: fc.boolean(),
    mcp_config: fc.constantFrom<unknown>(
      null,
      {
        stdio_servers: [
          { name: 'fs', command: 'run', args: ['--token', OTHER], env: { A: VALUE } },
        ],
      },
      {
        sse_servers: [
          `https://user:${OTHER}@mcp.example.com`,
          { url: 'https://b', api_key: VALUE },
        ],
      },
      [OTHER],
    ),
    later_token: fc.constantFrom(OTHER, VALUE, '***'),
    later_token_set: fc.constantFrom<unknown>(true, 'yes'),
    provider_tokens_set: fc.constantFrom<unknown>({}, { github: null }),
    agent_settings: fc.constant({}),
  },
  { requiredKeys: ['llm_api_key_set'] },
);

/** What is sent for a record: as JSON writes it, in other spellings, cut off, with a key twice, or as something else. */
const answer = fc
  .tuple(
    record,
    fc.constantFrom(
      'plain',
      'plain',
      'plain',
      'spaced',
      'float',
      'cut',
      'twice',
      'page',
      'failure',
    ),
  )
  .map(([body, as]) => {
    const text = JSON.stringify({ ...WHOLE, ...body });
    switch (as) {
      case 'spaced':
        return { status: 200, type: 'application/json', text: JSON.stringify(body, null, 1) };
      case 'float':
        return { status: 200, type: 'application/json', text: text.replace('100', '100.0') };
      case 'cut':
        return { status: 200, type: 'application/json', text: text.slice(0, -1) };
      case 'twice':
        return {
          status: 200,
          type: 'application/json',
          text: text.replace('{', '{"llm_api_key_set":false,'),
        };
      case 'page':
        return { status: 200, type: 'text/html', text };
      case 'failure':
        return { status: 500, type: 'application/json', text };
      default:
        return { status: 200, type: 'application/json', text };
    }
  });

/** What an environment declares itself besides what all declare. */
const own = fc.record(
  {
    max_iterations: fc.constantFrom(100, 7),
    language: fc.constantFrom('en', '${env:VALUE}', null),
    llm_api_key: fc.constantFrom('${env:VALUE}', '${env:OTHER}', '${env:MISSING}', null),
    mcp_config: fc.constantFrom(null, {
      stdio_servers: [{ name: 'fs', command: 'run', args: ['--token', '${env:OTHER}'] }],
    }),
    search_api_key: fc.constant('${env:OTHER}'),
  },
  { requiredKeys: [] },
);

itHolds(
  'an environment among others that are answered alike is planned as it is alone',
  25,
  async (numRuns) => {
    let answers: readonly { status: number; type: string; text: string }[] = [];
    const service = await onLoopback(({ url }, response) => {
      const found = answers[Number(/\/e(\d+)\//.exec(url ?? '')?.[1])];
      response.writeHead(found?.status ?? 404, { 'content-type': found?.type ?? 'text/plain' });
      response.end(found?.text);
    });
    onTestFinished(() => service.close());
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(2), own, fc.subarray(['llm_model', 'mcp_config'])), {
          minLength: 2,
          maxLength: 6,
        }),
        fc.constantFrom(1, 4, 32),
        async (few, environments, parallel) => {
          answers = environments.flatMap(([index]) => few[index % few.length] ?? []);
          const text = JSON.stringify({
            version: 1,
            settings: { language: 'en', llm_model: 'a/b', max_iterations: 100 },
            environments: Object.fromEntries(
              environments.map(([, settings, unmanaged], index) => {
                const kept = Object.fromEntries(
                  Object.entries(settings).filter(([name]) => !unmanaged.includes(name)),
                );
                return [
                  `e${index}`,
                  { server: { url: `${service.url}/e${index}` }, settings: kept },
                ];
              }),
            ),
          });
          const options = {
            text,
            env: { VALUE, OTHER },
            digests: false,
            parallel,
            clock: quickClock(),
          } as const;
          const { environments: together } = await plan(options);
          for (const part of together) {
            const alone = await plan({ ...options, targets: [part.name] });
            expect(part).toEqual(alone.environments[0]);
            const declared = JSON.stringify(environments[Number(part.name.slice(1))]?.[1]);
            for (const [name, value] of Object.entries({ VALUE, OTHER }))
              if (declared.includes(`\${env:${name}}`))
                expect(JSON.stringify(part)).not.toContain(value);
          }
        },
      ),
      { numRuns },
    );
  },
);

itHolds('the same bytes are the same body, and few bodies are kept', 100, (numRuns) => {
  const bytes = fc.uint8Array({ maxLength: 3 });
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 60 }), (bodies) => {
      const recent = new RecentBodies();
      const given = new Set<Uint8Array>();
      for (const body of bodies) {
        given.add(body);
        const same = recent.same(body);
        expect([...same]).toEqual([...body]);
        expect(given.has(same)).toBe(true);
        expect(recent.same(Uint8Array.from(body))).toBe(same);
      }
    }),
    { numRuns },
  );
  const recent = new RecentBodies();
  const body = (byte: number) => new Uint8Array([byte]);
  const first = recent.same(body(0));
  for (let byte = 1; byte <= 8; byte += 1) recent.same(body(byte));
  expect(recent.same(body(0))).not.toBe(first);
  const large = new Uint8Array(64 * 1024 + 1);
  expect(recent.same(large)).toBe(large);
  const alike = new Uint8Array(64 * 1024 + 1);
  expect(recent.same(alike)).toBe(alike);
});
