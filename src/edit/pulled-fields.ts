import { member } from '../desired/node.ts';
import { isMalformed, mayHoldReference, parseTemplate } from '../desired/references.ts';
import type { Target } from '../desired/target.ts';
import { fieldNamed, type Field } from '../model/field.ts';
import { formatPath } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { PulledAction } from '../model/pulled.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import type { Value } from '../model/value.ts';
import { asWritten } from './as-written.ts';
import { fieldStub } from './field-stub.ts';
import { isExpressible } from './is-expressible.ts';
import { isHidden } from './is-hidden.ts';
import type { CompareEntry } from './pulled-list.ts';
import { pulledMcp } from './pulled-mcp.ts';
import { REASONS } from './reasons.ts';
import { NOTHING_PULLED, type Pulled, type Slot } from './slot.ts';

/** A target, what its service has, and the plan that would turn that into what the file says. */
export interface Pulling {
  readonly target: Target;
  readonly desired: DesiredState;
  readonly observed: ObservedState;
  readonly changes: readonly Change[];
  readonly compare: CompareEntry;
  /** Paths that have been found not to read back the same. */
  readonly excluded: ReadonlySet<string>;
  /** What references stand for: never written, wherever else the service has it. */
  readonly hidden: readonly Secret[];
  /** Whether all goes into a block of its own, so that no reference is written over. */
  readonly overlay: boolean;
}

/** What the file takes in so that the plan becomes empty, and what it does not. */
export function pulledFields(pulling: Pulling): Pulled {
  const { target, desired, observed, changes, compare, excluded, overlay } = pulling;
  if (!observed.stored) {
    const left = changes.map(({ path, ref }) => ({ path, reason: REASONS.empty, ref }));
    return { ...NOTHING_PULLED, left };
  }
  const parts = changes
    .filter(({ path }) => path[0] !== 'mcp_config')
    .map((change) => pulledField(change, pulling));
  const mcp = desired.fields.find(({ field }) => field.name === 'mcp_config');
  const node = member(target.settings, 'mcp_config');
  if (mcp !== undefined && node !== undefined) {
    const rules = {
      unmanaged: desired.unmanaged,
      changes,
      compare,
      excluded,
      overReferences: overlay,
      hidden: pulling.hidden,
    };
    parts.push(pulledMcp(node, mcp.value, observed.values['mcp_config'] ?? null, rules));
  }
  return {
    slots: parts.flatMap(({ slots }) => slots),
    made: parts.flatMap(({ made }) => made),
    left: parts.flatMap(({ left }) => left),
  };
}

function pulledField(change: Change, pulling: Pulling): Pulled {
  const { target, observed, excluded, overlay } = pulling;
  const [name = ''] = change.path;
  const field = fieldNamed(name);
  const leave = (reason: string): Pulled => ({
    ...NOTHING_PULLED,
    left: [{ path: change.path, reason, ref: change.ref }],
  });
  if (field === undefined) return leave(REASONS.unreadable);
  if (excluded.has(formatPath(change.path))) return leave(REASONS.unlike);
  const taken = (slot: Pick<Slot, 'value' | 'stubs'>, action: PulledAction): Pulled => ({
    slots: [{ path: ['settings', name], ...slot }],
    made: [[action, change]],
    left: [],
  });
  if (field.secret) {
    if (!overlay) return leave(change.ref === null ? REASONS.secret : REASONS.reference);
    if (change.action === 'set') return taken({ value: null, stubs: [] }, 'clear');
    const stub = fieldStub(name, new Secret(''));
    return taken({ value: stub.written, stubs: [stub] }, 'set');
  }
  const node = member(target.settings, name);
  const text = node?.kind === 'scalar' ? node.value : null;
  if (name === 'secrets_store' || (holdsReference(text) && !overlay))
    return leave(REASONS.reference);
  const actual = actualOf(field, observed);
  if (actual instanceof Secret) {
    if (!overlay) return leave(REASONS.sensitive);
    const stub = fieldStub(name, actual);
    return taken({ value: stub.written, stubs: [stub] }, 'change');
  }
  if (isHidden(actual, pulling.hidden)) return leave(REASONS.tainted);
  const value = asWritten(actual);
  if (value === null || !isExpressible({ [name]: value.written }))
    return leave(REASONS.inexpressible);
  const action = change.action === 'set' ? 'clear' : change.action === 'clear' ? 'set' : 'change';
  return taken({ value: value.written, stubs: [] }, action);
}

/** What the service has, its default where it leaves a field out; null where empty text means the same. */
function actualOf({ name }: Field, { dialect, values }: ObservedState): Value {
  const field = dialect.fields.get(name);
  const actual = values[name] ?? field?.absent ?? null;
  return actual === '' && field?.onNull === 'keeps' && field.clearWith === '' ? null : actual;
}

function holdsReference(text: unknown): boolean {
  if (typeof text !== 'string' || !mayHoldReference(text)) return false;
  const parts = parseTemplate(text);
  return isMalformed(parts) || parts.some((part) => typeof part === 'object');
}
