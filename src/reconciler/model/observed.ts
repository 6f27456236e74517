import { COLLECTION_FORMS, type CollectionBlock } from './collection-forms.ts';

const BESIDE_COLLECTIONS = ['server', 'settings', 'sandboxes', 'specs', 'conversations'] as const;

/** What `get` shows: among it all that a service keeps by name. */
export type Resource = (typeof BESIDE_COLLECTIONS)[number] | CollectionBlock;
export const OBSERVABLE: readonly Resource[] = [
  ...BESIDE_COLLECTIONS,
  ...COLLECTION_FORMS.map(({ block }) => block),
];

/** The name of all kinds of profiles together. */
export const PROFILES = 'profiles';

/** Returns the resources that a name stands for, one or several. Empty if it is not known. */
export function resolveResourceName(name: string): readonly Resource[] {
  return name === PROFILES
    ? OBSERVABLE.filter((one) => one.endsWith(`_${PROFILES}`))
    : OBSERVABLE.filter((one) => one === name);
}
