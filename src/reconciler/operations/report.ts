import { asSetpointError, SetpointError } from '../model/error.ts';
import type { EnvironmentOutcome, OutcomeDocument } from '../model/outcome.ts';
import {
  FORMAT_VERSION,
  type EnvironmentPlan,
  type Merged,
  type PlanDocument,
  type Run,
} from '../model/plan.ts';
import { outcomeSummary, planSummary } from '../model/summary.ts';
import { TOOL } from '../model/version.ts';
import { namesListed } from '../model/wording.ts';
import { readSaved } from './saved-document.ts';

export type MergeableDocument = PlanDocument | OutcomeDocument;

/**
 * Saved plans, or saved outcomes, as one document: the output of the shards of a run. The environments are in the order of their names, and
 * the summary is computed again. `merged.problems` has the reasons why it is incomplete: missing shards, files that cannot be read or are
 * of another kind, environments that are in two. Throws file-unreadable if no file can be read.
 */
export async function report(files: readonly string[]): Promise<MergeableDocument> {
  const merging = new Merging();
  let failure: SetpointError | null = null;
  for (const file of files) {
    try {
      const document = await readSaved(file, ['plan', 'outcome']);
      const { kind } = merging;
      if (kind === null || document.kind === kind) merging.add(file, document);
      else
        merging.reject(
          `${file} is ${NOUNS[document.kind]}, and the first document is ${NOUNS[kind]}.`,
        );
    } catch (thrown) {
      const error = asSetpointError(thrown);
      if (error.code !== 'file-unreadable') throw error;
      failure ??= error;
      merging.reject(error.message);
    }
  }
  const merged = merging.buildDocument();
  if (merged !== null) return merged;
  throw failure ?? new SetpointError('usage', 'No document to report.');
}

const NOUNS = { plan: 'a plan', outcome: 'an outcome' } as const;

/** The part of a document that is stored next to its environments. */
interface Part extends Pick<MergeableDocument, 'kind' | 'run' | 'tool' | 'shard'> {
  readonly file: string;
  readonly strict: boolean;
}

type Environment = EnvironmentPlan | EnvironmentOutcome;

/**
 * Documents of one kind as one, their environments by name. It takes one at a time and stores its visible part: a merged plan has no
 * digests, because each document has a salt of its own, and approves nothing.
 */
class Merging {
  readonly #parts: Part[] = [];
  readonly #environments = new Map<string, { readonly from: Source; readonly one: Environment }>();
  readonly #twice = new Map<string, Set<string>>();
  readonly #problems: string[] = [];
  readonly #earlier = new Set<string>();
  #first: Source | null = null;
  #last = '';

  /** A file that could not be read, or is of another kind. */
  reject(problem: string): void {
    this.#problems.push(problem);
  }

  get kind(): MergeableDocument['kind'] | null {
    return this.#parts[0]?.kind ?? null;
  }

  add(file: string, document: MergeableDocument): void {
    const { kind, run, tool, shard } = document;
    const strict = document.kind === 'plan' && document.strict === true;
    this.#parts.push({ file, kind, run, tool, shard, strict });
    // A report of a report is as incomplete as that one.
    this.#problems.push(...(document.merged?.problems ?? []));
    for (const note of document.merged?.notes ?? []) this.#earlier.add(note);
    const from = { file, at: kind === 'plan' ? document.created_at : document.started_at };
    if (this.#first === null || from.at < this.#first.at) this.#first = from;
    const until = kind === 'plan' ? document.created_at : document.finished_at;
    if (until > this.#last) this.#last = until;
    for (const environment of document.environments) this.#take(environment, from);
  }

  /** Takes an environment. If two documents have it, the later one counts. */
  #take(environment: Environment, from: Source): void {
    const { name } = environment;
    const known = this.#environments.get(name);
    if (known !== undefined) {
      const files = this.#twice.get(name) ?? new Set([known.from.file]);
      this.#twice.set(name, files.add(from.file));
      if (known.from.at > from.at) return;
    }
    const one = 'digests' in environment ? { ...environment, digests: null } : environment;
    this.#environments.set(name, { from, one });
  }

  /** Null if there was no document. */
  buildDocument(): MergeableDocument | null {
    const [part] = this.#parts;
    if (part === undefined) return null;
    const shards = this.#shards();
    const problems = [...this.#problems, ...shards.problems, ...this.#doubles()];
    const merged = {
      files: this.#parts.length,
      missing: shards.missing,
      problems,
      notes: [...new Set([...this.#earlier, ...shards.notes, ...this.#notes()])],
    };
    const environments = [...this.#environments.values()]
      .map(({ one }) => one)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const first = this.#first?.at ?? '';
    const strict = this.#parts.some((one) => one.strict);
    if (part.kind === 'outcome') {
      const outcomes = environments as EnvironmentOutcome[];
      return {
        format_version: FORMAT_VERSION,
        kind: 'outcome',
        tool: TOOL,
        started_at: first,
        shard: null,
        merged,
        environments: outcomes,
        finished_at: this.#last,
        run: this.#run(),
        summary: outcomeSummary(outcomes),
      };
    }
    const plans = environments as EnvironmentPlan[];
    return {
      format_version: FORMAT_VERSION,
      kind: 'plan',
      tool: TOOL,
      created_at: first,
      salt: null,
      shard: null,
      ...(strict ? { strict } : {}),
      merged,
      environments: plans,
      run: this.#run(),
      summary: planSummary(plans, strict),
    };
  }

  /** Returns the run that all documents agree on. */
  #run(): Run {
    const agreed = (member: keyof Run): string | null => {
      const values = new Set(this.#parts.map(({ run }) => run[member]));
      const [value = null] = values;
      return values.size === 1 ? value : null;
    };
    return { actor: agreed('actor'), commit: agreed('commit'), url: agreed('url') };
  }

  /** Lists notes that do not make the report less reliable. */
  #notes(): string[] {
    const versions = [...new Set(this.#parts.map(({ tool }) => tool.version))];
    const commits = new Set(this.#parts.map(({ run }) => run.commit));
    return [
      ...(versions.length > 1 ? [`The documents are of setpoint ${namesListed(versions)}.`] : []),
      ...(commits.size > 1 ? [`The documents are of ${commits.size} commits.`] : []),
    ];
  }

  #shards(): Pick<Merged, 'missing' | 'problems' | 'notes'> {
    const problems: string[] = [];
    const sharded = this.#parts.flatMap(({ file, shard }) =>
      shard === null ? [] : [{ file, ...shard }],
    );
    const counts = [...new Set(sharded.map(({ count }) => count))];
    const [count] = counts;
    if (count === undefined) return { missing: [], problems, notes: [] };
    if (counts.length > 1) {
      const files = counts.map(
        (one) => `${one} (${sharded.find((part) => part.count === one)?.file})`,
      );
      problems.push(`The documents are of different numbers of shards: ${namesListed(files)}.`);
      return { missing: [], problems, notes: [] };
    }
    for (const { file } of this.#parts.filter(({ shard }) => shard === null))
      problems.push(`${file} is not of a shard, and the others are.`);
    const files = new Map<number, string[]>();
    for (const { index, file } of sharded) files.set(index, [...(files.get(index) ?? []), file]);
    for (const [index, names] of files) {
      if (names.length > 1) problems.push(`Shard ${index} is in ${names.join(' and in ')}.`);
    }
    const missing = Array.from({ length: count }, (_, index) => index).filter(
      (one) => !files.has(one),
    );
    if (missing.length > 0) {
      const words = missing.length === 1 ? 'is missing' : 'are missing';
      problems.push(
        `${missing.length === 1 ? 'Shard' : 'Shards'} ${namesListed(missing.map(String))} of ${count} ${words}.`,
      );
    }
    const isWhole = count > 1 && problems.length === 0;
    return { missing, problems, notes: isWhole ? [`All ${count} shards are in it.`] : [] };
  }

  #doubles(): string[] {
    const [[name, files] = ['', new Set<string>()]] = this.#twice;
    if (this.#twice.size === 0) return [];
    const others = this.#twice.size === 1 ? '' : `, as for ${this.#twice.size - 1} more`;
    const twice = files.size === 1 ? ' twice' : '';
    return [`${name} is in ${[...files].join(' and in ')}${twice}; the later one counts${others}.`];
  }
}

interface Source {
  readonly file: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}
