import { watch, type FSWatcher } from 'node:fs';

/** Folders, because editors and mounted volumes replace files. A folder that cannot be watched is looked at by the clock alone. */
export function listenTo(folders: readonly string[], changed: () => void): () => void {
  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      const watcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  });
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}
