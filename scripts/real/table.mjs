/**
 * What a run has shown of a release: `{ release, server, dialect, contract: { passed, differs, total }, steps: [{ loop, step, end }] }`,
 * where `end` is passed, failed or the reason why the step was left out; `without` has the loops that are
 * left out whole. `results` is what vitest writes as JSON. A loop that says in one skipped test that the server has no such list has no steps.
 */
export function rowOf({ release, server, dialect, beside, differs = {}, without = {} }, results) {
  const tests = results.testResults.flatMap(({ assertionResults }) => assertionResults);
  const contract = tests.filter(({ ancestorTitles }) => ancestorTitles[0] === 'contract');
  const cases = contract.filter(({ ancestorTitles }) => ancestorTitles.length > 1);
  const steps = Object.keys(LOOPS).flatMap((loop) => {
    const those = tests.filter(({ ancestorTitles }) => ancestorTitles[0] === loop);
    return isLeftOut(those) ? [] : those.map((one) => ({ loop, ...one }));
  });
  const known = Object.keys(differs).length;
  return {
    release,
    server,
    dialect,
    ...(beside === undefined ? {} : { beside }),
    without: Object.fromEntries(Object.entries(without).filter(([name]) => name in LOOPS)),
    contract: {
      passed: cases.filter(({ status }) => status === 'passed').length - known,
      differs,
      total: cases.length,
    },
    steps: steps.map(({ loop, title, status }) => ({
      loop,
      step: title,
      end: isSkipped({ status }) ? (without[title] ?? 'not tried') : status,
    })),
  };
}

function isLeftOut(tests) {
  return tests.length === 1 && isSkipped(tests[0]);
}

function isSkipped({ status }) {
  return status === 'skipped' || status === 'pending';
}

/**
 * Returns the rows as Markdown: a table of all releases with a line for each loop, and below it every step that did not pass and
 * every known difference, with its reason.
 */
export function tableOf(rows) {
  const [beside, others] = [true, false].map((isBeside) =>
    rows.filter(({ beside: next }) => (next !== undefined) === isBeside),
  );
  return [others, beside]
    .filter((some) => some.length > 0)
    .map(tableOfKind)
    .join('\n');
}

function tableOfKind(rows) {
  const names = rows.map(({ server, release }) => `${TITLES[server]} ${release}`);
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const notes = rows.flatMap(notesOf);
  return [
    line(['', ...names]),
    line(['---', ...names.map(() => '---')]),
    ...(rows.some(({ beside }) => beside)
      ? [line(['with Agent Server', ...rows.map(({ beside }) => beside)])]
      : [
          line(['dialect', ...rows.map(({ dialect }) => dialect)]),
          line(['recorded cases', ...rows.map(({ contract }) => casesText(contract))]),
        ]),
    ...Object.entries(LOOPS)
      .filter(([loop]) => rows.some((row) => stepsOf(row, loop).length > 0))
      .map(([loop, title]) => line([title, ...rows.map((row) => loopText(row, loop))])),
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
  ].join('\n');
}

/** What takes a settings file through its life, in the order of the table, each with its name there. */
const LOOPS = {
  loop: 'settings',
  'custom secrets': 'custom secrets',
  'named settings': 'mcp servers, marketplaces and disabled skills, by name',
  'logins of mcp servers': 'logins to mcp servers',
  'git providers': 'git providers',
  'LLM profiles': 'LLM profiles',
  'profiles and connections': 'connections, agent profiles and meta profiles',
  'skills and plugins': 'skills, plugins and canvas extensions',
  workspaces: 'workspaces and their parents',
  others: 'what a server has and the file does not name',
  'automations and webhooks': 'automations and webhooks',
};

export const TITLES = {
  'openhands-ai': 'Server',
  'openhands-agent-server': 'Agent Server',
  'openhands-automation': 'Automation service',
};

/** Without a number if every case answers as it should: cases are added more often than real servers are run. */
function casesText({ passed, differs, total }) {
  const known = Object.keys(differs).length;
  if (passed + known === total) return known === 0 ? 'all' : `all except ${known} known to differ`;
  return `${passed} of ${total}${known === 0 ? '' : `, ${known} known to differ`}`;
}

function stepsOf({ steps }, loop) {
  return steps.filter((one) => one.loop === loop);
}

function loopText(row, loop) {
  const ends = stepsOf(row, loop).map(({ end }) => end);
  if (ends.length === 0) return row.without?.[loop] === undefined ? 'has none' : 'left out';
  if (ends.includes('failed')) return '**no**';
  const rest = ends.filter((end) => end !== 'passed').length;
  return rest === 0 ? 'yes' : `yes, ${rest} left out`;
}

function notesOf({ release, without = {}, contract, steps }) {
  const differs = Object.entries(contract.differs).map(
    ([name, reason]) => `- ${release}, the case "${name}": ${reason}.`,
  );
  const left = steps
    .filter(({ end }) => end !== 'passed')
    .map(({ step, end }) => `- ${release}, ${step}: ${end}.`);
  const loops = Object.entries(without).map(
    ([loop, reason]) => `- ${release}, ${LOOPS[loop]}: ${reason}.`,
  );
  return [...differs, ...left, ...loops];
}
