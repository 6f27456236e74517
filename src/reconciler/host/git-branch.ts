import { rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { asSetpointError, SetpointError } from '../model/error.ts';
import type { Variables } from '../model/ports.ts';
import type { CommitInfo } from '../model/watch.ts';
import { parseCommit } from './git-commit.ts';
import { GitFiles, type CommitFiles } from './git-files.ts';
import {
  runGit,
  type GitAnswer,
  DAMAGED,
  ENDINGS,
  findGitFailure,
  gitSource,
  createGitFolderVariables,
  type GitSource,
} from './git-source.ts';
import { makeFolder } from './write-aside.ts';

export interface BranchOptions {
  /** A folder with a repository, or an address: https, ssh, file, or http on loopback. */
  readonly source: string;
  /** The name of the branch. */
  readonly ref: string;
  /** A folder for what is fetched and for the files of commits. It belongs to one process at a time. */
  readonly into: string;
  readonly env: Variables;
  /** Milliseconds for one call of git. Default: 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The newest commit of a branch. */
interface Tip extends CommitInfo {
  readonly commit: string;
}

/** A branch that is followed. Every failure is a SetpointError; none quotes git, and none shows a password of the address. */
export interface GitBranch {
  /** Without refs/heads. */
  readonly name: string;
  /** The address without its name and password, or the folder. */
  readonly shown: string;
  /** The address at which a browser shows a commit, if its id is appended; null if unknown. */
  readonly commits: string | null;
  /** Asks for the newest commit, and fetches what is new. */
  tip(): Promise<Tip>;
  /** Returns the author and the message of a fetched commit. */
  describe(commit: string): Promise<CommitInfo>;
  /** Throws branch-rewritten unless `to` is `from` or continues it. */
  forward(from: string, to: string): Promise<void>;
  /**
   * A folder with the files of a commit that are needed, each complete when it is returned; a second call adds to them. The folders of the two
   * commits that were requested last stay. Links are the files that they lead to within the commit; other links, and submodules, are left out.
   */
  files(commit: string, which?: CommitFiles): Promise<string>;
}

const DEFAULT_TIMEOUT = 60_000;
const LARGEST_ANSWER = 64 * 1024 * 1024;
const TIP = 'refs/setpoint/tip';
/** Variables that git may need to reach a repository: an agent's keys, proxies, certificates, and the program for passwords. */
const REACHING = [
  'SSH_AUTH_SOCK',
  'GIT_SSH_COMMAND',
  'GIT_ASKPASS',
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
  'HTTPS_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'all_proxy',
  'NO_PROXY',
  'no_proxy',
  'XDG_CONFIG_HOME',
  'SYSTEMROOT',
];

/** Opens a branch. Nothing is fetched yet; a repository of this machine is only ever read. */
export async function openBranch(options: BranchOptions): Promise<GitBranch> {
  const source = gitSource(options.source);
  const into = resolve(options.into);
  await makeFolder(into);
  const branch = options.ref.replace(/^refs\/heads\//, '');
  const repository = new Repository(source, join(into, 'repository.git'), options);
  await repository.open(branch);
  const files = new GitFiles((args, input) => repository.read(args, input), into);
  return {
    name: branch,
    shown: source.shown,
    commits: source.commits,
    tip: () =>
      repository.renewing(branch, async () => {
        const commit = await repository.tip(branch);
        return { commit, ...(await repository.describe(commit)) };
      }),
    forward: async (from, to) => {
      const ids = [requireFullCommit(from), requireFullCommit(to)] as const;
      await repository.renewing(branch, () => repository.forward(branch, ...ids));
    },
    files: async (commit, which) => {
      const id = requireFullCommit(commit);
      return repository.renewing(branch, () => files.of(id, which), id);
    },
    describe: async (commit) => repository.describe(requireFullCommit(commit)),
  };
}

/** A full id: it cannot be taken for a flag or for the name of something else. */
function requireFullCommit(commit: string): string {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return commit;
  throw new SetpointError('usage', 'Use the full id of the commit.');
}

class Repository {
  readonly #source: GitSource;
  readonly #folder: string;
  readonly #options: BranchOptions;

  constructor(source: GitSource, bare: string, options: BranchOptions) {
    this.#source = source;
    this.#folder = source.kind === 'folder' ? source.folder : bare;
    this.#options = options;
  }

  async open(branch: string): Promise<void> {
    if (branch.startsWith('-')) throw this.#createRefError();
    const { kind } = this.#source;
    if (kind === 'address') {
      // Left by a run that was killed: no other process works here.
      for (const lock of ['shallow', 'packed-refs', 'config', 'HEAD', TIP])
        rmSync(join(this.#folder, `${lock}.lock`), { force: true });
      await this.#makeCopy();
    }
    const named = await this.#git(['check-ref-format', `refs/heads/${branch}`]);
    if (named.kind === 'failed') throw this.#createRefError();
    this.#done(named);
    if (kind === 'folder') this.#done(await this.#git(['rev-parse', '--git-dir']));
  }

  /** Creates the copy of an address, unless it is there. A folder that git does not accept as a repository is created again. */
  async #makeCopy(): Promise<void> {
    const make = async (): Promise<GitAnswer> => {
      await makeFolder(this.#folder);
      return this.#git(['init', '--quiet', '--bare', '--template=', this.#folder]);
    };
    const made = await make();
    const isUsable = made.kind !== 'failed' && (await this.#git(['rev-parse', '--git-dir'])).kind;
    if (isUsable === 'done') return;
    if (made.kind !== 'failed' && isUsable !== 'failed') {
      this.#done(made);
      return;
    }
    rmSync(this.#folder, { recursive: true, force: true });
    this.#done(await make());
  }

  /**
   * Does work that reads the copy of an address. If the copy is damaged, it is fetched again, and the work is done once more; `commit` is
   * what the work needs of it next to the tip. A folder belongs to another user: it is only read.
   */
  async renewing<T>(branch: string, work: () => Promise<T>, commit?: string): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (this.#source.kind !== 'address' || asSetpointError(thrown).code !== DAMAGED.code)
        throw thrown;
      const damaged = `${this.#folder}.damaged`;
      rmSync(damaged, { recursive: true, force: true });
      await rename(this.#folder, damaged);
      try {
        await this.#makeCopy();
        await this.#fetch(branch);
        if (commit !== undefined && !(await this.#has(commit))) {
          await this.#fetch(branch, '--unshallow');
          await this.read(['cat-file', '-e', `${commit}^{commit}`]);
        }
      } catch {
        // The remote has no better copy now: what can be read of this one counts.
        rmSync(this.#folder, { recursive: true, force: true });
        await rename(damaged, this.#folder);
        throw thrown;
      }
      rmSync(damaged, { recursive: true, force: true });
      return work();
    }
  }

  async #has(commit: string): Promise<boolean> {
    const found = await this.#git(['cat-file', '-e', `${commit}^{commit}`]);
    if (found.kind === 'failed') return false;
    this.#done(found);
    return true;
  }

  /** The output of a command that only reads. */
  async read(args: readonly string[], input = ''): Promise<Buffer> {
    return this.#done(await this.#git(args, { input }));
  }

  async tip(branch: string): Promise<string> {
    const ref = this.#source.kind === 'folder' ? `refs/heads/${branch}` : TIP;
    if (this.#source.kind === 'address') await this.#fetch(branch);
    const found = await this.#git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
    if (found.kind === 'failed') throw this.#noBranch(branch, await this.#branches());
    return requireFullCommit(this.#done(found).toString().trim());
  }

  async describe(commit: string): Promise<CommitInfo> {
    return parseCommit((await this.read(['cat-file', 'commit', commit])).toString());
  }

  async forward(branch: string, from: string, to: string): Promise<void> {
    if (await this.#descends(from, to)) return;
    if (await this.#isShallow()) {
      if (this.#source.kind === 'folder') {
        throw new SetpointError(
          'branch-rewritten',
          `Cannot check whether ${to} continues ${from}: ${this.#source.shown} is a shallow clone.`,
          {
            hint: 'Fetch all of its history there: git fetch --unshallow.',
          },
        );
      }
      await this.#fetch(branch, '--unshallow');
      if (await this.#descends(from, to)) return;
    }
    throw new SetpointError(
      'branch-rewritten',
      `The branch ${branch} was rewritten: ${from} is not an ancestor of ${to}.`,
    );
  }

  async #descends(from: string, to: string): Promise<boolean> {
    if (!(await this.#has(from))) return false;
    const found = await this.#git(['merge-base', '--is-ancestor', from, to]);
    if (found.kind === 'failed' && found.words.trim() === '') return false;
    this.#done(found);
    return true;
  }

  async #isShallow(): Promise<boolean> {
    return (await this.read(['rev-parse', '--is-shallow-repository'])).toString().trim() === 'true';
  }

  /**
   * The first fetch requests one commit; later ones request those since, so that it is known whether the branch moved forward. The address
   * is passed as a variable, because every user of the machine sees the arguments of a program.
   */
  async #fetch(branch: string, ...more: readonly string[]): Promise<void> {
    const known = await this.#git(['rev-parse', '--verify', '--quiet', TIP]);
    const depth = known.kind === 'done' || more.length > 0 ? more : ['--depth=1'];
    const fetch = (...flags: readonly string[]): Promise<GitAnswer> =>
      this.#git(
        [
          '-c',
          'gc.autoDetach=false',
          '-c',
          'gc.pruneExpire=never',
          'fetch',
          '--quiet',
          '--no-tags',
          '--no-recurse-submodules',
          '--no-write-fetch-head',
          '--force',
          ...flags,
          'setpoint',
          `refs/heads/${branch}:${TIP}`,
        ],
        { own: this.#reaching() },
      );
    const fetched = await fetch(...depth);
    // A plain web server hands out files, and cannot cut the history off.
    const whole = fetched.kind === 'failed' && /does not support shallow/.test(fetched.words);
    const answer = whole ? await fetch() : fetched;
    if (answer.kind === 'failed' && /couldn't find remote ref/i.test(answer.words))
      throw this.#noBranch(branch);
    this.#done(answer);
  }

  #reaching(): Record<string, string> {
    if (this.#source.kind === 'folder') return {};
    const config = [
      ['remote.setpoint.url', this.#source.address],
      ['http.followRedirects', 'false'],
      ['protocol.ext.allow', 'never'],
      ['submodule.recurse', 'false'],
    ];
    const entries = config.flatMap(([key = '', value = ''], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]);
    return {
      ...(Object.fromEntries(entries) as Record<string, string>),
      GIT_CONFIG_COUNT: String(config.length),
      GIT_ALLOW_PROTOCOL: this.#source.protocol,
    };
  }

  #git(
    args: readonly string[],
    { own = {}, input = '' }: { own?: Readonly<Record<string, string>>; input?: string } = {},
  ): Promise<GitAnswer> {
    const { env, timeout = DEFAULT_TIMEOUT, signal } = this.#options;
    const folder = this.#folder;
    const variables = { ...createGitFolderVariables(folder), ...own };
    const passed = 'GIT_CONFIG_COUNT' in own ? REACHING : [];
    return runGit(args, {
      folder,
      env,
      own: variables,
      passed,
      input,
      timeout,
      limit: LARGEST_ANSWER,
      signal,
    });
  }

  #done(answer: GitAnswer): Buffer {
    if (answer.kind === 'done') return answer.output;
    const { shown } = this.#source;
    const failure = answer.kind === 'failed' ? findGitFailure(answer.words) : ENDINGS[answer.kind];
    throw new SetpointError(failure.code, `${shown} ${failure.what}`, { hint: failure.hint });
  }

  /** The branches of a folder; of an address only the one that is followed is known. */
  async #branches(): Promise<readonly string[]> {
    if (this.#source.kind !== 'folder') return [];
    const found = await this.#git([
      'for-each-ref',
      '--count=5',
      '--format=%(refname:short)',
      'refs/heads',
    ]);
    return found.kind === 'done' ? found.output.toString().split('\n').filter(Boolean) : [];
  }

  #noBranch(branch: string, others: readonly string[] = []): SetpointError {
    const [only] = others;
    return new SetpointError(
      'file-unreadable',
      `The repository ${this.#source.shown} has no branch ${branch}.`,
      {
        hint:
          only === undefined
            ? 'Check the name. If the branch was deleted, push it again.'
            : `It has ${others.join(', ')}: --ref ${only}. If ${branch} was deleted, push it again.`,
      },
    );
  }

  #createRefError(): SetpointError {
    return new SetpointError('usage', 'The ref to follow is not the name of a branch.', {
      hint: 'Name a branch as git does, such as main.',
    });
  }
}
