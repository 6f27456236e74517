import { describe, expect, it } from 'vitest';
import { effectiveFile, effectiveValues } from '../../../src/reconciler/desired/effective.ts';
import { type Node, plainValue } from '../../../src/reconciler/desired/node.ts';
import type { Target } from '../../../src/reconciler/desired/target.ts';
import { effectiveText } from '../../../src/reconciler/render/effective-text.ts';
import { SERVER, target } from './reading.ts';

const PLAIN = { color: false, width: null, verbose: false };
const BLOCKS = ['server', 'settings', 'sandboxes', 'guards', 'unmanaged'] as const;

function textOf(one: Target): string {
  return effectiveText(effectiveFile(one), one.name, PLAIN);
}

/** Everything a target declares, references as written. */
function declared(one: Target) {
  const plain = (node: Node | undefined) => (node === undefined ? undefined : plainValue(node));
  return {
    name: one.name,
    ...Object.fromEntries(BLOCKS.map((block) => [block, plain(one[block])])),
  };
}

const LAYERED = `version: 1
server: { url: https://a.example.com, api_key: "\${env:A}" }
settings:
  language: en
  mcp_config:
    shttp_servers:
      - url: https://mcp.example.com/mcp
        timeout: 30
unmanaged: [language]
environments:
  staging:
    settings:
      max_iterations: 50
  production:
    server:
      url: https://p.example.com
      api_key: null
    settings: { language: fr, mcp_config: { shttp_servers: [] } }
    sandboxes:
      - running: 2
guards: { max_changes: 3 }
`;
const BASE = 'version: 1\nsettings:\n  agent: A\n  language: de\nguards: { protected: true }\n';

describe('the effective file', () => {
  it('merges the blocks of an environment, and has the place of each line', () => {
    expect(textOf(target(LAYERED, 'production'))).toBe(
      `version: 1                    # settings.yaml:1
name: production              # settings.yaml:14 (production)
server:                       # settings.yaml:15 (production)
  url: https://p.example.com  # settings.yaml:16 (production)
  api_key: null               # settings.yaml:17 (production)
settings:                     # settings.yaml:18 (production)
  language: fr                # settings.yaml:18 (production)
  mcp_config:                 # settings.yaml:18 (production)
    shttp_servers: []         # settings.yaml:18 (production)
sandboxes:                    # settings.yaml:19 (production)
  - running: 2                # settings.yaml:20 (production)
guards:                       # settings.yaml:21
  max_changes: 3              # settings.yaml:21
unmanaged:                    # settings.yaml:9
  - language                  # settings.yaml:9
`,
    );
  });

  it('marks what comes from a base', () => {
    const text = `version: 1\nextends: base.yaml\nname: staging\n${SERVER}\nsettings:\n  language: fr\n`;
    expect(textOf(target(text, undefined, BASE))).toBe(
      `version: 1                         # settings.yaml:1
name: staging                      # settings.yaml:3
server:                            # settings.yaml:4
  url: https://agents.example.com  # settings.yaml:4
settings:                          # settings.yaml:5
  agent: A                         # base.yaml:3
  language: fr                     # settings.yaml:6
guards:                            # base.yaml:5
  protected: true                  # base.yaml:5
`,
    );
  });

  it('a key that must not follow a moved url is not in it', () => {
    const text = `version: 1\nserver:\n  url: https://a.example.com\n  headers: { X-A: "\${env:A}" }\n  auth: bearer\nenvironments:\n  b:\n    server: { url: https://b.example.com, headers: {} }\n`;
    expect(declared(target(textOf(target(text, 'b'))))).toEqual({
      name: 'b',
      server: { auth: 'bearer', headers: {}, url: 'https://b.example.com' },
    });
  });

  it('writes out what a terminal would not show, and steers none', () => {
    const odd = 'a\u001B[31m\u202Eb\u200B\u{E0041}\u0085';
    const text = `version: 1\n${SERVER}\nsettings: { agent_settings: { persona: ${JSON.stringify(odd).replaceAll(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)} } }\n`;
    const effective = textOf(target(text));
    expect(effective).not.toMatch(/[^\n -~]/);
    expect(declared(target(effective))).toEqual(declared(target(text)));
  });

  it('as JSON, literals and references are as the file has them, and a secret by its name or flag is masked', () => {
    const text = `version: 1\n${SERVER}\nsettings:\n  llm_base_url: https://x/?k=canary\n  git_user_name: a-\${env:B}\n  llm_api_key: \${env:A}\n  mcp_config:\n    sse_servers: ["https://x/?k=canary"]\n    stdio_servers:\n      - { name: n, command: c, args: "-y --token canary", env: { LEVEL: info, OTHER: sk-canary, B: "\${env:B}" } }
      - { name: m, command: c, args: [-y, "--api-key=canary", --password, canary, "\${env:B}", "--auth=\${env:B}"] }\n`;
    const values = effectiveValues(target(text));
    expect(JSON.stringify(values)).not.toContain('canary');
    expect(values.map(({ path, value }) => [path.join('.'), value])).toEqual([
      ['server.url', 'https://agents.example.com'],
      ['settings.llm_base_url', '(sensitive)'],
      ['settings.git_user_name', 'a-${env:B}'],
      ['settings.llm_api_key', '${env:A}'],
      ['settings.mcp_config.sse_servers.0', '(sensitive)'],
      ['settings.mcp_config.stdio_servers.0.name', 'n'],
      ['settings.mcp_config.stdio_servers.0.command', 'c'],
      ['settings.mcp_config.stdio_servers.0.args', '(sensitive)'],
      ['settings.mcp_config.stdio_servers.0.env.LEVEL', 'info'],
      ['settings.mcp_config.stdio_servers.0.env.OTHER', '(sensitive)'],
      ['settings.mcp_config.stdio_servers.0.env.B', '${env:B}'],
      ['settings.mcp_config.stdio_servers.1.name', 'm'],
      ['settings.mcp_config.stdio_servers.1.command', 'c'],
      ['settings.mcp_config.stdio_servers.1.args.0', '-y'],
      ['settings.mcp_config.stdio_servers.1.args.1', '--api-key=(sensitive)'],
      ['settings.mcp_config.stdio_servers.1.args.2', '--password'],
      ['settings.mcp_config.stdio_servers.1.args.3', '(sensitive)'],
      ['settings.mcp_config.stdio_servers.1.args.4', '${env:B}'],
      ['settings.mcp_config.stdio_servers.1.args.5', '--auth=${env:B}'],
    ]);
  });
});
