import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { banner, code, prose, table } from './markdown.mjs';

/** Every variable that setpoint reads by itself, in groups. A variable that the source reads and this lacks is an error. */
const GROUPS = [
  [
    'Where keys may travel',
    'Read from the environment alone, never from a file, so that a branch cannot widen them. [The settings file](../settings-file.md#where-keys-may-travel) has the rules.',
    [
      [
        'SETPOINT_ALLOWED_ORIGINS',
        'Addresses that may get a key: globs, comma-separated. Must be set if CI is, and with watch --git. Loopback and embedded: need no entry, except in a cluster.',
      ],
      [
        'SETPOINT_ALLOWED_VARIABLES',
        'Variables that the file may read: globs, comma-separated. Must be set if CI is, and with watch --git.',
      ],
      [
        'SETPOINT_ALLOWED_FILES',
        'Folders that ${file:PATH} may read, comma-separated. Default: /run/secrets. What the platform mounts there for itself must be listed by its own folder.',
      ],
      [
        'SETPOINT_SECRET_COMMANDS',
        'The commands behind ${secret:NAME/PATH}: JSON, or the absolute path of a file with it. See [Secrets from a store](../guides/secret-commands.md).',
      ],
      [
        'SETPOINT_ALLOWED_SECRETS',
        'Secrets that the file may read: globs of NAME/PATH, comma-separated; /** at the end for all below. Must be set if CI is, and with watch --git.',
      ],
    ],
  ],
  [
    'Colours',
    '`--no-color` wins over them. Every other choice is a flag.',
    [
      ['NO_COLOR', 'Not empty: no colour.'],
      ['FORCE_COLOR', 'Not empty and not 0: colour, even if the output is no terminal.'],
      ['TERM', 'dumb: no colour, and no progress line.'],
    ],
  ],
  [
    'Keys',
    'A settings file may read any other variable through a reference.',
    [
      [
        'SETPOINT_API_KEY',
        'The key of the service if --server names an address that the file does not; and for init.',
      ],
      [
        'SETPOINT_STATE_KEY',
        'The key of the [fingerprints](../secrets.md#fingerprints) of written secrets. Without it none are kept.',
      ],
      [
        'SETPOINT_APPROVAL_KEY',
        'The key that [approvals](../guides/agents.md#approve-a-write) are signed with: approve, mcp --allow-apply.',
      ],
      ['SESSION_API_KEY', 'serve: the key that the embedded service requires, as --api-key.'],
      [
        'SETPOINT_WATCH_TOKEN',
        'watch --listen, status --server: the token of [the page](../guides/watch-page.md#who-may-read). No settings file can read it.',
      ],
      [
        'SETPOINT_WATCH_TOKEN_FILE',
        'In its place the path of a file with the token, which watch reads again when it changes. No settings file can read it.',
      ],
      ['GITHUB_TOKEN', 'comment: the token to comment with. No settings file can read it.'],
    ],
  ],
  [
    'Locks in Kubernetes',
    'For watch with --lock lease. [Run the controller](../guides/controller.md) shows the manifests.',
    [
      [
        'KUBERNETES_SERVICE_HOST',
        'The address of the API server, which Kubernetes sets in each pod.',
      ],
      ['KUBERNETES_SERVICE_PORT', 'Its port.'],
      [
        'SETPOINT_SERVICE_ACCOUNT',
        'The folder of the token, ca.crt and namespace of the service account, if the manifest mounts them elsewhere than Kubernetes does.',
      ],
    ],
  ],
  [
    'Of the machine and the pipeline',
    '',
    [
      ['CI', 'Not empty: no questions, --dotenv is refused, and the two lists above must be set.'],
      [
        'HTTPS_PROXY',
        'The proxy for https: addresses: http: or https:, not SOCKS. In lower case too. HTTP_PROXY is ignored: http: is for this machine and listed origins.',
      ],
      ['ALL_PROXY', 'The same, if HTTPS_PROXY is not set. In lower case too.'],
      [
        'NODE_EXTRA_CA_CERTS',
        'A file of certificate authorities that Node trusts; server.ca_file adds to them, and to those of the system with NODE_USE_SYSTEM_CA=1 (Node 22.19 or 24.6).',
      ],
      ['NO_PROXY', 'Hosts that are reached without the proxy. In lower case too.'],
      [
        'NODE_TLS_REJECT_UNAUTHORIZED',
        '0: setpoint still checks certificates, and sends no key over https: to other machines. doctor warns.',
      ],
      [
        'TRACEPARENT',
        'The span that the run of a command belongs to, if an SDK of OpenTelemetry is registered: [Traces](../guides/traces.md). TRACESTATE and BAGGAGE as well.',
      ],
      ['NODE_DEBUG', 'doctor warns if it would print requests.'],
      ['NODE_OPTIONS', 'doctor warns if it lets other code see what the process holds.'],
      [
        'XDG_CACHE_HOME',
        'Where setpoint keeps what V8 has compiled of it, in a folder setpoint of this user alone. Default: ~/.cache, on macOS ~/Library/Caches; on Windows, and if CI is set, nothing is kept.',
      ],
      ['HOME', 'See above.'],
      [
        'NODE_DISABLE_COMPILE_CACHE',
        'Not empty: nothing that V8 has compiled is kept, or read from there.',
      ],
      [
        'UV_THREADPOOL_SIZE',
        'Threads of Node for files and names. A controller takes 32 if it is not set; Node takes four.',
      ],
      ['RUNNER_TEMP', 'Where the Action puts its own files.'],
      ['GITHUB_ACTIONS', 'true: the run is named by the next three, otherwise by those of GitLab.'],
      ['GITHUB_ACTOR', 'Who ran it, for documents.'],
      ['GITHUB_SHA', 'The commit, for documents and comments.'],
      ['GITHUB_RUN_ID', 'With GITHUB_SERVER_URL and GITHUB_REPOSITORY, the address of the run.'],
      ['GITHUB_SERVER_URL', 'See above.'],
      ['GITHUB_REPOSITORY', 'The repository to comment in.'],
      ['GITHUB_REF', 'The branch that pull requests about drift are for.'],
      ['GITHUB_WORKFLOW_REF', 'With GITHUB_JOB, which job keeps an issue about drift.'],
      ['GITHUB_JOB', 'See above.'],
      ['GITHUB_API_URL', 'The API of GitHub, for GitHub Enterprise Server.'],
      ['GITHUB_EVENT_PATH', 'The event, with the pull request to comment on.'],
      ['GITHUB_STEP_SUMMARY', 'The summary of the job.'],
      ['GITHUB_WORKSPACE', 'The folder that the paths of the Action must lie in.'],
      ['CI_COMMIT_SHA', 'GitLab: the commit.'],
      ['CI_JOB_URL', 'GitLab: the address of the run.'],
      ['GITLAB_USER_LOGIN', 'GitLab: who ran it.'],
    ],
  ],
];

/** docs/reference/environment-variables.md. */
export function variablesPage(root) {
  const known = new Set(GROUPS.flatMap(([, , rows]) => rows.map(([name]) => name)));
  const unknown = [...readIn(join(root, 'src'))].filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new Error(`scripts/reference/variables.mjs lacks ${unknown.join(', ')}`);
  return [
    banner('scripts/reference/variables.mjs'),
    '# Environment variables\n',
    'What setpoint reads by itself, besides what a settings file names in references.\n',
    ...GROUPS.flatMap(([title, words, rows]) => [
      `## ${title}\n`,
      ...(words === '' ? [] : [`${words}\n`]),
      table(
        ['variable', 'meaning'],
        rows.map(([name, meaning]) => [code(name), prose(meaning)]),
      ),
      '',
    ]),
  ].join('\n');
}

/** The variables that the source reads, by the way it is written everywhere: env['NAME']. */
function readIn(folder) {
  const names = readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .flatMap((text) => [...text.matchAll(/\benv\['([A-Z][A-Z0-9_]*)'\]/g)].map(([, name]) => name));
  return new Set(names);
}
