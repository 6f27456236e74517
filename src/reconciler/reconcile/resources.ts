import { collection } from './collections/collection.ts';
import type { ManagedResource } from './contract.ts';
import { SANDBOXES } from './sandboxes/resource.ts';
import { SETTINGS_RESOURCE } from './settings/resource.ts';

/** The values that a service hands to what runs in its sandboxes, by name. */
const SECRETS = collection({ resource: 'secret', block: 'secrets', noun: 'custom secrets' });

/** What a settings file declares, in the order of writing: the one registration. */
export const RESOURCES: readonly ManagedResource[] = [SETTINGS_RESOURCE, SECRETS, SANDBOXES];
