/** Lines that take turns: first their groups do, then the lines of each group. */
export class RoundRobin<G, L extends { readonly group: G }> {
  readonly #groups = new Map<G, Set<L>>();

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  get groups(): Iterable<G> {
    return this.#groups.keys();
  }

  listLines(group: G): Iterable<L> {
    return this.#groups.get(group) ?? [];
  }

  /** Puts a line behind the others of its group. */
  add(line: L): void {
    const lines = this.#groups.get(line.group);
    if (lines === undefined) this.#groups.set(line.group, new Set([line]));
    else lines.add(line);
  }

  remove(line: L): void {
    const lines = this.#groups.get(line.group);
    lines?.delete(line);
    if (lines?.size === 0) this.#groups.delete(line.group);
  }

  /** The line whose turn it is, of those that may have one. */
  first(mayGroup: (group: G) => boolean, mayLine: (line: L) => boolean): L | undefined {
    for (const [group, lines] of this.#groups) {
      if (!mayGroup(group)) continue;
      for (const line of lines) if (mayLine(line)) return line;
    }
    return undefined;
  }

  /** Takes a line away that had its turn; its group comes after the others. */
  takeTurn(line: L): void {
    this.remove(line);
    const lines = this.#groups.get(line.group);
    if (lines === undefined) return;
    this.#groups.delete(line.group);
    this.#groups.set(line.group, lines);
  }
}
