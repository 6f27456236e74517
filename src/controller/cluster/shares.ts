import { STORE_LIMITS } from './limits.ts';

interface Entry {
  readonly size: number;
  readonly created: string;
}

interface Namespace {
  size: number;
  readonly entries: Map<string, Entry>;
}

type Limits = Pick<typeof STORE_LIMITS, 'cluster' | 'namespace'>;

/** An object that gives way: to others of its namespace, or of the cluster. */
export interface GivesWay {
  readonly key: string;
  readonly by: 'cluster' | 'namespace';
}

/** The memory that the objects of each namespace take. The newest objects of the namespace that takes the most give way. */
export class Shares {
  readonly #limits: Limits;
  readonly #namespaces = new Map<string, Namespace>();
  #size = 0;

  constructor(limits: Limits = STORE_LIMITS) {
    this.#limits = limits;
  }

  /** Counts an object, also again with another size. Returns those that give way, which are not counted any more; it may be among them. */
  add(namespace: string, key: string, entry: Entry): readonly GivesWay[] {
    this.remove(namespace, key);
    const found = this.#namespaces.get(namespace) ?? { size: 0, entries: new Map() };
    this.#namespaces.set(namespace, found);
    found.entries.set(key, entry);
    this.#count(found, entry.size);
    const gone: GivesWay[] = [];
    while (found.size > this.#limits.namespace)
      gone.push({ key: this.#dropNewest(namespace), by: 'namespace' });
    while (this.#size > this.#limits.cluster)
      gone.push({ key: this.#dropNewest(this.#largest()), by: 'cluster' });
    return gone;
  }

  remove(namespace: string, key: string): void {
    const found = this.#namespaces.get(namespace);
    const entry = found?.entries.get(key);
    if (found === undefined || entry === undefined) return;
    found.entries.delete(key);
    this.#count(found, -entry.size);
    if (found.entries.size === 0) this.#namespaces.delete(namespace);
  }

  #count(namespace: Namespace, size: number): void {
    namespace.size += size;
    this.#size += size;
  }

  #largest(): string {
    const all = [...this.#namespaces];
    const [name] = all.reduce((one, other) => (other[1].size > one[1].size ? other : one));
    return name;
  }

  #dropNewest(namespace: string): string {
    const entries = this.#namespaces.get(namespace)?.entries ?? new Map<string, Entry>();
    let newest: [string, Entry] | null = null;
    for (const one of entries) if (newest === null || isNewer(one, newest)) newest = one;
    const [key] = newest ?? [''];
    this.remove(namespace, key);
    return key;
  }
}

function isNewer([key, one]: [string, Entry], [otherKey, other]: [string, Entry]): boolean {
  if (one.created !== other.created) return one.created > other.created;
  return key > otherKey;
}
