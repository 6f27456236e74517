/** A variable that a settings file reads, and what it is for. */
export interface ReadVariable {
  readonly name: string;
  readonly purpose: string;
}

const HEAD =
  '# Variables that settings.yaml reads. Copy this file to .env, fill it in there, and never commit that.';

/** The text of `.env.example` with a line for each variable, empty; what is there already stays as it is. */
export function envExample(text: string | null, variables: readonly ReadVariable[]): string {
  const known = new Set(
    [...(text ?? '').matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/gm)].map(
      ([, name = '']) => name,
    ),
  );
  const added = variables.filter(({ name }) => !known.has(name));
  const lines = added.flatMap(({ name, purpose }) => [`# ${oneLine(purpose)}`, `${name}=`]);
  return text === null ? withLines(`${HEAD}\n`, lines) : withLines(text, lines);
}

const IGNORED = ['.env', '.setpoint/'];

/** The text of `.gitignore` with the lines for what must not be committed, unless they are there. */
export function gitIgnore(text: string | null): string {
  const there = new Set(
    (text ?? '').split(/\r?\n/).map((line) => line.trim().replace(/^\/|\/$/g, '')),
  );
  return withLines(
    text ?? '',
    IGNORED.filter((line) => !there.has(line.replace(/\/$/, ''))),
  );
}

/** Lines put at the end of a text, with the line breaks that it has. */
function withLines(text: string, lines: readonly string[]): string {
  if (lines.length === 0) return text;
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const begun = text === '' || text.endsWith('\n') ? text : text + eol;
  return begun + lines.map((line) => line + eol).join('');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
}
