/** Whether a text starts with the first literal, ends with the last, and has the others between them in order. */
export function fitsLiterals(text: string, literals: readonly string[] | null): boolean {
  if (literals === null) return true;
  const [first = '', ...rest] = literals;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const literal of rest) {
    const at = text.indexOf(literal, from);
    if (at === -1 || at + literal.length > end) return false;
    from = at + literal.length;
  }
  return text.endsWith(last);
}
