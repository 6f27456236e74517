// Runs test/real against real servers: npm run test:real [RELEASE…]. Their packages come from PyPI, into virtual environments in a cache
// outside the tree. Prints what works on which release as Markdown and compares it with docs/service/releases.md; UPDATE_GOLDEN=1 writes
// it there. Without a Python that the servers run on, everything is skipped by name; SETPOINT_REQUIRE_PYTHON=1 makes that a failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPython } from './real/python.mjs';
import { rowOf, tableOf } from './real/table.mjs';
import { cacheFolder, provideVenv } from './real/venv.mjs';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs/service/releases.md');
const releases = JSON.parse(readFileSync(join(root, 'test/real/releases.json'), 'utf8'));

/** Runs the tests of one release; resolves to what vitest writes of them. */
async function testRelease({ release }, venv, folder) {
  const output = join(folder, `${release}.json`);
  const config = join(root, 'vitest.real.config.ts');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reports = ['--reporter', 'default', '--reporter', 'json', '--outputFile.json', output];
  const tests = spawn(process.execPath, [vitest, 'run', '--config', config, ...reports], {
    cwd: root,
    env: {
      ...process.env,
      SETPOINT_TEST_BUILT: '1',
      SETPOINT_REAL_RELEASE: release,
      SETPOINT_REAL_VENV: venv,
    },
    stdio: 'inherit',
  });
  // Ended from outside, the tests end first, and with them the server that they have started.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => tests.kill(signal));
  const [code] = await once(tests, 'close');
  if (!existsSync(output)) throw new Error(`The tests of ${release} ended without a result.`);
  return { code: code ?? 1, results: JSON.parse(readFileSync(output, 'utf8')) };
}

async function testAll(chosen, python) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-real-results-'));
  const rows = [];
  let failed = false;
  try {
    for (const release of chosen) {
      console.log(`\n${release.server} ${release.release}: its environment is in ${cacheFolder()}`);
      const venv = provideVenv(release, { python, cache: cacheFolder() });
      const { code, results } = await testRelease(release, venv, folder);
      failed ||= code !== 0;
      rows.push(rowOf(release, results));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { rows, failed };
}

/** Whether the page shows these rows. All of them can be written into it. */
function matchesPage(table) {
  const text = readFileSync(page, 'utf8');
  const [before, after] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
  if (process.env.UPDATE_GOLDEN === '1')
    writeFileSync(page, `${text.slice(0, before)}\n\n${table}\n${text.slice(after)}`);
  else if (text.slice(before, after).trim() !== table.trim()) {
    console.log('docs/service/releases.md shows something else: UPDATE_GOLDEN=1 npm run test:real');
    return false;
  }
  return true;
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
  const { rows, failed } = await testAll(chosen, python);
  const table = tableOf(rows);
  console.log(`\n${table}`);
  const isWhole = chosen.length === releases.length;
  return failed || (isWhole && !matchesPage(table)) ? 1 : 0;
}

process.exitCode = await main();
