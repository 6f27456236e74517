import { expect, it } from 'vitest';
import { listComparisonWays, waysSentences } from '../../../src/reconciler/model/uncompared.ts';

const entry = ['mcp_config', 'shttp_servers', 'https://mcp.example.com'];
const missing = (header: string, ref: string) => ({
  path: [...entry, 'headers', header],
  reason: 'the variable is not set',
  ref,
  kind: 'missing' as const,
});

it('a plan names each reference that is missing in one mcp entry', () => {
  const ways = listComparisonWays({
    dialect: 'settings-v0',
    origin: 'https://agents.example.com',
    changes: [],
    unknown: [missing('Authorization', 'Bearer ${env:TOKEN}'), missing('X-Team', '${env:TEAM}')],
  });
  expect(waysSentences(ways, 'plan').join()).toContain('apply needs ${env:TOKEN}, ${env:TEAM}');
});
