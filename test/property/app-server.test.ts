import fc from 'fast-check';
import { expect } from 'vitest';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { PLACES } from '../../src/reconciler/service/app-server/dialect.ts';
import { startAppServer, storedRecord } from '../fixture/app-server.ts';
import { ENVIRONMENT, leaks, sparseSettings } from '../fixture/arbitrary.ts';
import { itHolds } from '../fixture/property-runs.ts';
import { quickClock } from '../fixture/settings.ts';
import type { Json, JsonRecord } from '../fixture/store-server.ts';

const KEY = 'contract-key';
const ENV = { ...ENVIRONMENT, SETPOINT_API_KEY: KEY };

const secret = fc.option(fc.constant(`${ENVIRONMENT.REF_LLM}-stored`), { nil: null });
const model = fc.constantFrom('anthropic/one', 'openai/two', 'own/three');

/** What a server has stored: some of everything, and mcp servers with and without secrets. */
const stored: fc.Arbitrary<JsonRecord> = fc
  .record({
    language: fc.option(fc.string(), { nil: null }),
    email: fc.option(fc.string(), { nil: null }),
    max_budget_per_task: fc.option(fc.integer(), { nil: null }),
    git_full_clone: fc.boolean(),
    search_api_key: secret,
    agent_settings: fc.record({
      agent: fc.constantFrom('CodeActAgent', 'BrowsingAgent'),
      llm: fc.record({
        model,
        api_key: secret,
        base_url: fc.constantFrom(null, 'https://llm.example.com', 'https://api.anthropic.com'),
        temperature: fc.constantFrom(null, 0.5),
      }),
      condenser: fc.record({ max_size: fc.integer({ min: 20, max: 500 }) }),
      mcp_config: fc.record(
        {
          files: fc.record(
            {
              command: fc.constant('npx'),
              env: fc.record({ TOKEN: fc.constant(`${ENVIRONMENT.REF_MCP}-1`) }),
            },
            { requiredKeys: ['command'] },
          ),
          events: fc.constant({ url: 'https://a.example.com/sse', transport: 'sse' }),
          tools: fc.record(
            {
              url: fc.constant('https://a.example.com/mcp'),
              auth: fc.record({
                strategy: fc.constantFrom('api_key', 'bearer'),
                value: fc.constant(`${ENVIRONMENT.REF_MCP}-2`),
              }),
              headers: fc.record({ 'X-Token': fc.constant(`${ENVIRONMENT.REF_MCP}-3`) }),
            },
            { requiredKeys: ['url'] },
          ),
        },
        { requiredKeys: [] },
      ),
    }),
    conversation_settings: fc.record({
      max_iterations: fc.integer({ min: 1, max: 900 }),
      security_analyzer: fc.constantFrom('llm', 'none'),
    }),
  })
  .map((record) => storedRecord(JSON.parse(JSON.stringify(record)) as JsonRecord));

/** A sparse file that this server can hold. */
const settings = fc
  .tuple(sparseSettings, model, fc.constantFrom(null, 'llm', 'none'))
  .map(([sparse, name, analyzer]) => {
    const { enable_solvability_analysis: _, sandbox_api_key: __, ...rest } = sparse;
    return {
      ...rest,
      ...('llm_model' in rest ? { llm_model: name } : {}),
      ...('security_analyzer' in rest ? { security_analyzer: analyzer } : {}),
    };
  });

function at(record: JsonRecord, path: readonly string[]): Json {
  return path.reduce<Json>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? (inner[key] ?? null)
        : null,
    record,
  );
}

/** What is stored under the fields that a file does not declare, and under everything that no file can. */
function undeclared(record: JsonRecord, declared: JsonRecord): readonly Json[] {
  const kept = [...PLACES].filter(
    ([name]) => !(name in declared) && !(name === 'llm_base_url' && 'llm_model' in declared),
  );
  const url = at(record, PLACES.get('llm_base_url') ?? []);
  // Every store infers the address that is not set.
  const address = typeof url === 'string' && /^https:..api\./.test(url) ? null : url;
  return [
    ...kept.map(([name, path]) => (name === 'llm_base_url' ? address : at(record, path))),
    at(record, ['git_full_clone']),
    at(record, ['agent_settings', 'llm', 'temperature']),
  ];
}

itHolds(
  'no undeclared field or secret is lost, no mask is sent, and a second apply sends no write',
  60,
  async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(stored, settings, async (before, declared) => {
        const server = await startAppServer(structuredClone(before));
        try {
          const text = JSON.stringify({
            version: 1,
            server: { url: server.url, api_key: '${env:SETPOINT_API_KEY}' },
            settings: declared,
          });
          const asked = { text, env: ENV, clock: quickClock() };
          const [planned] = (await plan(asked)).environments;
          const outcome = await apply(asked);
          const [environment] = outcome.environments;
          expect(leaks(JSON.stringify([planned, outcome]))).toBe(false);
          if (environment?.status === 'refused') {
            expect(server.posts()).toEqual([]);
            expect(environment.refusals.every(({ rule }) => rule === 'lose-unreadable')).toBe(true);
            expect(server.stored).toEqual(before);
            return;
          }
          expect(environment?.error).toBeNull();
          expect(server.posts()).toHaveLength(planned?.changes.length === 0 ? 0 : 1);
          expect(JSON.stringify(server.posts())).not.toContain('***');
          expect(undeclared(server.stored ?? {}, declared)).toEqual(undeclared(before, declared));
          const [again] = (await apply(asked)).environments;
          expect(again).toMatchObject({ status: 'in-sync', requests: { post: 0 } });
        } finally {
          await server.close();
        }
      }),
      { numRuns },
    );
  },
);
