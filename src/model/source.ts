/** A place in a file: lines and columns count from 1, columns in UTF-16 units. */
export interface Source {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}
