import { asSetpointError } from '../../reconciler/model/error.ts';
import type { Approvals } from '../../reconciler/model/limits.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { API_VERSION } from '../../reconciler/kubernetes/crd.ts';
import { approvalDigest } from '../watch/healing.ts';
import { kubePath, type KubeApi } from './kube-api.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import type { KubeResource } from './stored-object.ts';
import { isDeleted } from './target-resource.ts';
import { withoutFraction } from './status.ts';

/** A SettingsApproval as the API server returns it. */
export interface ApprovalResource extends KubeResource {
  readonly spec: {
    readonly target: string;
    readonly planDigest: string;
    readonly expiresAt?: string;
    readonly approver?: string;
  };
  readonly status?: ApprovalStatus;
}

interface ApprovalStatus {
  readonly observedGeneration?: number;
  readonly usedAt?: string;
  readonly conditions?: readonly ApprovalCondition[];
}

interface ApprovalCondition {
  readonly type: 'Ready';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

/** Milliseconds for one status, with all its tries. */
const WITHIN = 10_000;
/** The approvals of one target that count: the newest. */
const MOST = 50;
const PLURAL = 'settingsapprovals';
const STATUS = 'the status of SettingsApprovals';
const RULE = `Bind a Role to it with apiGroups: [setpoint.dev], resources: [${PLURAL}], verbs: [get, list, watch], and ${PLURAL}/status with patch.`;

export interface ApprovalTools extends Pick<ReflectorOptions, 'clock' | 'random'> {
  readonly api: KubeApi;
  /** Null is all namespaces. */
  readonly namespace: string | null;
  /** Called with the key of a target whose approvals changed. */
  readonly changed: (target: string) => void;
  /** Called with the reason why approvals cannot be read, or their status cannot be written; null once they can. */
  readonly problem: (message: string | null) => void;
}

/**
 * The SettingsApprovals of the targets: which digests are approved now, and the status of each approval. While they cannot be read, those that were
 * read last count; before that none does. An approval only ever lifts the wait for itself: it changes neither guards nor windows nor limits.
 */
export class SettingsApprovals {
  readonly #tools: ApprovalTools;
  readonly #approvals: Reflector<ApprovalResource>;
  /** The keys of approvals by that of their target, the newest first. */
  #byTarget: ReadonlyMap<string, readonly string[]> = new Map();
  #revision = -1;
  /** The statuses that were written last, by uid: the watch returns them later. */
  readonly #written = new Map<string, string>();
  /** The times of writes by approvals, by uid, until the watch returns them. */
  readonly #used = new Map<string, string>();
  #last: Promise<void> = Promise.resolve();

  constructor(tools: ApprovalTools) {
    const { api, namespace, clock, random } = tools;
    this.#tools = tools;
    const about = { what: 'SettingsApprovals', namespace, rule: RULE };
    this.#approvals = new Reflector(api, kubePath(`/apis/${API_VERSION}`, namespace, PLURAL), {
      clock,
      random,
      isOptional: true,
      about,
      changed: (key) => this.#handleChange(key),
    });
  }

  /** Keeps them until the signal aborts. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#approvals.run(signal);
    await this.#last;
  }

  /** The approval of a digest for a target that counts now; null if there is none. */
  find(target: string, digest: string): ApprovalResource | null {
    const all = this.#listApprovals(target);
    return (
      all.find(
        (one) => one.spec.planDigest === digest && !isDeleted(one) && !this.#isExpired(one),
      ) ?? null
    );
  }

  /**
   * The approvals of a target, as they are when it is asked; null if it needs none. `own` is the digest that the object names itself, null if it
   * asks for no approval; it does not count where a policy requires SettingsApprovals.
   */
  findApprovals(target: string, own: string | null, isRequired: boolean): Approvals | null {
    if (own === null && !isRequired) return null;
    return {
      covers: (digest) => (!isRequired && digest === own) || this.find(target, digest) !== null,
    };
  }

  /** Writes the status of each approval of a target. `state` is null if the target is not watched; `applied` is the time of a write by this digest. */
  report(
    target: string,
    state: WatchState | null,
    applied: { readonly at: string; readonly digest: string } | null = null,
  ): void {
    for (const approval of this.#listApprovals(target)) {
      const isUsed = applied !== null && applied.digest === approval.spec.planDigest;
      const uid = approval.metadata.uid ?? '';
      if (isUsed) this.#used.set(uid, applied.at);
      const usedAt = this.#used.get(uid) ?? approval.status?.usedAt;
      this.#write(approval, usedAt, this.#judge(approval, state, usedAt));
    }
  }

  #judge(
    approval: ApprovalResource,
    state: WatchState | null,
    usedAt: string | undefined,
  ): ConditionText {
    const { expiresAt } = approval.spec;
    if (usedAt !== undefined) return ['True', 'Used', `The plan was written at ${usedAt}.`];
    if (this.#isExpired(approval)) return ['False', 'Expired', `It expired at ${expiresAt}.`];
    if (state === null) return ['Unknown', 'NotWatched', 'The SettingsTarget is not watched.'];
    const { approvals, mode } = state.settings;
    if (mode === 'detect') return ['Unknown', 'NotNeeded', 'The SettingsTarget has mode Observe.'];
    if (approvals === undefined)
      return [
        'Unknown',
        'NotNeeded',
        'The SettingsTarget writes every plan: it has no spec.approval, and no SettingsPolicy requires approvals.',
      ];
    if (state.found === 'not-read' || state.found === 'error')
      return ['Unknown', 'NotRead', 'The server was not read yet.'];
    if (approvalDigest(state) !== approval.spec.planDigest)
      return ['False', 'NotCovered', 'The plan of the SettingsTarget has another digest now.'];
    return ['True', 'Covers', 'It covers the plan, which is written within guards and windows.'];
  }

  #isExpired({ spec }: ApprovalResource): boolean {
    if (spec.expiresAt === undefined) return false;
    const at = Date.parse(spec.expiresAt);
    return !Number.isFinite(at) || at <= this.#tools.clock.now();
  }

  #write(approval: ApprovalResource, usedAt: string | undefined, said: ConditionText): void {
    const [status, reason, message] = said;
    const { metadata } = approval;
    const uid = metadata.uid ?? '';
    const [before] = approval.status?.conditions ?? [];
    const now = `${reason} ${message} ${metadata.generation}`;
    const shown = `${before?.reason} ${before?.message} ${approval.status?.observedGeneration}`;
    if (now === (this.#written.get(uid) ?? shown)) return;
    this.#written.set(uid, now);
    const generation = metadata.generation ?? 0;
    const at = withoutFraction(new Date(this.#tools.clock.now()).toISOString());
    const condition: ApprovalCondition = {
      type: 'Ready',
      status,
      reason,
      message,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : at,
      observedGeneration: generation,
    };
    const body = {
      status: {
        observedGeneration: generation,
        ...(usedAt === undefined ? {} : { usedAt }),
        conditions: [condition],
      },
    };
    this.#last = this.#last.then(() => this.#send(approval, body));
  }

  async #send({ metadata }: ApprovalResource, body: object): Promise<void> {
    const { api, problem } = this.#tools;
    const { namespace = 'default', name, uid = '' } = metadata;
    const path = `${kubePath(`/apis/${API_VERSION}`, namespace, PLURAL, name)}/status`;
    try {
      await api.ask({
        method: 'PATCH',
        path,
        contentType: 'application/merge-patch+json',
        body,
        within: WITHIN,
        about: { what: STATUS, purpose: `write ${STATUS}`, namespace, rule: RULE },
      });
      problem(this.#approvals.problem?.message ?? null);
    } catch (thrown) {
      this.#written.delete(uid);
      problem(asSetpointError(thrown).message);
    }
  }

  #handleChange(key: string | null): void {
    this.#tools.problem(this.#approvals.problem?.message ?? null);
    const before = this.#byTarget;
    const now = this.#index();
    const isOf = ([, keys]: readonly [string, readonly string[]]): boolean =>
      key === null || keys.includes(key);
    const targets = [...before, ...now].filter(isOf).map(([target]) => target);
    for (const target of new Set(targets)) this.#tools.changed(target);
  }

  #listApprovals(target: string): readonly ApprovalResource[] {
    const keys = this.#index().get(target) ?? [];
    return keys.flatMap((key) => this.#approvals.objects.get(key) ?? []);
  }

  #index(): ReadonlyMap<string, readonly string[]> {
    const { revision, objects } = this.#approvals;
    if (revision === this.#revision) return this.#byTarget;
    const newest = [...objects].toSorted(([, one], [, other]) =>
      buildAgeKey(one) < buildAgeKey(other) ? 1 : -1,
    );
    const made = new Map<string, string[]>();
    for (const [key, { metadata, spec }] of newest) {
      const target = `${metadata.namespace ?? 'default'}/${spec.target}`;
      const keys = made.get(target) ?? [];
      if (keys.length < MOST) keys.push(key);
      made.set(target, keys);
    }
    this.#revision = revision;
    this.#byTarget = made;
    const uids = new Set(newest.map(([, { metadata }]) => metadata.uid));
    for (const known of [this.#written, this.#used])
      for (const uid of known.keys()) if (!uids.has(uid)) known.delete(uid);
    return made;
  }
}

type ConditionText = readonly [
  status: ApprovalCondition['status'],
  reason: string,
  message: string,
];

const buildAgeKey = ({ metadata }: ApprovalResource): string =>
  `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
