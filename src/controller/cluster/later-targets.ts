import { plainValue, sourceFile, type Node } from '../../reconciler/desired/node.ts';
import { parseWhole } from '../../reconciler/desired/parse.ts';
import { laterTarget, type Target } from '../../reconciler/desired/target.ts';

/**
 * The number of targets that are stored in parsed form, those in use now, again and again; and bytes of the texts that they were parsed
 * from.
 */
const MOST_PARSED = 64;
const MOST_TEXT = 512 * 1024;
/** The number of parsed targets for the reads under way, whatever their size: each read looks at its target many times. */
const FEWEST_PARSED = 10;
/** The number of different blocks that are stored for all targets that have them. */
const MOST_BLOCKS = 1_000;

/**
 * Targets of thousands of objects, which take no memory while they are not in use: each is parsed again from the spec that is stored
 * anyway. That takes less time than a request does.
 */
export class LaterTargets {
  readonly #parsed = new Map<() => Target, Target>();
  #text = 0;
  readonly #watchBlocks = new Map<string, Node>();

  /** A target that `read` parses again. How it is watched is known without: all of them are asked for that at once. */
  of(target: Target, read: () => Target): Target {
    const { name, file, mayReadSecrets, labels, limits } = target;
    const watch = this.#shareWatchBlock(target.watch);
    const known = { name, file, mayReadSecrets };
    return laterTarget(known, () => this.#read(read), { labels, limits, watch });
  }

  #read(read: () => Target): Target {
    const target = this.#parsed.get(read) ?? read();
    this.#drop(read);
    this.#parsed.set(read, target);
    this.#text += computeTargetSize(target);
    for (const oldest of this.#parsed.keys()) {
      const isFull = this.#parsed.size > MOST_PARSED || this.#text > MOST_TEXT;
      if (this.#parsed.size <= FEWEST_PARSED || !isFull) break;
      this.#drop(oldest);
    }
    return target;
  }

  #drop(read: () => Target): void {
    const target = this.#parsed.get(read);
    if (target !== undefined && this.#parsed.delete(read)) this.#text -= computeTargetSize(target);
  }

  /** Returns one shared block for all objects that declare the same. */
  #shareWatchBlock(block: Node | undefined): Node | undefined {
    if (block === undefined) return undefined;
    const text = JSON.stringify(plainValue(block));
    // The block of the target would keep all of its text.
    const { path } = block.file;
    const known = this.#watchBlocks.get(text) ?? parseWhole(sourceFile(path, text)).root ?? block;
    if (this.#watchBlocks.size < MOST_BLOCKS) this.#watchBlocks.set(text, known);
    return known;
  }
}

function computeTargetSize({ root }: Target): number {
  return root.file.text.length;
}
