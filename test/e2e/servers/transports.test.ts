/** A transport from a reference is judged like one in the file: one that the entry can have is written, any other sends nothing. */
import { afterEach, expect, it } from 'vitest';
import { LIST_TRANSPORTS, MCP_LISTS } from '../../../src/reconciler/model/mcp.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { quickClock } from '../../fixture/settings.ts';

let front: Fronted | null = null;
afterEach(async () => {
  await front?.close();
  front = null;
});

const TRANSPORTS = [...Object.values(LIST_TRANSPORTS).flat(), 'nonsense'];
const PROGRAM = 'name: one, command: npx';
const URL = 'url: "https://mcp.example.com/sse"';

const SPELLINGS = [
  ...MCP_LISTS.map((list) => ({
    spelling: list as string,
    file: `settings: { mcp_config: { ${list}: [{ ${list === 'stdio_servers' ? PROGRAM : URL}, transport: "\${env:T}" }] } }`,
    fitting: LIST_TRANSPORTS[list],
  })),
  ...[URL, 'command: npx'].map((by) => ({
    spelling: `mcp_servers { ${by} }`,
    file: `mcp_servers: { one: { ${by}, transport: "\${env:T}" } }`,
    fitting: MCP_LISTS.filter((list) => (list === 'stdio_servers') === (by !== URL)).flatMap(
      (list) => LIST_TRANSPORTS[list],
    ),
  })),
];

it.each(
  (['app-server', 'agent-server'] as const).flatMap((dialect) =>
    SPELLINGS.flatMap(({ spelling, file, fitting }) =>
      TRANSPORTS.map((transport) => ({ dialect, spelling, transport, file, fitting })),
    ),
  ),
)('$dialect: $spelling, $transport', async ({ dialect, transport, file, fitting }) => {
  front = await startFronted({ dialect });
  const asked = {
    text: `version: 1\nserver: { url: "${front.url}" }\nguards: { run_code: false }\n${file}\n`,
    env: { T: transport },
    clock: quickClock(),
  };
  const [planned] = (await plan(asked)).environments;
  if (fitting.includes(transport)) {
    expect(planned?.changes).toHaveLength(1);
    const [outcome] = (await apply(asked)).environments;
    expect(outcome).toMatchObject({ status: 'applied', error: null });
    const [again] = (await plan(asked)).environments;
    expect(again).toMatchObject({ status: 'in-sync', complete: true, changes: [] });
    return;
  }
  const unknown = { reason: expect.stringContaining('does not fit the field') as string };
  expect(planned?.unknown).toMatchObject([{ ...unknown, ref: '${env:T}', kind: 'missing' }]);
  await expect(apply(asked)).rejects.toThrow(/transport \(\$\{env:T\}\): its value does not fit/);
  expect(front.writes()).toEqual([]);
});
