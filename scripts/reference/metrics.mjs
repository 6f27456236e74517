import { banner, code, prose, table } from './markdown.mjs';

/** docs/reference/metrics.md, from the tables of metrics. */
export function metricsPage({ TOTAL_METRICS, TARGET_METRICS, WATCH_METRICS }) {
  const rows = (metrics) =>
    Object.entries(metrics).map(([name, { labels, help }]) => [
      code(name),
      labels.map(code).join(', '),
      prose(help),
    ]);
  const section = (title, metrics) => [
    `## ${title}\n`,
    table(['metric', 'labels', 'meaning'], rows(metrics)),
    '',
  ];
  return [
    banner('src/reconciler/model/metrics.ts'),
    '# Metrics\n',
    'What a controller serves under `/metrics`, and a run writes with `-o prometheus=FILE`. [Metrics and alerts](../guides/metrics.md)',
    'shows how to read them. No label has an address, a path or a value.\n',
    ...section('All environments', TOTAL_METRICS),
    ...section('Each environment', TARGET_METRICS),
    ...section('The controller', WATCH_METRICS),
  ].join('\n');
}
