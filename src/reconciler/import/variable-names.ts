import { findIndirection } from '../desired/indirections.ts';
import type { NewVariable } from '../model/documents.gen.ts';
import type { Path } from '../model/path.ts';
import { listTextVariables } from '../pull/placeholder.ts';

/** Whether a text is no value, but has something that another program replaces. */
export function isPlaceholder(text: string): boolean {
  const found = findIndirection(text);
  return found !== null && found.isCertain;
}

/** Whether a text is encrypted by a server, which alone can read it: Fernet, or a token of JWE. */
export function isEncrypted(text: string): boolean {
  return /^gAAAAA[\w-]{60,}=*$/.test(text) || /^eyJ[\w-]+(?:\.[\w-]*){4}$/.test(text);
}

/** The variables of a file that is being written: one for each text that it must not hold, and no name twice. */
export class Names {
  readonly #byText = new Map<string, string>();
  /** The texts of names that share theirs with another one. */
  readonly #others = new Map<string, string>();
  readonly #used = new Set<string>();

  /** Keeps the name of a variable that has a text already. */
  keep(name: string, text: string): void {
    if (this.#used.has(name)) return;
    this.#used.add(name);
    if (text !== '' && !this.#byText.has(text)) this.#byText.set(text, name);
    else this.#others.set(name, text);
  }

  /** The text that a variable has; undefined if it has none of a file. */
  textFor(name: string): string | undefined {
    return [...this.#byText].find(([, own]) => own === name)?.[0] ?? this.#others.get(name);
  }

  /** The reference for a text, named after the first of these that is free. */
  referenceTo(text: string, names: readonly string[]): string {
    // Two placeholders of one text stand for two values.
    const known = isPlaceholder(text) ? undefined : this.#byText.get(text);
    const name = known ?? names.find((one) => !this.#used.has(one)) ?? this.#addNumber(names);
    if (known === undefined) this.keep(name, text);
    return `\${env:${name}}`;
  }

  #addNumber([name = 'SECRET']: readonly string[]): string {
    let number = 2;
    while (this.#used.has(`${name}_${number}`)) number += 1;
    return `${name}_${number}`;
  }
}

/** The variables that a text of the file needs, for what is at a path: those for which nothing stands in. */
export function listNeededVariables(path: Path, text: string): NewVariable[] {
  const needed = text.replaceAll(/\$\{env:\w+:-[^}]*\}/g, '');
  return [...listTextVariables(needed)].map((name) => ({ name, path }));
}
