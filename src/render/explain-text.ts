import type {
  EnvironmentExplained,
  ExplainDocument,
  Origin,
  ReferenceReport,
} from '../model/explain.ts';
import { formatPath } from '../model/path.ts';
import type { Json } from '../model/value.ts';
import { changeText, unknownText, warningText } from './change-text.ts';
import { inlineValue, isNested } from './inline-value.ts';
import { meaningText } from './meaning-text.ts';
import { heading } from './plan-text.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';
import { groupedWarnings } from './warning-order.ts';
import { yamlText } from './yaml-text.ts';

/** What a place of the file is, then, target by target, what is declared there and what an apply would do about it. */
export function explainText(document: ExplainDocument, style: Style): string {
  const title = paint(style, 'bold', visible(formatPath(document.path)));
  const blocks = [
    [title, ...meaningText(document.meaning)],
    ...document.environments.map((environment) => [
      heading(environment, style),
      ...environmentLines(document, environment, style),
    ]),
  ];
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

function environmentLines(
  document: ExplainDocument,
  environment: EnvironmentExplained,
  style: Style,
): string[] {
  const { declared, name, references } = environment;
  return [
    ...(declared === null
      ? ['  value    not declared']
      : [...valueLines(declared.value, style), `  from     ${originText(declared, name)}`]),
    ...references.map((reference) => `  needs    ${referenceText(reference)}`),
    ...(environment.unmanaged ? ['  ignored  by unmanaged: never changed'] : []),
    ...applyLines(document, environment, style),
  ];
}

function valueLines(value: Json, style: Style): string[] {
  if (!isNested(value) || Object.keys(value).length === 0) {
    const text = typeof value === 'string' && value.startsWith('${') ? visible(value) : null;
    return [`  value    ${text ?? inlineValue(value, style)}`];
  }
  const lines = yamlText(value).trimEnd().split('\n');
  return ['  value', ...lines.map((line) => `    ${visible(line)}`)];
}

function originText({ source, block }: Origin, name: string): string {
  const place = `${visible(source.file)}:${source.line}:${source.column}`;
  switch (block) {
    case 'top':
      return `${place}, at the top of the file`;
    case 'environment':
      return `${place}, in the environment ${visible(name)}`;
    case 'base':
      return `${place}, in the base file`;
  }
}

function referenceText({ kind, name, set, problem }: ReferenceReport): string {
  if (problem !== null) return visible(problem);
  if (kind === 'file') return `the file ${visible(name)} is there`;
  return `the variable ${name} is ${set ? 'set' : 'not set; its default is used'}`;
}

function applyLines(
  { part }: ExplainDocument,
  environment: EnvironmentExplained,
  style: Style,
): string[] {
  const { status, changes, unknown, warnings, unmanaged, declared, error } = environment;
  const said = (words: string): string[] => [`  apply    ${words}`];
  if (part === 'file') return said("nothing (setpoint's own setting)");
  if (error !== null) return said(paint(style, 'red', 'not known, the service could not be read'));
  if (status === 'not-observed') return said('not known, the service was not read');
  const lines = [
    ...changes.flatMap((change) => changeText(change, style)),
    ...unknown.map((one) => unknownText(one, style)),
    ...groupedWarnings(warnings).map((warning) => warningText(warning, style)),
  ].map((line) => `  ${line}`);
  if (changes.length + unknown.length > 0) return ['  apply', ...lines];
  const why = unmanaged
    ? 'unmanaged ignores it'
    : declared === null
      ? 'the file does not declare it'
      : 'the service is as declared';
  return [...said(`nothing: ${why}`), ...lines];
}
