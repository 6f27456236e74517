import { formatPath } from '../model/path.ts';
import type { InitDocument } from '../model/pulled.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';

/** What an init wrote, what it left out, and what is to be done next. */
export function initialText(document: InitDocument, style: Style): string {
  const { environment, origin, status, files, variables, left } = document;
  const where = origin === null ? '' : paint(style, 'dim', `  ${visible(origin)}`);
  const names = variables.map(({ name }) => name).join(', ');
  const lines = [
    paint(style, 'bold', visible(environment)) + where,
    '',
    ...(status === 'empty' ? ['  Nothing is stored there yet.'] : []),
    ...left.map(
      ({ path, reason }) =>
        `  ${paint(style, 'yellow', '!')} ${visible(formatPath(path))}: left out: ${visible(reason)}`,
    ),
    ...files
      .filter((file) => file.status !== 'unchanged')
      .map((one) => `  ${paint(style, 'green', '+')} ${visible(one.file)}: ${one.status}`),
    ...(names === '' ? [] : [`  ${paint(style, 'cyan', '$')} to be set: ${names}`]),
    '',
    'Next: setpoint plan.',
  ];
  return `${lines.join('\n')}\n`;
}
