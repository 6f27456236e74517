// `node bench/profile.mjs [ENVIRONMENTS]`: where the time of a plan of 10,000 environments goes, the largest phase first. Runs the
// sources as they are, module by module.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { nameOf, startFleet, writeSettings } from './fleet/lay-out.mjs';

const environments = Number(process.argv[2] ?? 10_000);

const CONNECT = 'make and close connections';
const REQUEST = 'send requests, receive answers';
/** The phase of a function by its file, its name or both; the first that fits. */
const RULES = [
  { phase: 'collect garbage', name: /^\(garbage collector\)$/ },
  { phase: CONNECT, file: /undici\/lib\/core\/connect|^node:(dns|tls|_tls)/ },
  {
    phase: CONNECT,
    file: /undici\/lib\/dispatcher/,
    name: /^(Agent|Pool|PoolBase|Client|connect)$/,
  },
  {
    phase: CONNECT,
    file: /undici|^node:/,
    name: /^(close|_?destroy|onSocketClose|emitCloseNT|_final)$/,
  },
  { phase: REQUEST, file: /undici|^wasm:/ },
  { phase: 'decode and observe', file: /lossless-json|\/service\// },
  { phase: 'parse YAML', file: /node_modules\/yaml|\/desired\/(read-yaml|parse|compose)/ },
  { phase: 'check the files', file: /\/desired\/(schema-validator|check|rules|blocks)/ },
  { phase: 'redact', file: /\/model\/(redact|encodings)|\/operations\/redact/ },
  { phase: 'plan', file: /\/(plan|reconcile)\// },
  { phase: 'render and print', file: /\/(render|cli)\// },
  { phase: 'prepare: references, where keys may go', file: /\/(desired|operations|host)\// },
];
/** The phase of what has no caller that RULES know: Node called it. */
const BY_NODE = [{ phase: REQUEST, file: /^node:(net|internal\/stream)/ }];
const OTHER = 'other: start, modules, Node itself';

/** Milliseconds of the own time of each phase, in a profile by V8: that of each function counts for its nearest caller that has a phase. */
function phasesOf({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((at) => [at, id])));
  const found = (rules, id) => {
    for (let at = id; at !== undefined; at = parents.get(at)) {
      const { functionName, url } = byId.get(at).callFrame;
      const fits = ({ file = /^/, name = /^/ }) => file.test(url) && name.test(functionName);
      const rule = rules.find(fits);
      if (rule !== undefined) return rule.phase;
    }
    return undefined;
  };
  const phases = new Map(
    nodes.map(({ id }) => [id, found(RULES, id) ?? found(BY_NODE, id) ?? OTHER]),
  );
  const sums = new Map();
  for (const [at, id] of samples.entries()) {
    if (byId.get(id).callFrame.functionName === '(idle)') continue;
    const phase = phases.get(id);
    sums.set(phase, (sums.get(phase) ?? 0) + timeDeltas[at] / 1000);
  }
  return [...sums].toSorted(([, a], [, b]) => b - a);
}

/** The command's modules, one file each, with a start that runs a command line. */
async function layOutCommand() {
  const root = join(import.meta.dirname, '..');
  const folder = mkdtempSync(join(root, 'node_modules/.profile-'));
  const bundle = await rolldown({
    input: join(root, 'src/command/cli/run-command.ts'),
    platform: 'node',
    external: /^[^./]/,
  });
  await bundle.write({ dir: folder, format: 'esm', preserveModules: true });
  const entry = readdirSync(folder, { recursive: true }).find((name) =>
    /run-command\.m?js$/.test(name),
  );
  writeFileSync(
    join(folder, 'start.mjs'),
    `import { runCommand } from ${JSON.stringify(`./${entry}`)};
const { env, stdin, stdout, stderr } = process;
const { signal } = new AbortController();
process.exitCode = await runCommand(process.argv.slice(2), { env, stdin: () => stdin, stdout, stderr, signal, abandon: signal });
`,
  );
  return folder;
}

const folder = await layOutCommand();
const fleet = await startFleet('127.0.0.1');
try {
  const addressOf = (index) => `http://127.0.0.1:${fleet.port}/${nameOf(index)}`;
  writeSettings(fleet.folder, 'fleet', { from: 0, to: environments, key: true, addressOf });
  const profile = [
    '--cpu-prof',
    '--cpu-prof-interval',
    '500',
    '--cpu-prof-name',
    'fleet.cpuprofile',
  ];
  const plan = ['plan', '--max-file-size', '16MiB', '-f', 'fleet.yaml'];
  const { status, stderr } = spawnSync(
    process.execPath,
    [...profile, join(folder, 'start.mjs'), ...plan],
    { cwd: fleet.folder, env: fleet.env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  if (status !== 0) throw new Error(`plan ended with ${status}: ${stderr}`);
  const phases = phasesOf(JSON.parse(readFileSync(join(fleet.folder, 'fleet.cpuprofile'), 'utf8')));
  const all = phases.reduce((sum, [, time]) => sum + time, 0);
  console.log(`plan of ${environments} environments of one origin, ${all.toFixed(0)} ms busy:`);
  for (const [phase, time] of phases) {
    const share = `${((time / all) * 100).toFixed(0)} %`;
    console.log(`${`${time.toFixed(0)} ms`.padStart(9)} ${share.padStart(5)}  ${phase}`);
  }
} finally {
  await fleet.stop();
  rmSync(folder, { recursive: true, force: true });
}
