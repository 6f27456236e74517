import { isWithin, samePath, type Path } from '../model/path.ts';

/** Which secrets `--rotate` writes anew though nothing tells that they differ. */
export type Rotation = 'all' | readonly Path[];

export function isRotated(rotation: Rotation, path: Path): boolean {
  return (
    rotation === 'all' ||
    rotation.some((rotated) => samePath(rotated, path) || isWithin(rotated, path))
  );
}
