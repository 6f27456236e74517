import type { EmulatorOptions } from '../../src/emulator/start.ts';

/** What a page needs besides the files that it shows itself. */
export interface Setup {
  /** Files beside those of the page, from the folder above the one that commands run in. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The services behind the addresses that the page names, and what is stored in them. */
  readonly services?: Readonly<
    Record<string, { readonly settings?: object; readonly options?: EmulatorOptions }>
  >;
  /** Commands before the first one of the page. */
  readonly before?: readonly string[];
  /** What happens on a service right before a command, by the command. */
  readonly between?: Readonly<Record<string, (at: (address: string) => string) => Promise<void>>>;
}

/** Commands that no test of the documentation runs, and why. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [
    /^npm /,
    'installs from the registry; ci.yml runs npm ci, and test/package installs the package',
  ],
  [/^docker /, 'test/container runs the image'],
  [
    /^(pipx|uvx|sha(512|256)sum|tar -xzf|rm ~\/.local\/bin\/setpoint)\b/,
    'installs what was built; test/install installs the wheel and the executable',
  ],
  [
    /\b(ENVIRONMENT|ADDRESS|DATA|NAMESPACE|NAME|PID)\b/,
    'names what the reader has; test/docs/words.test.ts checks its command and flags',
  ],
  [
    /^(journalctl|systemctl|grep CRON|openssl (x509|verify)|ls -l \/var|kubectl (get|describe) )/,
    'reads a machine or a cluster that runs a controller',
  ],
  [
    /^setpoint watch (?!--listen )/,
    'runs until it is stopped, with files of a machine; test/e2e/watch/watch.test.ts runs it',
  ],
  [
    /^setpoint status attention --server /,
    'asks the page of a controller; test/e2e/page/page.test.ts runs it',
  ],
  [/^(install|systemctl) /, 'changes the machine; test/workflows checks the unit'],
  [
    /^curl [^]*setpoint\.example\.com/,
    'needs a page on the network; test/e2e tries the JSON of the page',
  ],
  [/^promtool |^cd examples\/prometheus$/, 'needs Prometheus; test/workflows tests the rules'],
  [/prometheus\/node-exporter/, 'a folder of node_exporter; test/e2e writes and checks the file'],
  [
    /^export (NODE_OPTIONS|OTEL_)/,
    'needs an SDK from the registry; test/e2e/command/traces.test.ts runs commands with one',
  ],
  [
    /^kubectl |\| kubectl /,
    'needs a cluster; test/workflows checks the manifests, test/e2e/command/kube-apiserver.test.ts applies what is rendered',
  ],
  [/^helm /, 'needs helm; test/workflows/chart-rendered.test.ts renders the chart with it'],
  [
    /^kustomize /,
    'needs kustomize; test/workflows/render-manifests.test.ts runs the generator as kustomize does',
  ],
  [/^setpoint pull --server /, 'needs a service; test/e2e/pull/pull-kubernetes.test.ts runs it'],
  [
    /^setpoint (approve|mcp)\b|^export SETPOINT_APPROVAL_KEY/,
    'needs a terminal or a client; test/e2e/mcp/mcp.test.ts runs both',
  ],
  [/^gh /, 'needs GitHub; test/workflows runs the workflows'],
];

export const REASONS = NOT_RUN.map(([, reason]) => reason);

export function whyNotRun(command: string): string | null {
  return NOT_RUN.find(([pattern]) => pattern.test(command))?.[1] ?? null;
}

/** Changes the settings of a service, as somebody who uses its pages does. */
export async function store(url: string, settings: object): Promise<void> {
  const answer = await fetch(`${url}/api/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  });
  if (answer.status !== 200) throw new Error(`the service answered ${answer.status}`);
}

const AGENTS = 'https://agents.example.com';
const STAGING = 'https://staging.example.com';
const CONFIGURED = {
  language: 'en',
  llm_model: 'anthropic/claude-sonnet-4-5',
  max_iterations: 100,
};

const ADOPTED = {
  ...CONFIGURED,
  agent: 'CodeActAgent',
  llm_api_key: 'sk-0',
  mcp_config: { shttp_servers: [{ url: 'https://mcp.example.com/mcp', api_key: 'mcp-0' }] },
};

export const SET_UPS: Readonly<Record<string, Setup>> = {
  'docs/settings-file.md': {
    files: { 'secrets/mcp': 'mcp-1\n' },
    services: { [AGENTS]: { settings: CONFIGURED }, [STAGING]: { settings: CONFIGURED } },
  },
  'docs/secrets.md': {
    services: { [AGENTS]: { settings: { ...CONFIGURED, llm_api_key: 'sk-0' } } },
  },
  'docs/troubleshooting.md': {
    services: { [AGENTS]: { options: { apiKey: 'another' } } },
  },
  'docs/guides/adopt.md': {
    services: {
      [AGENTS]: { settings: ADOPTED },
      [STAGING]: { settings: { ...ADOPTED, max_iterations: 50 } },
    },
    between: {
      'setpoint pull --check -e default   # exit 2': async (at) =>
        store(at(AGENTS), { ...ADOPTED, max_iterations: 150 }),
    },
  },
  'docs/guides/automations.md': {
    services: {
      [AGENTS]: { options: { dialect: 'agent-server', apiKey: 'k-1' } },
      'https://automations.example.com': { options: { dialect: 'agent-server', apiKey: 'k-1' } },
    },
  },
  'docs/guides/install.md': {
    services: { [AGENTS]: { options: { apiKey: 'k-1' } } },
  },
  'docs/guides/pipeline.md': {
    services: { [AGENTS]: { settings: { ...CONFIGURED, language: 'fr' } } },
  },
  'docs/guides/roll-back.md': {
    services: { [AGENTS]: { settings: { ...CONFIGURED, language: 'fr' } } },
  },
  'docs/guides/rings.md': {
    services: Object.fromEntries(
      ['internal', 'acme', 'globex', 'initech'].map((name) => [
        `https://${name}.example.com`,
        { settings: { ...CONFIGURED, llm_model: 'anthropic/claude-sonnet-4' } },
      ]),
    ),
  },
  'docs/guides/pull-requests.md': {
    services: { [AGENTS]: { settings: { ...CONFIGURED, max_iterations: 50 } } },
  },
  'docs/guides/drift.md': {
    services: { [AGENTS]: { settings: CONFIGURED } },
    before: [
      'git init -q . && git config user.email a@example.com && git config user.name a',
      `printf 'version: 1\\nserver: { url: "${AGENTS}" }\\nsettings: { language: en, max_iterations: 50, sandbox_api_key: null }\\n' > settings.yaml`,
      'git add settings.yaml && git commit -qm deployed && git tag deployed',
    ],
    between: {
      'setpoint drift --fail-on any   # exit 2': async (at) =>
        store(at(AGENTS), { ...CONFIGURED, language: 'fr', max_iterations: 50 }),
    },
  },
  'docs/guides/sandboxes.md': {
    services: {
      [AGENTS]: {
        settings: CONFIGURED,
        options: { specs: ['ghcr.io/example/base:1', 'ghcr.io/example/agent:1'] },
      },
    },
  },
  'docs/guides/custom-secrets.md': {
    services: { [AGENTS]: { settings: CONFIGURED } },
  },
  'docs/guides/secret-commands.md': {
    files: { 'store/llm/key': 'sk-1\n' },
    services: { [AGENTS]: { settings: CONFIGURED } },
  },
  'docs/guides/git-providers.md': {
    services: {
      [AGENTS]: {
        settings: CONFIGURED,
        options: {
          gitProviders: [
            { product: 'github', accepts: 'ghp-' },
            { product: 'gitlab', host: 'gitlab.example.com', accepts: 'glpat-' },
          ],
        },
      },
    },
  },
  'docs/guides/mcp-servers.md': {
    services: { [AGENTS]: { options: { dialect: 'agent-server' } } },
  },
  'docs/guides/profiles.md': {
    services: { [AGENTS]: { options: { dialect: 'agent-server' } } },
  },
  'docs/guides/checks.md': {
    services: {
      [AGENTS]: {
        options: {
          dialect: 'agent-server',
          models: [{ model: 'openai/gpt-5', accepts: 'sk-' }],
          mcpServers: [{ at: 'npx -y server-files', accepts: '' }],
        },
      },
    },
  },
  'docs/guides/rebuild.md': {
    services: { [AGENTS]: { options: { apiKey: 'k-1', dialect: 'agent-server' } } },
  },
  'docs/guides/guards.md': {
    services: { [AGENTS]: { settings: { ...CONFIGURED, confirmation_mode: true } } },
  },
};
