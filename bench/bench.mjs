// `npm run bench [-- PART… --json FILE --markdown FILE]`: one table of all that is measured here, of what is built. Ends with 2 if
// something is beyond its limit, with 1 if something cannot be measured. --markdown adds the table to a file, as a job's summary is.
import { appendFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { tableOf } from './table.mjs';

const USUAL = ['start', 'planning', 'fleet', 'origins'];
/** Those that take minutes run if they are named. */
const PARTS = [...USUAL, 'collections', 'latency', 'watch', 'page', 'cluster'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    markdown: { type: 'string' },
    minutes: { type: 'string' },
    rounds: { type: 'string' },
    environments: { type: 'string' },
  },
});
const numbers = Object.fromEntries(
  ['minutes', 'rounds', 'environments']
    .filter((name) => values[name] !== undefined)
    .map((name) => [name, Number(values[name])]),
);
const unknown = positionals.find((part) => !PARTS.includes(part));
if (unknown !== undefined)
  throw new Error(`There is no part ${unknown}. The parts are ${PARTS.join(', ')}.`);
const wanted =
  positionals.length === 0 ? USUAL : PARTS.filter((part) => positionals.includes(part));

const machine = {
  node: process.version,
  processor: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  loadBefore: loadavg()[0],
};
const rows = [];
for (const part of wanted) {
  console.error(`Measuring: ${part}`);
  const { measure } = await import(`./${part}.mjs`);
  rows.push(...(await measure(numbers)).map((row) => Object.assign({ part }, row)));
}
const load = [machine.loadBefore, loadavg()[0]].map((value) => value.toFixed(2)).join(' to ');
const table = `${tableOf(rows)}
Node ${machine.node}, ${machine.cores} × ${machine.processor}, load ${load}. Ratios are medians of pairs that ran in turn.
`;
console.log(table);
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
if (values.markdown !== undefined) appendFileSync(values.markdown, table);
if (rows.some(({ ok }) => !ok)) process.exitCode = 2;
