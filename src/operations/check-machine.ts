import { THIS_NODE } from '../host/this-node.ts';
import { failed, passed, warned, type Check, type MachineCheck } from '../model/doctor.ts';
import { matches } from '../model/glob.ts';
import { isInNodeRange, NODE_RANGE } from '../model/node-range.ts';
import type { Options } from './options.ts';

type Env = Options['env'];

/** What is right or wrong with this machine, whatever the target. */
export function checkMachine(env: Env, node = THIS_NODE): Check<MachineCheck>[] {
  return [checkNode(node), checkCertificates(env), checkDebugging(env)];
}

function checkNode(node: string): Check<MachineCheck> {
  if (isInNodeRange(node)) return passed('node', `Node ${node}`);
  return failed('node', {
    code: 'usage',
    message: `Node ${node} is not among the versions that setpoint runs on (${NODE_RANGE}).`,
    hint: 'Install a Node that is.',
  });
}

function checkCertificates(env: Env): Check<MachineCheck> {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0')
    return passed('certificates', 'certificates are checked');
  return warned(
    'certificates',
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is set: setpoint checks certificates all the same, and sends nothing over https to other machines.',
    'Unset it; server.ca_file names a certificate authority of your own.',
  );
}

/** Sections of NODE_DEBUG that write down what goes over the wire. */
const WIRE = ['http', 'http2', 'https', 'net', 'tls', 'stream', 'undici', 'fetch'];

/** Options of Node that let other code or a file see what this process holds: its variables, and headers with the key. */
const REVEALING = [
  'require',
  'import',
  'loader',
  'experimental-loader',
  'inspect',
  'inspect-brk',
  'inspect-wait',
  'tls-keylog',
  'trace-tls',
  'trace-env',
  'report-on-signal',
  'report-on-fatalerror',
  'report-uncaught-exception',
  'heapsnapshot-signal',
  'heapsnapshot-near-heap-limit',
  'heap-prof',
];

function checkDebugging(env: Env): Check<MachineCheck> {
  const sections = sectionsIn(env['NODE_DEBUG'] ?? '').join(', ');
  const options = optionsIn(env['NODE_OPTIONS'] ?? '').map((option) => `--${option}`);
  const found = [
    ...(sections === '' ? [] : [`NODE_DEBUG (${sections})`]),
    ...(options.length === 0 ? [] : [`NODE_OPTIONS (${options.join(', ')})`]),
  ];
  if (found.length === 0)
    return passed('debugging', 'no NODE_DEBUG or similar that would print requests');
  return warned(
    'debugging',
    `${found.join(' and ')} may show headers with the key, or values of variables.`,
    'Unset NODE_DEBUG and NODE_OPTIONS when secrets are set.',
  );
}

function sectionsIn(text: string): string[] {
  const globs = text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((glob) => glob !== '');
  return WIRE.filter((section) => matches(section, globs));
}

function optionsIn(text: string): string[] {
  const words = text.split(/\s+/).map((word) => word.replaceAll('_', '-').replace(/=.*$/s, ''));
  return REVEALING.filter(
    (option) => words.includes(`--${option}`) || (option === 'require' && words.includes('-r')),
  );
}
