import type { ObjectDeclaration } from './declared.ts';
import { PLAN_LIMITS } from './limits.ts';

/** What the namespaces of a cluster may use, by the objects that were declared as of the last load. */
export class NamespaceShares {
  #counts: ReadonlyMap<string, number> = new Map();
  #mostReads: ReadonlyMap<string, number> = new Map();
  #all = 0;

  take(declared: ReadonlyMap<string, ObjectDeclaration>): void {
    const counts = new Map<string, number>();
    const most = new Map<string, number>();
    for (const [key, { allowance }] of declared) {
      const namespace = readKeyNamespace(key);
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
      const maxReads = allowance?.maxReads ?? null;
      if (maxReads !== null) most.set(namespace, maxReads);
    }
    [this.#counts, this.#mostReads, this.#all] = [counts, most, declared.size];
  }

  /** Characters that the values of the stored plan of an object may have. */
  planRoom(key: string): number {
    const { cluster, namespace, object } = PLAN_LIMITS;
    const ofNamespace = this.#counts.get(readKeyNamespace(key)) ?? 1;
    const share = Math.min(namespace / ofNamespace, cluster / Math.max(1, this.#all));
    return Math.min(object, Math.floor(share));
  }

  /** Reads of servers of a namespace at a time, if a policy limits them. */
  mostReads(namespace: string): number | null {
    return this.#mostReads.get(namespace) ?? null;
  }
}

/** The namespace of the key of an object. */
export function readKeyNamespace(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}

/** The first of each namespace, the second of each, and so on. */
export function* inTurn<T extends { readonly key: string }>(all: readonly T[]): Generator<T> {
  const namespaces = new Map<string, T[]>();
  for (const one of all) {
    const namespace = readKeyNamespace(one.key);
    const others = namespaces.get(namespace) ?? [];
    others.push(one);
    namespaces.set(namespace, others);
  }
  for (let index = 0; namespaces.size > 0; index += 1)
    for (const [namespace, objects] of namespaces) {
      const one = objects[index];
      if (one === undefined) namespaces.delete(namespace);
      else yield one;
    }
}
