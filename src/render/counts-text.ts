import { SANDBOX_ACTIONS, SETTINGS_ACTIONS, type ActionCounts } from '../model/plan.ts';

/** `1 to set, 2 to change; 1 sandbox to start, 2 to pause`; what is not there is left out. */
export function countsText(counts: ActionCounts): string {
  const settings = SETTINGS_ACTIONS.filter((action) => counts[action] > 0).map(
    (action) => `${counts[action]} to ${action}`,
  );
  const sandboxes = SANDBOX_ACTIONS.filter((action) => counts[action] > 0).map((action, index) => {
    const noun = index > 0 ? '' : counts[action] === 1 ? ' sandbox' : ' sandboxes';
    return `${counts[action]}${noun} to ${action}`;
  });
  return [settings.join(', '), sandboxes.join(', ')].filter((part) => part !== '').join('; ');
}
