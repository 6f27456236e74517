import {
  isNull,
  listMembers,
  member,
  readNodeText,
  type Node,
  type PlacedFinding,
} from '../desired/node.ts';
import { BLOCKS, type BlockName } from '../desired/blocks.ts';
import { TLS_FILES } from '../desired/blocks/server.ts';
import { SetpointError } from '../model/error.ts';
import { parseWholeReference } from '../desired/references.ts';
import type { Target } from '../desired/target.ts';
import { createRecord, assignPath, type Json, type ValueRecord } from '../model/value.ts';
import { camelCase } from './names.ts';
import { memberSchema, specSchema, type KubeObject } from './crd.ts';
import { secretKeyFor, type Refusal, type SecretKey } from './secret-keys.ts';
import { refuse, convertNode, type Taking } from './take.ts';

/** Blocks that a spec has in a form of its own, or not at all. */
const APART: ReadonlySet<BlockName> = new Set([
  'labels',
  'server',
  'guards',
  'watch',
  'kubernetes',
  'unmanaged',
]);

/** The blocks that a spec has under their own names, members included: all others. */
export const DATA: readonly BlockName[] = BLOCKS.map(({ name }) => name).filter(
  (name) => !APART.has(name),
);

/** The spec of a SettingsTarget, the Secrets that it names, and what of the target it cannot hold. */
export interface MadeSpec {
  readonly spec: KubeObject;
  readonly secrets: readonly string[];
  readonly findings: readonly PlacedFinding[];
  /** The entries of `kubernetes.references` that placed a value. */
  readonly placed: readonly Node[];
}

/** Converts the declarations of a target to the spec of a SettingsTarget. `secret` is the Secret for all that the file does not place. */
export function createTargetSpec(target: Target, secret: string | undefined): MadeSpec {
  const findings: PlacedFinding[] = [];
  const names = new Set<string>();
  const used = new Set<Node>();
  const secretOf: Taking['secretOf'] = (reference) => {
    const found = secretKeyFor(reference, target.kubernetes, secret, used);
    if ('name' in found) names.add(found.name);
    return found;
  };
  const taking: Taking = { valuesFrom: [], clear: [], native: [], findings, secretOf };
  const server = serverSpec(target.server, taking);
  const declared = createDeclaredSpec(target, taking);
  const { watch } = target;
  const { valuesFrom, clear } = taking;
  const isEmpty = Object.keys(declared).length + valuesFrom.length + clear.length === 0;
  const watched = createSpecMembers(watch, ['mode', 'interval']);
  const interval = readNodeText(member(watch, 'interval'));
  const spec = {
    server,
    mode: readNodeText(member(watch, 'mode')) === 'heal' ? 'Apply' : 'Observe',
    ...(interval === undefined ? {} : { interval }),
    ...(isEmpty ? { settings: {} } : declared),
    ...omitEmptyList('valuesFrom', valuesFrom as unknown as readonly Json[]),
    ...omitEmptyList('clear', clear),
    ...omitEmptyList('unmanaged', [...new Set(listNodeTexts(target.unmanaged))]),
    ...(target.guards === undefined ? {} : { guards: createSpecMembers(target.guards, []) }),
    ...(Object.keys(watched).length === 0 ? {} : { watch: watched }),
  };
  return { spec, secrets: [...names].toSorted(), findings, placed: [...used] };
}

function createDeclaredSpec(target: Target, taking: Taking): KubeObject {
  const root = specSchema();
  const blocks = DATA.flatMap((name): [string, Json][] => {
    const node = target[name];
    const schema = memberSchema(root, name);
    if (node === undefined) return [];
    if (schema === null) throw new SetpointError('internal', `A SettingsTarget has no ${name}.`);
    const value = convertNode(node, { path: [name], text: name, filePath: [name], schema }, taking);
    return value === undefined ? [] : [[name, value]];
  });
  const native = taking.native.reduce<ValueRecord>(
    (made, [path, value]) => assignPath(made, path, value),
    createRecord({}),
  );
  return {
    ...Object.fromEntries(blocks),
    ...(taking.native.length === 0 ? {} : { native: native as KubeObject }),
  };
}

function omitEmptyList(name: string, list: readonly Json[]): KubeObject {
  return list.length === 0 ? {} : { [name]: list };
}

function listNodeTexts(node: Node | undefined): readonly string[] {
  return node?.kind === 'list' ? node.items.flatMap((item) => readNodeText(item) ?? []) : [];
}

/** The members of a block of setpoint's own, spelled as Kubernetes spells them. */
function createSpecMembers(node: Node | undefined, without: readonly string[]): KubeObject {
  const members = listMembers(node).filter(({ key }) => !without.includes(key));
  return Object.fromEntries(members.map((one) => [camelCase(one.key), toSpecJson(one.node)]));
}

function toSpecJson(node: Node): Json {
  if (node.kind === 'scalar') return node.value;
  return node.kind === 'list' ? node.items.map(toSpecJson) : createSpecMembers(node, []);
}

function serverSpec(server: Node | undefined, taking: Taking): KubeObject {
  const key = member(server, 'api_key');
  const apiKeySecretRef =
    key === undefined || isNull(key) ? undefined : secretRef(key, ['server', 'api_key'], taking);
  const headers = listMembers(member(server, 'headers')).flatMap((one): Json[] => {
    const secretKeyRef = secretRef(one.node, ['server', 'headers', one.key], taking);
    return secretKeyRef === undefined ? [] : [{ name: one.key, secretKeyRef }];
  });
  for (const name of TLS_FILES) {
    const file = member(server, name);
    if (file !== undefined) refuse(file, { filePath: ['server', name] }, tlsFile(name), taking);
  }
  const beside = member(server, 'automation_url');
  if (beside !== undefined)
    refuse(beside, { filePath: ['server', 'automation_url'] }, ONE_ADDRESS, taking);
  const own = createSpecMembers(server, [
    'url',
    'automation_url',
    'api_key',
    'headers',
    ...TLS_FILES,
  ]);
  return {
    url: readServerUrl(server, taking),
    ...(apiKeySecretRef === undefined ? {} : { apiKeySecretRef }),
    ...omitEmptyList('headers', headers),
    ...own,
  };
}

const ONE_ADDRESS = {
  message: 'A SettingsTarget has no automation_url: its Secrets are sent to one origin.',
  hint: 'Have one address answer for both, as the ingress of Agent Canvas does.',
};

function tlsFile(name: (typeof TLS_FILES)[number]) {
  return {
    message: `A SettingsTarget has no ${name}: a file of this machine is not in the cluster.`,
    hint:
      name === 'ca_file'
        ? 'Leave it out, and set NODE_EXTRA_CA_CERTS where the objects are read.'
        : 'Leave it out; a controller in a cluster sends no client certificate.',
  };
}

function readServerUrl(server: Node | undefined, taking: Taking): string {
  const node = member(server, 'url');
  const url = (readNodeText(node) ?? '').trim();
  const place = { filePath: ['server', 'url'] };
  if (node === undefined) return url;
  if (url.includes('${')) refuse(node, place, REFERRED, taking);
  else if (url.startsWith('embedded:')) refuse(node, place, EMBEDDED, taking);
  return url;
}

const REFERRED = {
  message: 'The url of a SettingsTarget is written out: its origin never changes.',
  hint: 'Write the address instead of the reference.',
};
const EMBEDDED = {
  message: 'A SettingsTarget needs an address: the embedded service is inside the command.',
  hint: 'Choose the other environments with -e, or by their labels with -l.',
};

function secretRef(
  node: Node,
  filePath: readonly string[],
  taking: Taking,
): KubeObject | undefined {
  const reference = parseWholeReference(readNodeText(node) ?? '');
  const found: SecretKey | Refusal = reference === null ? NO_REFERENCE : taking.secretOf(reference);
  if ('name' in found) return { ...found };
  refuse(node, { filePath }, found, taking);
  return undefined;
}

const NO_REFERENCE = {
  message: 'A SettingsTarget can take only a whole value from a Secret, not a part of a text.',
  hint: 'Make the value one reference.',
};
