/** Places that several owners share. When there are no more, the owner that has most of them gives up its oldest one. */
export class Shares<Item> {
  readonly #most: number;
  readonly #owned = new Map<string, Set<Item>>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Gives an item a place. Returns the item that loses its place for it, null if there is room; it may be the new one. Items that `mayGo`
   * go first; the others go only for an owner that has fewer.
   */
  add(owner: string, item: Item, mayGo: (item: Item) => boolean = () => true): Item | null {
    const own = this.#owned.get(owner) ?? new Set();
    this.#owned.set(owner, own.add(item));
    this.#size += 1;
    if (this.#size <= this.#most) return null;
    const bySize = [...this.#owned].toSorted(([, one], [, other]) => other.size - one.size);
    for (const [name, items] of bySize)
      for (const one of items) if (one !== item && mayGo(one)) return this.#remove(name, one);
    const [largest] = bySize;
    const [oldest] = largest?.[1] ?? [];
    if (largest === undefined || oldest === undefined || largest[1].size <= own.size)
      return this.#remove(owner, item);
    return this.#remove(largest[0], oldest);
  }

  delete(owner: string, item: Item): void {
    if (this.#owned.get(owner)?.has(item) === true) this.#remove(owner, item);
  }

  #remove(owner: string, item: Item): Item {
    const items = this.#owned.get(owner);
    items?.delete(item);
    if (items?.size === 0) this.#owned.delete(owner);
    this.#size -= 1;
    return item;
  }
}
