import { plainValue, type Node } from '../../reconciler/desired/node.ts';
import { laterTarget, type Target } from '../../reconciler/desired/target.ts';

/** Targets that are kept as they were parsed: those that are looked at now, again and again. */
const MOST_PARSED = 64;
/** Blocks that differ and are kept for all targets that have them. */
const MOST_BLOCKS = 1_000;

/**
 * Targets of thousands of objects, which take no memory while nobody looks at them: each is parsed again from the spec that is kept anyway. That takes less
 * time than a request does.
 */
export class LaterTargets {
  readonly #parsed = new Map<() => Target, Target>();
  readonly #watchBlocks = new Map<string, Node>();

  /** A target that `read` parses again. How it is watched is known without: all of them are asked for that at once. */
  of(target: Target, read: () => Target): Target {
    const { name, file, mayReadSecrets, labels, limits } = target;
    const watch = this.#watchOf(target.watch);
    const known = { name, file, mayReadSecrets };
    return laterTarget(known, () => this.#read(read), { labels, limits, watch });
  }

  #read(read: () => Target): Target {
    const target = this.#parsed.get(read) ?? read();
    this.#parsed.delete(read);
    this.#parsed.set(read, target);
    const [oldest] = this.#parsed.keys();
    if (oldest !== undefined && this.#parsed.size > MOST_PARSED) this.#parsed.delete(oldest);
    return target;
  }

  /** The same block for all that declare the same. */
  #watchOf(block: Node | undefined): Node | undefined {
    if (block === undefined) return undefined;
    const text = JSON.stringify(plainValue(block));
    const known = this.#watchBlocks.get(text) ?? block;
    if (this.#watchBlocks.size < MOST_BLOCKS) this.#watchBlocks.set(text, known);
    return known;
  }
}
