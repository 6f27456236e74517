import type { ManagedResource } from '../reconcile/contract.ts';
import { SANDBOXES } from './sandboxes/resource.ts';
import { SECRETS } from './secrets.ts';
import { SETTINGS_RESOURCE } from './settings/resource.ts';

/** What a settings file declares, in the order of writing: the one registration. */
export const RESOURCES: readonly ManagedResource[] = [SETTINGS_RESOURCE, SECRETS, SANDBOXES];
