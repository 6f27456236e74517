import type { Diagnostic } from '../../reconciler/model/diagnostic.ts';
import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import type { Approvals, Limits } from '../../reconciler/model/limits.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import { readSettingsTarget } from '../../reconciler/kubernetes/read-target.ts';
import { namesListed } from '../../reconciler/model/wording.ts';
import { findExceededLimit } from '../../reconciler/kubernetes/size.ts';
import { InvalidSettings } from '../../reconciler/operations/invalid-settings.ts';
import { checkPolicy } from '../../reconciler/operations/policy.ts';
import { isList, isRecord } from '../../reconciler/model/value.ts';
import { formatBytes, OBJECT_LIMITS, STORE_LIMITS } from './limits.ts';
import type { Outside } from './outside.ts';
import type { Allowance } from './policies.ts';
import type { Refusal } from './stored-object.ts';
import { parseGeneration, parseUid, type TargetResource } from './target-resource.ts';

/** There is no room for an object: all of its namespace are too large, or those of the cluster. It has its own limits. */
export class OverLimit extends SetpointError {}

/** The reason why an object has no target yet. */
export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

/** The target that an object declares, or why it is not valid or not known yet. */
export interface ObjectDeclaration {
  readonly generation: number;
  readonly uid: string;
  readonly refused: Refusal['by'] | null;
  /** The permissions from the policies of its namespace at the time of reading; null if they were not known. */
  readonly allowance: Allowance | null;
  readonly target: Target | null;
  readonly problem: SetpointError | null;
  readonly waiting: Waiting | null;
  /** Null if it was not known. */
  readonly outside: Outside | null;
}

export function createReadingWait(names: readonly string[]): Waiting {
  return { reason: 'Progressing', message: `Reading ${namesListed(names, 3)}.` };
}

export function versionOfObject(
  object: TargetResource,
): Pick<ObjectDeclaration, 'generation' | 'refused' | 'uid'> {
  const { refused } = object;
  return {
    generation: parseGeneration(object),
    uid: parseUid(object),
    refused: refused?.by ?? null,
  };
}

/** Reports whether a result was read from the current version of an object. */
export function isOfVersion(declared: ObjectDeclaration, object: TargetResource): boolean {
  const { generation, uid, refused } = versionOfObject(object);
  return declared.generation === generation && declared.uid === uid && declared.refused === refused;
}

/** Creates the problem of an object whose spec is not stored and cannot be read. */
export function createRefusedProblem(refused: Refusal, namespace: string): SetpointError {
  const { specBytes, specTokens } = OBJECT_LIMITS;
  const split = 'Declare less in it, or divide it into objects of several servers.';
  const remove = 'Remove objects of the namespace, or declare less in them.';
  switch (refused.by) {
    case 'bytes':
      return new InvalidSize(
        `The spec has ${formatBytes(refused.size)}. The limit is ${formatBytes(specBytes)}.`,
        split,
      );
    case 'tokens':
      return new InvalidSize(
        `The spec has ${refused.size} commas, colons and brackets. The limit is ${specTokens}.`,
        split,
      );
    case 'depth':
      return new InvalidSize(
        `The spec has ${refused.size} levels of maps and lists in each other. The limit is ${OBJECT_LIMITS.depth}.`,
        'Correct what made it: no setting is nested like this.',
      );
    case 'namespace':
      return new OverLimit(
        'cluster-failed',
        `The namespace ${namespace} is at its limit of ${formatBytes(STORE_LIMITS.namespace)} for SettingsTargets. The newest are not read.`,
        { hint: remove },
      );
    case 'cluster':
      return new OverLimit(
        'cluster-failed',
        `The SettingsTargets of the cluster are at their limit of ${formatBytes(STORE_LIMITS.cluster)}, and the namespace ${namespace} has the largest share. Its newest are not read.`,
        { hint: remove },
      );
  }
}

/** Returns why an object that names too many Secrets is not read; null if it may be. */
export function secretsProblem({ spec }: Pick<TargetResource, 'spec'>): SetpointError | null {
  const { apiKeySecretRef, headers } = spec.server;
  const entries = [spec['valuesFrom'], headers].flatMap((list) => (isList(list) ? list : []));
  const refs = [apiKeySecretRef, ...entries.map((one) => isRecord(one) && one['secretKeyRef'])];
  const names = new Set(refs.flatMap((ref) => (isRecord(ref) ? [ref['name']] : [])));
  return names.size > OBJECT_LIMITS.secrets
    ? new InvalidSize(
        `The object names ${names.size} Secrets. The limit is ${OBJECT_LIMITS.secrets}.`,
        'Put several values into one Secret.',
      )
    : null;
}

/** Returns why the text of a ConfigMap is not parsed; null if it may be. */
export function textProblem(
  { settings }: Outside,
  { metadata: { namespace = '' } }: TargetResource,
): SetpointError | null {
  const { textBytes, textScalars: scalars, textMarks: marks, textBlanks: blanks } = OBJECT_LIMITS;
  const divide = 'Divide it into several ConfigMaps.';
  if (settings?.kind === 'large')
    return new InvalidSize(
      `The text of the ConfigMap has ${formatBytes(settings.bytes)}. The limit is ${formatBytes(textBytes)}.`,
      divide,
    );
  if (settings?.kind === 'no-room')
    return new OverLimit(
      'cluster-failed',
      `The ConfigMaps that the SettingsTargets of the namespace ${namespace} name are at their limit of ${formatBytes(STORE_LIMITS.namespaceTexts)}. This one is not read.`,
      { hint: 'Let several objects name the same ConfigMap, or declare less in them.' },
    );
  const limits = { scalars, marks, blanks };
  const excess = settings?.kind === 'text' ? findExceededLimit(settings.text, limits) : null;
  return excess === null
    ? null
    : new InvalidSize(
        `The text of the ConfigMap has more than ${limits[excess]} ${COUNTED[excess]}.`,
        divide,
      );
}

const COUNTED = {
  scalars: 'keys and values',
  marks: 'brackets, commas, dashes and other marks of YAML',
  blanks: 'line breaks, indentations and comments',
} as const;

/** An object, or what it names, is too large. */
export class InvalidSize extends SetpointError {
  constructor(message: string, hint: string) {
    super('settings-invalid', message, { hint });
  }
}

export function modeProblem(
  { spec }: TargetResource,
  { whyNotMode }: Allowance,
): SetpointError | null {
  const why = whyNotMode(spec.mode);
  const hint = 'Change spec.mode, or have the policy changed.';
  return why === null ? null : new SetpointError('policy-violated', why, { hint });
}

/** The target that an object declares with what it names. Throws InvalidSettings if it is not valid. */
export function parseDeclaredTarget(
  key: string,
  { metadata, spec }: Pick<TargetResource, 'metadata' | 'spec'>,
  { settings, missing }: Outside,
  { limits }: Pick<Allowance, 'limits'>,
  approvals: Approvals | null,
): Target {
  const { target, diagnostics } = readSettingsTarget(
    { metadata, spec },
    {
      settings: settings?.kind === 'text' ? settings.text : null,
      hasKey: (secret) => !missing.has(`${secret.name}/${secret.key}`),
    },
  );
  if (target === null) throw new InvalidSettings(selectFirstDiagnostics(diagnostics));
  const limited = approvals === null ? limits : { ...(limits ?? NO_LIMITS), approvals };
  return { ...target, name: key, ...(limited === null ? {} : { limits: limited }) };
}

/** Diagnostics that are stored of one object: its status has the first one. */
const MOST_DIAGNOSTICS = 20;

function selectFirstDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.length > MOST_DIAGNOSTICS
    ? diagnostics.slice(0, MOST_DIAGNOSTICS)
    : diagnostics;
}

const NO_LIMITS: Limits = { origins: [], forbidden: new Map(), interval: 0 };

/** Returns why the policy file of the controller refuses a declaration; null if it does not, or there is none. */
export async function findPolicyRefusal(
  target: Target,
  policy: string | undefined,
): Promise<SetpointError | null> {
  if (policy === undefined) return null;
  return checkPolicy([target], policy).then(() => null, asSetpointError);
}
