import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import { adminOf, clusterWorld, reasonOf, type ClusterWorld } from '../../fixture/cluster-world.ts';
import { kubeServer } from '../../fixture/kube-server.ts';
import { hasProgram } from '../../fixture/program.ts';
import { SYSTEM_CLOCK } from '../../../src/reconciler/host/this-process.ts';
import { expectAlerts, seriesOf, type Scrape, type Series } from '../../fixture/scraped-series.ts';

const TIMES = 120;
const MINUTE = 60_000 / TIMES;
const MINUTES = 25;

/** What Prometheus has after some minutes of a controller of SettingsTargets that fit `make`, scraped once a minute. */
async function minutesOf(
  make: (world: ClusterWorld) => Promise<unknown>,
): Promise<readonly Series[]> {
  const world = await clusterWorld(adminOf(await kubeServer()), TIMES);
  await world.target('well', { settings: {}, interval: '5m' });
  await world.target('suspended', { settings: {}, interval: '5m', suspend: true });
  await make(world);
  const { controller } = await world.start();
  const metrics = createMetrics(controller);
  onTestFinished(() => metrics.close());
  await world.until('well', (status) => reasonOf(status, 'Ready') === 'InSync');
  const start = SYSTEM_CLOCK.now() / 1000;
  const scrapes: Scrape[][] = [];
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    scrapes.push([{ instance: 'a', text: (await metrics.text()).text }]);
    await SYSTEM_CLOCK.sleep(MINUTE);
  }
  return seriesOf(scrapes, start);
}

describe.runIf(hasProgram('promtool'))(
  'the alerts of SettingsTargets, from what was scraped (skipped if promtool is not installed)',
  () => {
    it('are none of objects that are read, or suspended on purpose', async () => {
      const series = await minutesOf(async () => {});
      expect(series.map((one) => one.series)).toContainEqual(
        expect.stringMatching(/^setpoint_unwatched_objects\{reason="Suspended"/),
      );
      expectAlerts(series, []);
    });

    it.each([
      ['SetpointNotWatched', 'settings are not valid', { settings: { language: 7 } }],
      ['SetpointFailing', 'origin is not allowed', { server: { url: 'https://other.example' } }],
    ])('%s fires for one whose %s', async (alert, _, spec) => {
      expectAlerts(await minutesOf((world) => world.target('unwell', spec)), [alert]);
    });
  },
);
