import { plannedSettings } from '../../plan/planned-alike.ts';
import { SETTINGS, settingsOfPart } from '../../plan/settings-part.ts';
import type { ManagedResource } from '../../reconcile/contract.ts';
import { writeSettings } from './write.ts';

/** The settings of a service. What the service is shows in them, so that they are observed before any other resource is read. */
export const SETTINGS_RESOURCE: ManagedResource = {
  ...SETTINGS,
  read: async (input, observed) =>
    observed === null ? null : () => plannedSettings(input, observed),
  write: (input, part, before) => writeSettings(input, settingsOfPart(part), before),
};
