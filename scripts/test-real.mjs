// Runs test/real against real servers: npm run test:real [RELEASE…]. Their packages come from PyPI, into virtual environments in a cache
// outside the tree. Prints what works on which release as Markdown and compares it with docs/service/releases.md; UPDATE_GOLDEN=1 writes
// it there, with what the last runs of other releases have shown. Without a Python that the servers run on, everything is skipped by
// name; SETPOINT_REQUIRE_PYTHON=1 makes that a failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPython } from './real/python.mjs';
import { rowOf, tableOf } from './real/table.mjs';
import { cacheFolder, provideVenv } from './real/venv.mjs';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs/service/releases.md');
const releases = JSON.parse(readFileSync(join(root, 'test/real/releases.json'), 'utf8'));

/** The server that has tests of its own, with an Agent Server next to it. */
const AUTOMATION = 'openhands-automation';

/** Runs the tests of one release; resolves to what vitest writes of them. */
async function testRelease({ release, server }, { venv, beside }, folder) {
  const output = join(folder, `${release}.json`);
  const config = join(root, 'vitest.real.config.ts');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reports = ['--reporter', 'default', '--reporter', 'json', '--outputFile.json', output];
  const only = server === AUTOMATION ? ['automations'] : ['--exclude', '**/automations.test.ts'];
  const tests = spawn(process.execPath, [vitest, 'run', '--config', config, ...only, ...reports], {
    cwd: root,
    env: {
      ...process.env,
      ...beside,
      SETPOINT_TEST_BUILT: '1',
      SETPOINT_REAL_RELEASE: release,
      SETPOINT_REAL_VENV: venv,
      SETPOINT_REAL_PIDS: folder,
    },
    stdio: 'inherit',
  });
  // Ended from outside, the tests end first, and then what they have left running.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => tests.kill(signal));
  const [code] = await once(tests, 'close');
  endLeft(folder);
  if (!existsSync(output)) throw new Error(`The tests of ${release} ended without a result.`);
  return { code: code ?? 1, results: JSON.parse(readFileSync(output, 'utf8')) };
}

/** Ends the servers whose ids are in the folder, each as the name of a file. */
function endLeft(folder) {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.pid'))) {
    try {
      process.kill(Number.parseInt(name, 10));
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
    rmSync(join(folder, name));
  }
}

/** Runs the releases one after another; resolves to whether all is well. What each has shown is kept beside its environment. */
async function testAll(chosen, python) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-real-results-'));
  let isWell = true;
  try {
    for (const release of chosen) {
      console.log(`\n${release.server} ${release.release}: its environment is in ${cacheFolder()}`);
      const provide = (one) => provideVenv(one, { python, cache: cacheFolder() });
      const venv = provide(release);
      const next = releases.find((one) => one.release === release.beside);
      const beside = next && {
        SETPOINT_REAL_RELEASE_BESIDE: next.release,
        SETPOINT_REAL_VENV_BESIDE: provide(next),
      };
      const { code, results } = await testRelease(release, { venv, beside }, folder);
      isWell &&= code === 0;
      writeFileSync(`${venv}.row.json`, JSON.stringify(rowOf(release, results)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return isWell;
}

/** What the last run of each of these releases has shown, as far as there was one. */
function lastRows(some) {
  return some
    .map(({ server, release }) => join(cacheFolder(), `${server}-${release}.row.json`))
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, 'utf8')));
}

/** Writes the table of all releases into the page. */
function writePage() {
  const rows = lastRows(releases);
  if (rows.length < releases.length) {
    console.log('The page needs a run of every release: docs/service/releases.md stays.');
    return;
  }
  const text = readFileSync(page, 'utf8');
  const [before, after] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
  writeFileSync(page, `${text.slice(0, before)}\n\n${tableOf(rows)}\n${text.slice(after)}`);
}

function isOnPage(table) {
  const text = readFileSync(page, 'utf8');
  const shown = text.slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END));
  return unpadded(shown) === unpadded(table);
}

/** Returns a table without what only lines up its columns and wraps its notes. */
function unpadded(text) {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/-{3,}/g, '---').trim();
}

const BEGIN = '<!-- npm run test:real writes the table. -->';
const END = '<!-- The end of the table. -->';

async function main() {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !releases.some(({ release }) => release === name));
  if (unknown.length > 0) {
    const known = releases.map(({ release }) => release).join(', ');
    console.error(`Unknown release: ${unknown.join(', ')}. Available: ${known}.`);
    return 2;
  }
  const chosen = releases.filter(({ release }) => names.length === 0 || names.includes(release));
  const python = process.platform === 'win32' ? null : findPython();
  if (python === null) {
    console.log('SKIPPED: no Python 3.12 or 3.13. Set PYTHON to one, or install one on PATH.');
    for (const { server, release } of chosen) console.log(`skipped: ${server} ${release}`);
    return process.env.SETPOINT_REQUIRE_PYTHON === '1' ? 1 : 0;
  }
  const isWell = await testAll(chosen, python);
  const table = tableOf(lastRows(chosen));
  console.log(`\n${table}`);
  if (process.env.UPDATE_GOLDEN === '1') writePage();
  else if (chosen.length === releases.length && !isOnPage(table)) {
    console.log('docs/service/releases.md shows something else: UPDATE_GOLDEN=1 npm run test:real');
    return 1;
  }
  return isWell ? 0 : 1;
}

process.exitCode = await main();
