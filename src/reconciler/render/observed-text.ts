import type {
  EnvironmentObserved,
  ObservedDocument,
  ServerField,
  ServerReport,
} from '../model/documents.gen.ts';
import type { Resource } from '../model/observed.ts';
import { NOT_OBSERVED, type Spoken } from '../model/state.ts';
import { heading } from './section-text.ts';
import { ageText, yamlText } from './change.ts';
import { paint, type Style, visible } from './text.ts';
import { unreadSentence } from './wording.ts';

/** The observed state of services, masked: settings as YAML, lists as tables. */
export function observedText(document: ObservedDocument, style: Style): string {
  const at = Date.parse(document.observed_at);
  const blocks = document.environments.map((environment) => {
    const head = heading(
      document.resources.includes('server') ? { ...environment, ...NOT_OBSERVED } : environment,
      style,
    );
    if (environment.status === 'error')
      return `${head}\n\n${paint(style, 'red', unreadSentence(environment.error))}\n`;
    const parts = document.resources.map((resource) => partText(resource, environment, at, style));
    return `${head}\n\n${parts.join('\n\n')}\n`;
  });
  return blocks.join('\n');
}

function installedText(
  [head, noun]: readonly [string, string],
  items: EnvironmentObserved['skills'],
  style: Style,
): string {
  return textTable(
    items === null ? `This service installs no ${noun}.` : `No ${noun}.`,
    [head, 'ENABLED', 'SOURCE', 'FOLDER', 'COMMIT'],
    (items ?? []).map((one) => [
      one.name,
      one.enabled ? 'yes' : 'no',
      one.source,
      one.repo_path ?? '-',
      one.ref?.slice(0, 12) ?? '-',
    ]),
    style,
  );
}

function partText(
  resource: Resource,
  {
    status,
    server,
    settings,
    secrets,
    skills,
    plugins,
    provider_connections: connections,
    meta_profiles: metas,
    llm_profiles: llms,
    active,
    agent_profiles: agents,
    git_providers: providers,
    sandboxes,
    specs,
    conversations,
    ...spoken
  }: EnvironmentObserved,
  at: number,
  style: Style,
): string {
  const age = (created: string | null): string =>
    created === null ? '-' : ageText(at - Date.parse(created));
  switch (resource) {
    case 'server':
      return server === null ? '' : serverText(server, spoken, style);
    case 'settings': {
      if (status === 'empty') return 'Nothing is stored yet.';
      const yaml = yamlText(settings).trimEnd().split('\n');
      return yaml.map((line) => `  ${visible(line)}`).join('\n');
    }
    case 'secrets':
      return textTable(
        secrets === null ? 'This service has no list of secrets.' : 'No secrets.',
        ['SECRET', 'DESCRIPTION'],
        (secrets ?? []).map(({ name, description }) => [name, description]),
        style,
      );
    case 'git_providers':
      return textTable(
        providers === null ? 'This service shows no git providers.' : 'No git providers.',
        ['GIT PROVIDER', 'HOST'],
        (providers ?? []).map(({ name, host }) => [name, host ?? '-']),
        style,
      );
    case 'skills':
      return installedText(['SKILL', 'skills'], skills, style);
    case 'plugins':
      return installedText(['PLUGIN', 'plugins'], plugins, style);
    case 'provider_connections':
      return textTable(
        connections === null
          ? 'This service has no provider connections.'
          : 'No provider connections.',
        ['CONNECTION', 'PROVIDER', 'KEY', 'ADDRESS'],
        (connections ?? []).map((one) => [
          one.name,
          one.provider ?? '-',
          one.api_key === null ? '-' : 'set',
          one.base_url ?? '-',
        ]),
        style,
      );
    case 'meta_profiles':
      return textTable(
        metas === null ? 'This service has no meta profiles.' : 'No meta profiles.',
        ['META PROFILE', 'CLASSIFIER', 'CLASSES'],
        (metas ?? []).map(({ name, classifier = '-', classes = [] }) => [
          name,
          classifier,
          String(classes.length),
        ]),
        style,
      );
    case 'llm_profiles':
      return textTable(
        llms === null ? 'This service has no LLM profiles.' : 'No LLM profiles.',
        ['LLM PROFILE', 'MODEL', 'KEY', 'ADDRESS'],
        (llms ?? []).map(({ name, model, connection, api_key: key, base_url: url }) => [
          name,
          model ?? '-',
          key === null ? '-' : 'set',
          connection ?? url ?? '-',
        ]),
        style,
      );
    case 'active':
      return textTable(
        active === null ? 'This service has no profiles.' : 'No profile is active.',
        ['KIND', 'ACTIVE PROFILE'],
        (active ?? []).map(({ name, profile }) => [name, profile]),
        style,
      );
    case 'agent_profiles':
      return textTable(
        agents === null ? 'This service has no agent profiles.' : 'No agent profiles.',
        ['AGENT PROFILE', 'KIND', 'MODEL'],
        (agents ?? []).map((one) => [
          one.name,
          one.agent_kind ?? 'openhands',
          one.llm_profile ?? one.acp_server ?? '-',
        ]),
        style,
      );
    case 'sandboxes':
      return textTable(
        'No sandboxes.',
        ['SANDBOX', 'STATE', 'AGE', 'SPEC'],
        (sandboxes ?? []).map((one) => [one.id, one.status, age(one.created_at), one.spec ?? '-']),
        style,
      );
    case 'specs':
      return textTable(
        'No sandbox specs.',
        ['SPEC', ''],
        (specs ?? []).map((one) => [one.id, one.default ? 'default' : '']),
        style,
      );
    case 'conversations':
      return textTable(
        'No conversations.',
        ['CONVERSATION', 'STATE', 'AGE', 'SANDBOX'],
        (conversations ?? []).map((one) => [
          one.id,
          one.status ?? '-',
          age(one.created_at),
          one.sandbox ?? '-',
        ]),
        style,
      );
  }
}

const WRITES: Readonly<Record<ServerReport['writes'], string>> = {
  record: 'replaces the whole record',
  fields: 'keeps what it leaves out',
};
const READS: Readonly<Record<ServerField['reads'], string>> = {
  value: 'its value',
  presence: 'whether one is stored',
  names: 'names',
  nothing: 'nothing',
};

/** What a service speaks, and field by field what it can hold. */
function serverText(
  { writes, fields, lacks }: ServerReport,
  { dialect, release }: Spoken,
  style: Style,
): string {
  const about = [
    `  dialect   ${dialect ?? 'unknown'}`,
    `  release   ${visible(release ?? 'unknown')}`,
    `  a write   ${WRITES[writes]}`,
  ];
  const rows = fields.map(({ name, reads, on_null, loses }) => [
    name,
    READS[reads],
    on_null,
    loses === null ? '' : `lost: ${loses}`,
  ]);
  const table = textTable('No fields.', ['FIELD', 'A READ SHOWS', 'NULL', ''], rows, style);
  const missing = lacks.map(({ name, why }) => `  no ${visible(name)}: ${visible(why)}`);
  return [[...about], [table], missing]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n');
}

/** Rows below a head, every column as wide as its widest cell; `empty` if there are no rows. */
function textTable(
  empty: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string {
  if (rows.length === 0) return `  ${empty}`;
  const shown = rows.map((row) => row.map(visible));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...shown.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return [paint(style, 'dim', line(head)), ...shown.map(line)].join('\n');
}
