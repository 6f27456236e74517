import { collection } from './collections/collection.ts';
import type { ManagedResource } from './contract.ts';
import { SANDBOXES } from './sandboxes/resource.ts';

/** The values that a service hands to what runs in its sandboxes, by name. */
const SECRETS = collection({ resource: 'secret', block: 'secrets', noun: 'custom secrets' });

/** What a settings file declares beside the settings, in the order of writing: the one registration. */
export const RESOURCES: readonly ManagedResource[] = [SECRETS, SANDBOXES];
