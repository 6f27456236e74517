import { expect, it } from 'vitest';
import { controllerPart } from '../../../src/controller/page/page-parts.ts';
import { markupSource } from '../../../src/reconciler/render/html/page.ts';
import { MadeUpWatching, WATCHED_AT } from '../../fixture/watching.ts';

it('tells how many objects of a cluster are no environments', () => {
  const watching = new MadeUpWatching();
  const shown = (unwatched?: ReadonlyMap<string, number>) => {
    watching.health = { ...watching.health, unwatched };
    const { key, html } = controllerPart(watching, WATCHED_AT);
    return { key, text: markupSource(html()) };
  };
  const none = new Map([
    ['Invalid', 0],
    ['Suspended', 0],
  ]);
  expect(shown().text).not.toContain('SettingsTargets');
  expect(shown(none).text).not.toContain('SettingsTargets');
  const some = shown(new Map([...none, ['Suspended', 2], ['Forbidden', 1]]));
  expect(some.text).toContain(
    'SettingsTargets that are not watched: 2 Suspended, 1 Forbidden. kubectl get spt -A lists them.',
  );
  expect(some.key).not.toBe(shown(none).key);
});
