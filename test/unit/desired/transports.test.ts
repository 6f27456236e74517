import { describe, expect, it } from 'vitest';
import { LIST_TRANSPORTS, MCP_LISTS } from '../../../src/reconciler/model/mcp.ts';
import { problems, read, SERVER, withSettings } from './reading.ts';

const URL = 'url: https://mcp.example.com/v1';
const TRANSPORTS = Object.values(LIST_TRANSPORTS).flat();

describe.each(MCP_LISTS)('a transport in %s', (list) => {
  const known = list === 'stdio_servers' ? 'name: one, command: npx' : URL;
  const written = (transport: string) =>
    withSettings('mcp_config:', `  ${list}: [{ ${known}, transport: ${transport} }]`);

  it.each(TRANSPORTS)('%s is an error at its place if the list has another', (transport) => {
    const isOwn = LIST_TRANSPORTS[list].includes(transport);
    expect(problems(written(transport))).toEqual(
      isOwn ? [] : [expect.stringMatching(/^5:\d+ bad-value$/)],
    );
  });

  it.each(['null', '"${env:TRANSPORT}"'])('%s is none', (transport) => {
    expect(problems(written(transport))).toEqual([]);
  });
});

it('the message names the list that the entry belongs to', () => {
  const config = `  sse_servers: [{ ${URL}, transport: streamable-http }]`;
  expect(read(withSettings('mcp_config:', config)).diagnostics).toMatchObject([
    {
      message: 'The transport of sse_servers is sse.',
      hint: 'Remove transport, or move the entry to shttp_servers.',
      path: ['settings', 'mcp_config', 'sse_servers', '0', 'transport'],
    },
  ]);
});

it('an environment has the same error', () => {
  const entry = `sse_servers: [{ ${URL}, transport: http }]`;
  const environment = `  one: { settings: { mcp_config: { ${entry} } } }`;
  const text = ['version: 1', SERVER, 'environments:', environment, ''].join('\n');
  expect(read(text, undefined, { several: true }).diagnostics).toMatchObject([
    { code: 'bad-value', line: 4 },
  ]);
});

describe.each([
  ['mcp_servers', (server: string) => `version: 1\n${SERVER}\nmcp_servers: { one: ${server} }\n`],
  [
    'settings.agent_settings.mcp_config',
    (server: string) => withSettings(`agent_settings: { mcp_config: { one: ${server} } }`),
  ],
])('a transport of a server in %s', (_, written) => {
  it.each(TRANSPORTS)('%s is an error beside the place of another alone', (transport) => {
    const [own, other] = transport === 'stdio' ? ['command: npx', URL] : [URL, 'command: npx'];
    const found = (members: string) => problems(written(`{ ${members}, transport: ${transport} }`));
    expect(found(own)).toEqual([]);
    expect(found(`${own}, ${other}`)).toEqual([]);
    expect(found(other)).toEqual([expect.stringMatching(/^\d+:\d+ bad-value$/)]);
  });
});
