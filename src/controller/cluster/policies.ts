import { milliseconds } from '../../reconciler/desired/blocks/watch.ts';
import { API_VERSION } from '../../reconciler/kubernetes/crd.ts';
import { snakeCase } from '../../reconciler/kubernetes/names.ts';
import { formatCount as inWords } from '../../reconciler/model/wording.ts';
import { findTextReferences } from '../../reconciler/kubernetes/texts.ts';
import { SetpointError } from '../../reconciler/model/error.ts';
import { RULES, type Rule } from '../../reconciler/model/guard.ts';
import type { Limits } from '../../reconciler/model/limits.ts';
import { formatPath } from '../../reconciler/model/path.ts';
import type { Value } from '../../reconciler/model/value.ts';
import { selects, type Requirement } from '../../reconciler/model/selector.ts';
import { kubePath, type KubeApi } from './kube-api.ts';
import { notListed, Reflector, type ReflectorOptions } from './reflector.ts';
import type { KubeResource } from './stored-object.ts';

const POLICIES = kubePath(`/apis/${API_VERSION}`, null, 'settingspolicies');
const NAMESPACES = '/api/v1/namespaces';
const READ = 'verbs: [get, list, watch]';
const BIND = 'Bind a ClusterRole to it with';

/** A SettingsPolicy as the API server hands it out. What its definition refuses is not in it. */
interface PolicyResource extends KubeResource {
  readonly spec?: {
    readonly namespaceSelector?: LabelSelector;
    readonly allowedOrigins?: readonly string[];
    readonly modes?: readonly string[];
    readonly forbidden?: readonly string[];
    readonly minInterval?: string;
    readonly requireApproval?: boolean;
    readonly limits?: { readonly maxTargets?: number; readonly maxReads?: number };
  };
}

interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** The permissions of the SettingsTargets of a namespace: all that every policy that selects it allows. */
export interface Allowance {
  /** Null if no policy selects the namespace. */
  readonly limits: Limits | null;
  /** Returns why an object may not have its mode; null if it may. */
  readonly whyNotMode: (mode: string) => string | null;
  /** True if a plan is written only if a SettingsApproval names its digest. */
  readonly requiresApproval: boolean;
  /** The number of objects that the namespace may have, and the name of the policy; null without a limit. */
  readonly maxTargets: { readonly count: number; readonly policy: string } | null;
  /** How many servers of the namespace are read at a time; null without a limit. */
  readonly maxReads: number | null;
}

/** The number of allowances that are stored although their policies may have changed. */
const MOST_MADE = 1_000;

const ANYTHING: Allowance = {
  limits: null,
  whyNotMode: () => null,
  requiresApproval: false,
  maxTargets: null,
  maxReads: null,
};

export interface PolicyTools extends ReflectorOptions {
  readonly api: KubeApi;
}

/**
 * The SettingsPolicies of a cluster. None holds where they are not defined; while they cannot be read, those that were read last hold, and before that
 * nothing is allowed. Namespaces are read once a policy selects some of them.
 */
export class SettingsPolicies {
  readonly #policies: Reflector<PolicyResource>;
  readonly #namespaces: Reflector<KubeResource>;
  readonly #changed: () => void;
  #allowances = new Map<string, Allowance>();
  /**
   * By the policies that make them: another label of a namespace makes no other allowance, and does not cause an object to be read again.
   */
  readonly #made = new Map<string, Allowance>();
  #needsNamespaces: (() => void) | null = null;
  readonly #selective: Promise<void>;

  constructor({ api, changed, ...options }: PolicyTools) {
    this.#changed = () => {
      this.#allowances = new Map();
      changed(null);
    };
    this.#selective = new Promise((resolve) => {
      this.#needsNamespaces = resolve;
    });
    const both = { ...options, changed: () => this.#take() };
    this.#policies = new Reflector(api, POLICIES, {
      ...both,
      isOptional: true,
      about: {
        what: 'SettingsPolicies',
        namespace: null,
        rule: `${BIND} apiGroups: [setpoint.dev], resources: [settingspolicies], ${READ}.`,
      },
    });
    this.#namespaces = new Reflector(api, NAMESPACES, {
      ...both,
      about: {
        what: 'namespaces',
        namespace: null,
        rule: `${BIND} apiGroups: [''], resources: [namespaces], ${READ}; SettingsPolicies select them by their labels.`,
      },
    });
  }

  /** Changes whenever what is allowed may have. */
  get revision(): string {
    return `${this.#policies.revision} ${this.#namespaces.revision}`;
  }

  /** Reports whether any policy limits how many objects a namespace may have. */
  get limitsTargets(): boolean {
    return [...this.#policies.objects.values()].some(
      ({ spec }) => spec?.limits?.maxTargets !== undefined,
    );
  }

  /** The reason why the permissions are not known; null if they are. */
  get problem(): SetpointError | null {
    if (!this.#policies.isListed) return this.#policies.problem ?? notListed('SettingsPolicies');
    if (!this.#isSelective || this.#namespaces.isListed) return null;
    return this.#namespaces.problem ?? notListed('namespaces');
  }

  /** Reports whether the permissions are known, or why they are not. */
  get isSettled(): boolean {
    return this.problem === null || [this.#policies, this.#namespaces].some((one) => one.problem);
  }

  /** Keeps them until the signal aborts. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#needsNamespaces?.(), { once: true });
    const namespaces = this.#selective.then(() => this.#namespaces.run(signal));
    await Promise.all([this.#policies.run(signal), namespaces]);
  }

  /**
   * Returns the same object as before if nothing has changed. Throws a SetpointError if a policy cannot be understood, or the namespace
   * is not known.
   */
  in(namespace: string): Allowance {
    const known = this.#allowances.get(namespace);
    if (known !== undefined) return known;
    const selecting = [...this.#policies.objects.values()].filter((one) =>
      this.#selects(one, namespace),
    );
    const allowance = selecting.length === 0 ? ANYTHING : this.#computeAllowance(selecting);
    this.#allowances.set(namespace, allowance);
    return allowance;
  }

  #computeAllowance(policies: readonly PolicyResource[]): Allowance {
    const version = ({ metadata }: PolicyResource) => `${metadata.uid} ${metadata.generation}`;
    const key = policies.map(version).join('\n');
    const allowance = this.#made.get(key) ?? mergeAllowances(policies);
    if (this.#made.size >= MOST_MADE) this.#made.clear();
    this.#made.set(key, allowance);
    return allowance;
  }

  #take(): void {
    if (this.#isSelective) this.#needsNamespaces?.();
    this.#changed();
  }

  get #isSelective(): boolean {
    return [...this.#policies.objects.values()].some(isSelective);
  }

  #selects(policy: PolicyResource, namespace: string): boolean {
    if (!isSelective(policy)) return true;
    const found = this.#namespaces.objects.get(`/${namespace}`);
    if (found !== undefined)
      return selects(
        parsePolicySelector(policy),
        new Map(Object.entries(found.metadata.labels ?? {})),
      );
    throw new SetpointError('cluster-failed', `The namespace ${namespace} was not listed yet.`);
  }
}

function isSelective({ spec }: PolicyResource): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.namespaceSelector ?? {};
  return Object.keys(matchLabels).length + matchExpressions.length > 0;
}

const formatPolicyName = ({ metadata }: PolicyResource): string =>
  `SettingsPolicy ${metadata.name}`;

function parsePolicySelector(policy: PolicyResource): readonly Requirement[] {
  const { matchLabels = {}, matchExpressions = [] } = policy.spec?.namespaceSelector ?? {};
  const labels = Object.entries(matchLabels).map(([key, value]): Requirement => ({
    operator: 'in',
    key,
    values: new Set([value]),
  }));
  const expressions = matchExpressions.map(({ key, operator, values = [] }): Requirement => {
    switch (operator) {
      case 'In':
        return { operator: 'in', key, values: new Set(values) };
      case 'NotIn':
        return { operator: 'notin', key, values: new Set(values) };
      case 'Exists':
        return { operator: 'exists', key };
      case 'DoesNotExist':
        return { operator: 'absent', key };
      default:
        throw createUnknownProblem(policy, `the operator ${operator}`);
    }
  });
  return [...labels, ...expressions];
}

function mergeAllowances(policies: readonly PolicyResource[]): Allowance {
  for (const policy of policies) {
    const [path] = findTextReferences((policy.spec ?? {}) as Value, ['spec']);
    if (path !== undefined)
      throw createUnknownProblem(policy, `the reference at ${formatPath(path)}`);
  }
  const limits: Limits = {
    origins: policies.flatMap((policy) => {
      const { allowedOrigins } = policy.spec ?? {};
      const name = `the allowedOrigins of the ${formatPolicyName(policy)}`;
      return allowedOrigins === undefined ? [] : [{ name, entries: allowedOrigins }];
    }),
    forbidden: new Map(policies.flatMap(listForbiddenRules)),
    interval: Math.max(0, ...policies.map(parsePolicyInterval)),
  };
  const whyNotMode = (mode: string): string | null => {
    for (const policy of policies) {
      const { modes } = policy.spec ?? {};
      if (modes !== undefined && !modes.includes(mode))
        return `The mode ${mode} is not among the modes of the ${formatPolicyName(policy)}.`;
    }
    return null;
  };
  const leastOf = (name: 'maxReads' | 'maxTargets') => {
    const counts = policies.flatMap((policy) => {
      const count = policy.spec?.limits?.[name];
      return count === undefined ? [] : [{ count, policy: formatPolicyName(policy) }];
    });
    const [least = null] = counts.toSorted((one, other) => one.count - other.count);
    return least;
  };
  return {
    limits,
    whyNotMode,
    requiresApproval: policies.some(({ spec }) => spec?.requireApproval === true),
    maxTargets: leastOf('maxTargets'),
    maxReads: leastOf('maxReads')?.count ?? null,
  };
}

function listForbiddenRules(policy: PolicyResource): readonly (readonly [Rule, string])[] {
  return (policy.spec?.forbidden ?? []).map((name) => {
    const rule = RULES.find((one) => one.replaceAll('-', '_') === snakeCase(name));
    if (rule === undefined) throw createUnknownProblem(policy, `the rule ${name}`);
    return [rule, `The ${formatPolicyName(policy)}`];
  });
}

function parsePolicyInterval(policy: PolicyResource): number {
  const { minInterval } = policy.spec ?? {};
  if (minInterval === undefined) return 0;
  const every = milliseconds(minInterval);
  if (every === null) throw createUnknownProblem(policy, 'the minInterval');
  return every;
}

/** Creates the error for a member that is not understood, which allows nothing. */
function createUnknownProblem(policy: PolicyResource, what: string): SetpointError {
  return new SetpointError(
    'policy-violated',
    `This controller does not know ${what} of the ${formatPolicyName(policy)}, and allows nothing by it.`,
    {
      hint: 'Correct the policy, or install a newer controller.',
    },
  );
}

/** Returns why an object is not watched because its namespace has too many; null if it is watched. Counts it after those before. */
export function whyTooMany(
  namespace: string,
  { maxTargets }: Allowance,
  counted: Map<string, number>,
): SetpointError | null {
  if (maxTargets === null) return null;
  const before = counted.get(namespace) ?? 0;
  counted.set(namespace, before + 1);
  if (before < maxTargets.count) return null;
  const message = `The ${maxTargets.policy} allows ${inWords(maxTargets.count, 'SettingsTarget')} in the namespace ${namespace}, and older ones count first.`;
  const hint = 'Delete others, or have the policy changed.';
  return new SetpointError('policy-violated', message, { hint });
}
