import { lookUp } from '../../../reconciler/desired/lookup.ts';
import { textOf, type MapNode, type Node, type Finding } from '../../../reconciler/desired/node.ts';
import { diagnostic } from '../../../reconciler/desired/report.ts';
import { milliseconds } from '../../../reconciler/desired/blocks/watch.ts';
import type { Diagnostic } from '../../../reconciler/model/diagnostic.ts';
import type { ReferenceSource } from '../../../reconciler/model/ports.ts';
import { Secret } from '../../../reconciler/model/secret.ts';
import { didYouMean } from '../../../reconciler/model/wording.ts';

/** Reads values of a file of --notify, and collects every problem. Each reader gives null for a value that is not valid. */
export class NotifyNodes {
  readonly diagnostics: Diagnostic[] = [];
  readonly #source: ReferenceSource;

  constructor(source: ReferenceSource) {
    this.#source = source;
  }

  report(node: Node, finding: Omit<Finding, 'path'>): null {
    if (!node.reported) this.diagnostics.push(diagnostic(node.file, node.at, finding));
    return null;
  }

  /** A map that has no other keys than these. */
  map(node: Node, keys: readonly string[], what: string): MapNode | null {
    if (node.kind !== 'map')
      return this.wrong(node, `${what} is a map.`, `It takes ${keys.join(', ')}.`);
    for (const { key, keyFile, keyAt } of node.members.values()) {
      if (keys.includes(key)) continue;
      const hint = `${didYouMean(key, keys)} It takes ${keys.join(', ')}.`.trim();
      const message = `${what} has no such key.`;
      this.diagnostics.push(diagnostic(keyFile, keyAt, { code: 'unknown-key', message, hint }));
    }
    return node;
  }

  required(map: MapNode, key: string): Node | null {
    const node = map.members.get(key)?.node;
    if (node !== undefined) return node;
    const message = `${key} is missing.`;
    return this.report(map, { code: 'missing-key', message, hint: `Add ${key}.` });
  }

  list(node: Node | undefined, what: string): readonly Node[] {
    if (node === undefined) return [];
    if (node.kind === 'list') return node.items;
    this.wrong(node, `${what} is a list.`, 'Write [one, another], or a line with a dash for each.');
    return [];
  }

  text(node: Node, what: string, pattern: RegExp, hint: string): string | null {
    const text = textOf(node);
    if (text === undefined) return this.wrong(node, `${what} is text.`, hint);
    if (pattern.test(text)) return text;
    return this.report(node, {
      code: 'bad-value',
      message: `This is no ${what.toLowerCase()}.`,
      hint,
    });
  }

  words<W extends string>(node: Node | undefined, what: string, words: readonly W[]): W[] | null {
    if (node === undefined) return null;
    const hint = `Allowed: ${words.join(', ')}.`;
    return this.list(node, what).flatMap((item) => {
      const word = words.find((one) => one === textOf(item));
      if (word !== undefined) return [word];
      this.report(item, { code: 'bad-value', message: `${what} has no such word.`, hint });
      return [];
    });
  }

  /** Milliseconds, from `least` to a week. */
  time(node: Node, what: string, least: number): number | null {
    const time = milliseconds(textOf(node));
    if (time !== null && time >= least && time <= LONGEST) return time;
    const message = `${what} is a time, from ${least / 1000}s to 168h.`;
    return this.report(node, { code: 'bad-value', message, hint: 'Write 30s, 5m or 24h.' });
  }

  /** A value that is a secret, or may be one: it must hold a reference unless `plain` accepts what is written. */
  secret(node: Node, what: string, plain: (text: string) => boolean = () => false): Secret | null {
    const text = textOf(node);
    if (text === undefined)
      return this.wrong(
        node,
        `${what} is text.`,
        'Write a reference: ${env:NAME} or ${file:PATH}.',
      );
    const found = lookUp(text, this.#source);
    if ('problem' in found)
      return this.report(node, {
        code: 'malformed-reference',
        message: `${what} has no value: ${found.problem.replace(/\.$/, '')}.`,
        hint: 'Set it where setpoint watch runs.',
      });
    if (found.ref === null && !plain(text))
      return this.report(node, {
        code: 'literal-secret',
        message: `${what} is a secret, and does not belong in this file.`,
        hint: 'Write a reference in its place: ${env:NAME} or ${file:PATH}.',
      });
    return new Secret(found.text, found.ref);
  }

  wrong(node: Node, message: string, hint: string): null {
    return this.report(node, { code: 'wrong-type', message, hint });
  }
}

const LONGEST = 7 * 24 * 3_600_000;
