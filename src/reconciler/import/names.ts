import type { NewVariable } from '../model/documents.gen.ts';
import type { Path } from '../model/path.ts';
import { variablesIn } from '../pull/placeholder.ts';

/** The variables of a file that is being written: one for each text that it must not hold, and no name twice. */
export class Names {
  readonly #byText = new Map<string, string>();
  readonly #used = new Set<string>();

  /** Keeps the name of a variable that has a text already. */
  keep(name: string, text: string): void {
    if (this.#used.has(name)) return;
    this.#used.add(name);
    if (text !== '' && !this.#byText.has(text)) this.#byText.set(text, name);
  }

  /** The reference for a text, named after the first of these that is free. */
  referenceTo(text: string, names: readonly string[]): string {
    const known = this.#byText.get(text);
    const name = known ?? names.find((one) => !this.#used.has(one)) ?? this.#numbered(names);
    if (known === undefined) this.keep(name, text);
    return `\${env:${name}}`;
  }

  #numbered([name = 'SECRET']: readonly string[]): string {
    let number = 2;
    while (this.#used.has(`${name}_${number}`)) number += 1;
    return `${name}_${number}`;
  }
}

/** The variables that a text of the file needs, for what is at a path: those for which nothing stands in. */
export function readAt(path: Path, text: string): NewVariable[] {
  const needed = text.replaceAll(/\$\{env:\w+:-[^}]*\}/g, '');
  return [...variablesIn(needed)].map((name) => ({ name, path }));
}
