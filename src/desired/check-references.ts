import type { Diagnostic } from '../model/diagnostic.ts';
import type { Node, ScalarNode } from './node.ts';
import { isSecretVariable, placeOf } from './reference-place.ts';
import {
  foreignReference,
  isForbiddenVariable,
  isMalformed,
  mayHoldReference,
  parseTemplate,
  wholeReference,
} from './references.ts';
import { diagnostic, type Finding } from './report.ts';

/** The pointer of a path, as the validator writes it. */
export function pointer(path: readonly string[]): string {
  return path.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * What only a walk over the values can tell: keys without a value, secrets written out, and references that are malformed,
 * misplaced or forbidden. The pointers of the values reported are added to `reported`, so that each is reported once.
 */
export function checkReferences(root: Node, reported: Set<string>): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const visit = (node: Node, path: readonly string[]): void => {
    if (node.kind === 'map') {
      for (const { key, node: value } of node.members.values()) visit(value, [...path, key]);
    } else if (node.kind === 'list') {
      for (const [index, item] of node.items.entries()) visit(item, [...path, String(index)]);
    } else {
      const finding = findingOf(node, path);
      if (finding === null) return;
      reported.add(pointer(path));
      diagnostics.push(diagnostic(node.file, node.at, { ...finding, path }));
    }
  };
  visit(root, []);
  return diagnostics;
}

function findingOf(node: ScalarNode, path: readonly string[]): Finding | null {
  if (node.bare) {
    return {
      code: 'empty-value',
      message: 'Nothing stands behind this key.',
      hint: 'Write null to clear it, "" for empty text, {} or [] for empty, or remove the key to leave it alone.',
    };
  }
  const place = placeOf(path);
  if (place === 'secret') return secretFinding(node, path);
  if (typeof node.value !== 'string') return null;
  if (place === 'pairs') return pairsFinding(node.value);
  if (!mayHoldReference(node.value)) return null;
  if (place === 'plain') return path.includes('unmanaged') ? null : misplaced();
  return textFinding(node.value);
}

function textFinding(text: string): Finding | null {
  const parsed = parseTemplate(text);
  if (isMalformed(parsed))
    return { code: 'malformed-reference', message: parsed.message, hint: parsed.hint };
  for (const part of parsed) {
    if (typeof part === 'object' && part.kind === 'env' && isForbiddenVariable(part.name)) {
      return {
        code: 'forbidden-variable',
        message: `No settings file may read ${part.name}: it belongs to the pipeline.`,
        hint: 'Hand the value over in a variable of its own.',
      };
    }
  }
  return null;
}

function secretFinding(node: ScalarNode, path: readonly string[]): Finding | null {
  if (node.value === null) return null;
  if (typeof node.value !== 'string') return literal(path);
  const reference = wholeReference(node.value);
  if (reference !== null) {
    if (reference.kind === 'env' && reference.fallback !== null) {
      return {
        code: 'malformed-reference',
        message: 'A secret takes no default: it would stand in the file.',
        hint: `Write \${env:${reference.name}}.`,
      };
    }
    return textFinding(node.value);
  }
  const foreign = foreignReference(node.value);
  if (foreign !== null) {
    return {
      code: 'malformed-reference',
      message: 'Nothing here expands this.',
      hint: `Write ${foreign}.`,
    };
  }
  const parsed = mayHoldReference(node.value) ? parseTemplate(node.value) : null;
  if (parsed !== null && isMalformed(parsed)) {
    return { code: 'malformed-reference', message: parsed.message, hint: parsed.hint };
  }
  return literal(path);
}

function literal(path: readonly string[]): Finding {
  const name = path.findLast((segment) => /^[A-Za-z_][A-Za-z0-9_-]*$/.test(segment)) ?? 'key';
  return {
    code: 'literal-secret',
    message: 'A secret does not stand in this file, as a whole or in part.',
    hint: `Put it into a variable and write \${env:${name.toUpperCase().replaceAll('-', '_')}}, the whole value one reference.`,
  };
}

/** A line A=1,B=2: a name that says it holds a secret takes a reference, like the member of a map. */
function pairsFinding(line: string): Finding | null {
  for (const pair of line.split(',')) {
    const [name = '', ...value] = pair.split('=');
    const text = value.join('=').trim();
    if (isSecretVariable(name) && text !== '' && wholeReference(text) === null)
      return literal([name.trim()]);
  }
  return textFinding(line);
}

function misplaced(): Finding {
  return {
    code: 'malformed-reference',
    message: 'A reference has no meaning here.',
    hint: 'References stand in server and in settings; write $${ for a literal ${.',
  };
}
