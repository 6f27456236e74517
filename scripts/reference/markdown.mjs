// What every generated page uses.

/** First line of every page. */
export function banner(source) {
  return `<!-- Generated from ${source} by \`npm run generate\`. Do not edit. -->\n`;
}

/** A table; empty cells are dashes. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const shown = rows.map((row) => line(row.map((cell) => cellText(cell) || '–')));
  return [line(head), line(head.map(() => '---')), ...shown].join('\n');
}

function cellText(text) {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .trim();
}

/** Text as code, in a table too. */
export function code(text) {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Prose in which words such as enable_x, mcp_config.y, --flag and ${env:NAME} become code. `<` is kept as text. */
export function prose(text) {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith('`') ? part : marked(part)))
    .join('');
}

function marked(text) {
  return text
    .replaceAll('<', '&lt;')
    .replace(
      /(?<![\w`/.=-])(\$?\$\{[^}\s]*\}?|--?[a-z][a-z-]+|[A-Z][A-Z0-9]*_[A-Z0-9_]+|[a-z]+(?:_[a-z]+)+(?:\.[a-z_]+)*(?:\[[^\]\s]*\])?|[a-z]+\.(?:schema\.)?(?:json|yaml|yml))(?![\w-])/g,
      '`$1`',
    );
}

/** A sentence ends with a full stop. */
export function sentence(text) {
  const trimmed = text.replace(/\s+/g, ' ').trim();
  return trimmed === '' || /[.:!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
