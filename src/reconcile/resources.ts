import type { ManagedResource } from './contract.ts';
import { SANDBOXES } from './sandboxes/resource.ts';

/** What a settings file declares beside the settings, in the order of writing: the one registration. */
export const RESOURCES: readonly ManagedResource[] = [SANDBOXES];
