import { writeAside } from '../host/write-aside.ts';
import type { Resource } from '../model/observed.ts';
import { get } from '../operations/get.ts';
import type { Options } from '../operations/options.ts';
import { selectTargets } from '../operations/select.ts';
import { json } from '../render/json.ts';
import type { Inputs } from './inputs.ts';

const ALL: readonly Resource[] = ['settings', 'sandboxes', 'specs', 'conversations'];

/** Writes what the services have, masked, for plans against it; nothing where none could be looked at: an older look is better. */
export async function saveSnapshot({ snapshotOut }: Inputs, options: Options): Promise<void> {
  if (snapshotOut === null) return;
  const declared = selectTargets(options).some(({ sandboxes }) => sandboxes !== undefined);
  const document = await get({ ...options, resources: declared ? ALL : ['settings'] });
  if (document.environments.every(({ status }) => status === 'error')) return;
  await writeAside(snapshotOut, json(document));
}
