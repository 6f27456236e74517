import { describe, expect, it } from 'vitest';
import { maskFileLines } from '../../../src/reconciler/pull/masked-lines.ts';

function shown(text: string): string {
  return maskFileLines(text)
    .map((line) => line.shown)
    .join('\n');
}

describe('the lines of a file as a patch shows them', () => {
  it('masks arguments and variables, urls with a query, and secrets written out', () => {
    const text = `version: 1
server: { url: "https://x", api_key: "\${env:K}", headers: { A: hunter2 } }
settings:
  language: en # a code
  llm_base_url: https://u:hunter2@x/y?hunter2
  llm_api_key: hunter2
  mcp_config:
    stdio_servers:
      - name: files
        command: npx
        args: [-y, "\${env:X}", "a-\${env:Y}"]
        env: { A: hunter2, B: "\${env:B}" }
      - { name: b, command: npx, args: "-y hunter2", env: "A=hunter2" }
    sse_servers:
      - https://x/sse?hunter2
      - url: https://x/\${env:PATH_OF_IT}
`;
    expect(shown(text)).toBe(`version: 1
server: { url: "https://x", api_key: "\${env:K}", headers: { A: (sensitive) } }
settings:
  language: en # a code
  llm_base_url: (sensitive)
  llm_api_key: (sensitive)
  mcp_config:
    stdio_servers:
      - name: files
        command: npx
        args: [(sensitive), "\${env:X}", (sensitive)]
        env: { A: (sensitive), B: "\${env:B}" }
      - { name: b, command: npx, args: (sensitive), env: (sensitive) }
    sse_servers:
      - (sensitive)
      - url: https://x/\${env:PATH_OF_IT}
`);
  });

  it('masks what has the form of a secret in a comment', () => {
    const text = `# api_key: hunter2, see https://x.example.com/docs
a: 1 # token=hunter2 (was sk-hunter2)
# - url: https://x/sse
#   api_key: \${env:MCP_KEY}
# llm_api_key: null
b: "# key: hunter2 is no comment"
`;
    expect(shown(text)).toBe(`# api_key: (sensitive) see https://x.example.com/docs
a: 1 # token=(sensitive) (was (sensitive))
# - url: https://x/sse
#   api_key: \${env:MCP_KEY}
# llm_api_key: null
b: "# key: hunter2 is no comment"
`);
  });

  it('keeps the number of lines, and shows nothing of a text that cannot be read', () => {
    const text = 'settings:\n  llm_api_key: |\n    one\n    two\n  language: en\n';
    expect(shown(text)).toBe('settings:\n  llm_api_key: (sensitive)\n\n\n  language: en\n');
    expect(shown('a: [\nhunter2')).toBe('(sensitive)\n(sensitive)');
  });
});
