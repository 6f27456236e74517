/** Results that follow from objects that never change, made once for each. They live no longer than their objects. */
export class Cache<K extends object, R> {
  readonly #known = new WeakMap<K, { readonly result: R }>();

  get(of: K, make: (of: K) => R): R {
    const known = this.#known.get(of);
    if (known !== undefined) return known.result;
    const result = make(of);
    this.#known.set(of, { result });
    return result;
  }
}

/** A function whose result for an object is made once. */
export function onceFor<K extends object, R>(make: (of: K) => R): (of: K) => R {
  const cache = new Cache<K, R>();
  return (of) => cache.get(of, make);
}
