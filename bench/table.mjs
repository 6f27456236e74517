// Rows as a Markdown table, which is read as well in a terminal as on a job's page.

/** One row for each thing measured: ratio, limit, both sides, verdict. */
export function tableOf(rows) {
  const cells = [
    ['measured', 'over', 'ratio: median (min … max)', 'limit', 'setpoint', 'the other', 'verdict'],
    ...rows.map((row) => [
      row.name,
      row.over ?? '',
      row.ratio === null ? '' : spread(row.ratio, times),
      limitOf(row),
      spread(row.ours, (figure) => inUnit(figure, row.unit)),
      row.baseline === null ? '' : spread(row.baseline, (figure) => inUnit(figure, row.unit)),
      row.limit === null ? '' : row.ok ? 'ok' : 'BEYOND',
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const [head, ...body] = cells.map(line);
  return [head, rule, ...body, ''].join('\n');
}

function limitOf({ limit, ratio, unit }) {
  if (limit === null) return 'none';
  return ratio === null ? inUnit(limit, unit) : `${limit}x`;
}

function spread({ median, min, max }, shown) {
  return `${shown(median)} (${shown(min)} … ${shown(max)})`;
}

function times(ratio) {
  return `${ratio.toFixed(2)}x`;
}

function inUnit(figure, unit) {
  if (unit === 'ms' && figure >= 1000) return `${(figure / 1000).toFixed(2)} s`;
  return `${figure.toFixed(figure < 100 ? 1 : 0)} ${unit}`;
}
