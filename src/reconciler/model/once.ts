/** A function of something that never changes, computed once for each. Nothing is kept longer than what it was made of. */
export function onceFor<K extends object, R>(make: (of: K) => R): (of: K) => R {
  const known = new WeakMap<K, { readonly made: R }>();
  return (of) => {
    const before = known.get(of);
    if (before !== undefined) return before.made;
    const made = make(of);
    known.set(of, { made });
    return made;
  };
}
