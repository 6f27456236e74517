import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { startGitHub, type FakeGitHub } from '../fixture/fake-github.ts';
import { startStore, type JsonRecord, type StoreServer } from '../fixture/store-server.ts';
import { run, type Finished, type Job } from './runner.ts';

/** A repository, GitHub, and services to keep, new for each test. */
export interface Bench {
  readonly github: FakeGitHub;
  /** The service of the first environment. */
  readonly store: StoreServer;
  readonly path: string;
  /** Another service. */
  another(stored: JsonRecord): Promise<StoreServer>;
  /** Writes files of the repository. */
  commit(files: Readonly<Record<string, string>>): void;
  step(job: Omit<Job, 'workspace' | 'github'>): Promise<Finished>;
}

/** Call at the top of a test file; what it returns is filled before each test. */
export function bench(stored: JsonRecord): Bench {
  const current = {} as { -readonly [name in keyof Bench]: Bench[name] };
  let stores: StoreServer[] = [];
  let folder: ReturnType<typeof folderWith>;
  beforeEach(async () => {
    folder = folderWith({});
    current.github = await startGitHub();
    current.path = folder.path;
    current.another = async (other) => {
      const store = await startStore({}, other);
      stores.push(store);
      return store;
    };
    current.store = await current.another(stored);
    current.commit = (files) => {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder.path, name)), { recursive: true });
        writeFileSync(join(folder.path, name), text);
      }
    };
    current.step = ({ env, ...job }) =>
      run({
        workspace: folder.path,
        github: current.github,
        env: { KEY: 'a-session-key', ...env },
        ...job,
      });
  });
  afterEach(async () => {
    await Promise.all([current.github.close(), ...stores.map((store) => store.close())]);
    stores = [];
    folder.remove();
  });
  return current;
}

/** A settings file of one environment. */
export function settingsFor(url: string, settings: string): string {
  return `version: 1\nserver: { url: "${url}", api_key: "\${env:KEY}" }\nsettings:\n${settings}\n`;
}
