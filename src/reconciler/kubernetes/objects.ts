import { findMember, type PlacedFinding, member, readNodeText } from '../desired/node.ts';
import { readLabels } from '../desired/blocks/about.ts';
import type { Target } from '../desired/target.ts';
import { API_VERSION, definitions, KIND, NOT_SUBSTITUTED, type KubeObject } from './crd.ts';
import { createObjectName } from './names.ts';
import { formatNodePlace, findUnusedEntries } from './secret-keys.ts';
import { createTargetSpec } from './spec.ts';
import { stringify } from 'yaml';

export interface RenderOptions {
  /** The namespace of the objects; without it the client decides. */
  readonly namespace?: string | undefined;
  /** The Secret of all references that the file does not place. */
  readonly secret?: string | undefined;
  /** True if the definition is among the objects. */
  readonly crd?: boolean | undefined;
  /** True if all environments of the files are among the targets: values that none of them uses are then findings. */
  readonly all?: boolean | undefined;
}

/** Objects in the order in which they are applied, and what of the targets no object can hold. */
export interface RenderResult {
  readonly objects: readonly KubeObject[];
  readonly findings: readonly PlacedFinding[];
}

/** The definition if it is asked for, a Role for the Secrets, and a SettingsTarget for each target. */
export function renderObjects(targets: readonly Target[], options: RenderOptions): RenderResult {
  const names = new Map<string, string>();
  const findings: PlacedFinding[] = [];
  const roles = new Map<string, RoleSecrets>();
  const used = new Set<string>();
  const objects = targets.map((target) => {
    const name = createObjectName(target.name);
    const namespace = options.namespace ?? readNodeText(member(target.kubernetes, 'namespace'));
    const where = `${namespace ?? ''}/${name}`;
    findings.push(...problemOfName(target, name, names.get(where)));
    names.set(where, target.name);
    const { spec, secrets, findings: own, placed } = createTargetSpec(target, options.secret);
    findings.push(...own);
    for (const node of placed) used.add(formatNodePlace(node));
    const role = readNodeText(member(target.kubernetes, 'role')) ?? 'setpoint-secrets';
    addSecrets(roles, { namespace, role, secrets });
    const labels = Object.fromEntries(readLabels(target.labels));
    return {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: metadata(name, namespace, labels),
      spec,
    };
  });
  if (options.all === true)
    findings.push(...targets.flatMap((target) => findUnusedEntries(target.kubernetes, used)));
  const crd = options.crd === true ? definitions() : [];
  return { objects: [...crd, ...[...roles.values()].map(createSecretsRole), ...objects], findings };
}

function metadata(
  name: string,
  namespace: string | undefined,
  labels: Readonly<Record<string, string>> = {},
): KubeObject {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    annotations: NOT_SUBSTITUTED,
  };
}

/** The Secrets that a Role makes readable. */
interface RoleSecrets {
  readonly namespace: string | undefined;
  readonly role: string;
  readonly secrets: readonly string[];
}

function addSecrets(roles: Map<string, RoleSecrets>, wanted: RoleSecrets): void {
  if (wanted.secrets.length === 0) return;
  const key = `${wanted.namespace ?? ''}/${wanted.role}`;
  const before = roles.get(key)?.secrets ?? [];
  roles.set(key, { ...wanted, secrets: [...new Set([...before, ...wanted.secrets])].toSorted() });
}

function createSecretsRole({ namespace, role, secrets }: RoleSecrets): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: metadata(role, namespace),
    rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: secrets, verbs: ['get'] }],
  };
}

const LONGEST = 253;

function problemOfName(
  { name, root }: Target,
  made: string,
  other: string | undefined,
): readonly PlacedFinding[] {
  const key = findMember(root, ['environments', name]) ?? root.members.get('name');
  const at = { file: key?.keyFile ?? root.file, at: key?.keyAt ?? root.at };
  const path = key === undefined ? [] : key.key === 'name' ? ['name'] : ['environments', name];
  const refused = (message: string, hint: string): readonly PlacedFinding[] => [
    { ...at, finding: { code: 'not-in-kubernetes', message, hint, path } },
  ];
  if (made === '' || made.length > LONGEST)
    return refused(
      'No object can have the name of this environment.',
      `Give it one with a letter or digit, and at most ${LONGEST} characters.`,
    );
  if (other === undefined) return [];
  return refused(
    `The object of this environment would be ${made}, as that of ${other}.`,
    'Names of objects have small letters, digits, - and . only: rename one of the two.',
  );
}

/** Objects as a stream of YAML documents, in their order. */
export function yamlStream(objects: readonly KubeObject[]): string {
  return objects.map((object) => `---\n${yamlDocument(object)}`).join('');
}

/** YAML that readers of YAML 1.1, such as kubectl's, read alike: texts such as `yes` and `0x1` are quoted. */
export function yamlDocument(object: unknown): string {
  return stringify(object, { lineWidth: 0, version: '1.1', aliasDuplicateObjects: false });
}

/** Objects as kubectl prints several as JSON. */
export function jsonList(objects: readonly KubeObject[]): KubeObject {
  return { apiVersion: 'v1', kind: 'List', items: objects };
}
