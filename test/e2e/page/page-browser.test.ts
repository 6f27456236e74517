import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openTab, startBrowser, violations } from '../../fixture/browser.ts';
import { freePort } from '../../fixture/free-port.ts';
import { startPage, TOKEN } from '../../fixture/page.ts';
import { ago } from '../../fixture/watching.ts';
import { everyState, fleet, someHistory, longWatched } from '../../fixture/watched-fleet.ts';
import { LONG, describeEach, itEach } from '../../fixture/long.ts';

let browser: Browser;

async function everything() {
  const started = await startPage(everyState());
  someHistory(started.watching);
  const { plan } = started.watching.state('canary') ?? {};
  if (plan !== null && plan !== undefined) started.watching.plan = (name) => ({ ...plan, name });
  return started;
}

/** Nothing is wrong for axe-core, and nothing is wider than the window. */
async function expectGood(tab: Page, width: number): Promise<void> {
  expect(await violations(tab), tab.url()).toEqual([]);
  const wide = await tab.evaluate('document.documentElement.scrollWidth');
  expect(wide, tab.url()).toBeLessThanOrEqual(width);
}

async function logInHere(tab: Page, url: string, next: string): Promise<void> {
  await tab.goto(`${url}/login?next=${encodeURIComponent(next)}`);
  await tab.fill('#token', TOKEN);
  await tab.click('main button');
  await tab.waitForURL(url + next);
}

describe.skipIf(CHROMIUM === undefined)('in a browser (skipped without Chromium)', () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const LOOKS = [375, 768, 1600].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
  );

  const isShort = ({ width, colorScheme }: (typeof LOOKS)[number]): boolean =>
    width === 375 && colorScheme === 'dark';
  describeEach(LOOKS, isShort)('$width px, $colorScheme', ({ width, colorScheme }) => {
    const viewport = { width, height: 900 };

    itEach([true, false], (scripts) => scripts)(
      'every kind of page is accessible and fits, scripts %s',
      async (scripts) => {
        const { page } = await everything();
        const { tab, problems, close } = await openTab(
          browser,
          { viewport, colorScheme },
          { scripts },
        );
        for (const path of ['/', '/environments/canary']) {
          await tab.goto(page.url + path);
          await expectGood(tab, width);
        }
        await logInHere(tab, page.url, '/environments/load-test');
        await expectGood(tab, width);
        await tab.click('text=Plan now');
        await tab.waitForSelector('text=Apply 11 changes');
        // Its text is there before its style sheet.
        await tab.waitForLoadState('load');
        await expectGood(tab, width);
        await close();
        expect(problems).toEqual([]);
      },
    );
  });

  it('so is every state, an empty list and the login', LONG, async () => {
    const { page } = await everything();
    const empty = await startPage([]);
    const { tab, problems, close } = await openTab(browser, {
      viewport: { width: 375, height: 900 },
    });
    const environments = everyState().map(({ name }) => `${page.url}/environments/${name}`);
    for (const url of [
      ...environments,
      `${page.url}/?q=nothing`,
      `${page.url}/login`,
      `${empty.page.url}/`,
    ]) {
      await tab.goto(url);
      await expectGood(tab, 375);
    }
    await close();
    expect(problems).toEqual([]);
  });

  it('an open page leads to the login once its session has ended', LONG, async () => {
    const port = await freePort();
    const { page } = await startPage(everyState(), {
      port,
      publicOrigin: `http://127.0.0.1:${port}`,
    });
    const { tab, close } = await openTab(browser);
    await logInHere(tab, page.url, '/environments/canary');
    await tab.waitForSelector('#live[data-state=live]');
    const other = await tab.context().newPage();
    await other.goto(page.url);
    await other.click('text=Log out');
    await tab.waitForURL(`${page.url}/login?next=*`);
    await close();
  });

  it('says what is missing, as a page', async () => {
    const { page } = await everything();
    const { tab, close } = await openTab(browser);
    await tab.goto(`${page.url}/environments/nobody`);
    expect(await tab.textContent('h1')).toBe('No environment has this name');
    expect(await violations(tab)).toEqual([]);
    await close();
  });

  it('5,000 environments fit a page, and are searched', LONG, async () => {
    const { page } = await startPage(fleet(5000));
    const { tab, problems, close } = await openTab(browser, { javaScriptEnabled: false });
    await tab.goto(`${page.url}/?state=any`);
    expect(await tab.locator('tbody tr').count()).toBe(100);
    await tab.fill('#q', 'team-0102 ring=2');
    await tab.keyboard.press('Enter');
    await tab.waitForURL('**/?q=*');
    expect(await tab.locator('tbody tr').count()).toBe(1);
    await close();
    expect(problems).toEqual([]);
  });

  itEach([375, 768, 1440], (width) => width === 375)(
    'a row has two lines at %i px, three where a phone shows a cause, however long its reason is, and all of it in its title',
    async (width) => {
      const reason = 'The provider moves the region to another data centre. '.repeat(9).trim();
      const suspended = { at: ago(90), reason, until: null, by: 'Ada Lovelace' };
      const all = everyState().map((state) =>
        state.suspended === null ? state : { ...state, suspended },
      );
      const { page } = await startPage(all);
      const { tab, close } = await openTab(browser, { viewport: { width, height: 900 } });
      await tab.goto(page.url);
      await tab.waitForLoadState('load');
      const heights = await tab.evaluate<number[]>(
        '[...document.querySelectorAll("#rows tr")].map((row) => row.getBoundingClientRect().height - (row.dataset.status === "failed" && innerWidth < 960 ? 18 : 0))',
      );
      expect(heights).toHaveLength(all.length);
      expect(Math.max(...heights)).toBeLessThan(66);
      const titles = await tab
        .locator('td[title]')
        .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title')));
      expect(titles.join(' ')).toContain(`suspended by Ada Lovelace: ${reason}`);
      await close();
    },
  );

  it(
    'everything can be reached by keyboard, in the order of the page, past the head at once',
    LONG,
    async () => {
      const { page } = await everything();
      const { tab, close } = await openTab(browser, { viewport: { width: 1600, height: 900 } });
      await tab.goto(page.url);
      const at = async (): Promise<string> =>
        tab.evaluate(
          '(document.activeElement.textContent || document.activeElement.id).trim().split("\\n")[0]',
        );
      await tab.keyboard.press('Tab');
      expect(await at()).toBe('Skip to the content');
      expect(await tab.evaluate('document.activeElement.getBoundingClientRect().top >= 0')).toBe(
        true,
      );
      await tab.keyboard.press('Enter');
      await tab.keyboard.press('Tab');
      const seen: string[] = [];
      for (
        let count = 0;
        count < 60 && (await tab.evaluate('document.activeElement !== document.body'));
        count++
      ) {
        seen.push(await at());
        const outline = await tab.evaluate('getComputedStyle(document.activeElement).outlineStyle');
        expect(outline, seen.at(-1)).not.toBe('none');
        await tab.keyboard.press('Tab');
      }
      expect(seen[0]).toBe('11 all');
      expect(seen).toContain('q');
      const names = seen.filter((text) => !text.includes('='));
      expect(names.slice(-11)).toEqual([
        'eu-production',
        'us-production',
        'staging',
        'demo',
        'canary',
        'integration',
        'partners',
        'new-team',
        'load-test',
        'research',
        'sandbox',
      ]);
      await close();
    },
  );

  it('a row changes by itself and moves to its place, the focus stays, and one sentence says so', async () => {
    const { page, watching } = await everything();
    const { tab, problems, close } = await openTab(browser, {
      viewport: { width: 1600, height: 900 },
    });
    await tab.goto(page.url);
    await tab.waitForSelector('#live[data-state=live]');
    await tab.focus('tr[data-name=sandbox] a');
    watching.set('sandbox', { status: 'error', found: 'error', since: ago(0) });
    await tab.waitForSelector('tr[data-name=sandbox][data-status=failed]');
    expect(await tab.evaluate('document.activeElement.textContent')).toBe('sandbox');
    await tab.waitForSelector('tr[data-name=sandbox]:nth-child(2)');
    expect(await tab.evaluate('document.activeElement.textContent')).toBe('sandbox');
    await tab.waitForSelector('#announce:text-is("sandbox is now: failed.")', {
      state: 'attached',
    });
    expect(await tab.textContent('#counts')).toMatch(/2\s+✗ failed/);
    await close();
    expect(problems).toEqual([]);
  });

  it('rows come and go, on a list that is filtered, too', LONG, async () => {
    const { page, watching } = await everything();
    const { tab, problems, close } = await openTab(browser);
    await tab.goto(`${page.url}/?state=drift`);
    await tab.waitForSelector('#live[data-state=live]');
    watching.set('sandbox', { status: 'drift' });
    await tab.waitForSelector('tr[data-name=sandbox]');
    for (const name of ['sandbox', 'demo', 'canary'])
      watching.set(name, { status: 'in-sync', plan: null, stopped: null });
    await tab.waitForSelector('text=No environment matches.');
    expect(await tab.locator('tbody tr').count()).toBe(0);
    watching.set('canary', { status: 'drift' });
    await tab.waitForSelector('tr[data-name=canary]');
    expect(await tab.isVisible('text=No environment matches.')).toBe(false);
    await close();
    expect(problems).toEqual([]);
  });

  it('what was missed while the connection was cut is made up for', LONG, async () => {
    const { page, watching } = await everything();
    const { tab, close } = await openTab(browser);
    await tab.goto(page.url);
    await tab.waitForSelector('#live[data-state=live]');
    await tab.context().setOffline(true);
    // A browser that is offline keeps the connections that it has: the page ends its streams, as a restart would.
    watching.set('research', { status: 'conflict' });
    await tab.evaluate('dispatchEvent(new Event("pagehide"))');
    await tab.context().setOffline(false);
    watching.set('sandbox', { status: 'drift' });
    await tab.evaluate('dispatchEvent(new Event("pageshow"))');
    await tab.waitForSelector('tr[data-name=sandbox][data-status=drift]');
    await tab.waitForSelector('tr[data-name=research][data-status=conflict]');
    await close();
  });

  it("an environment's page is live: what was typed and opened stays", LONG, async () => {
    const { page, watching } = await everything();
    const { tab, problems, close } = await openTab(browser);
    await logInHere(tab, page.url, '/environments/canary');
    await tab.waitForSelector('#live[data-state=live]');
    await tab.click('summary:has-text("Suspend")');
    await tab.fill('#reason', 'half a sentence');
    await tab.click('#history summary:has-text("What was found")');
    watching.set('canary', { status: 'in-sync', found: 'in-sync', plan: null });
    watching.record({ kind: 'resumed', environment: 'canary' });
    await tab.waitForSelector('h1:has-text("in sync")');
    await tab.waitForSelector('#found:has-text("The service has what the file declares.")');
    expect(await tab.inputValue('#reason')).toBe('half a sentence');
    await close();
    expect(problems).toEqual([]);
  });

  it('somebody logs in, plans, is asked once more, and applies', async () => {
    const { page, watching } = await everything();
    const { tab, problems, close } = await openTab(browser);
    await tab.goto(`${page.url}/environments/canary`);
    expect(await tab.isVisible('text=Plan now')).toBe(false);
    await tab.click('text=Log in');
    await tab.fill('#token', TOKEN);
    await tab.click('main button');
    await tab.waitForURL('**/environments/canary');
    await tab.click('text=Plan now');
    await tab.click('button:has-text("Apply 11 changes")');
    await tab.waitForSelector('text=Applied 1 change.');
    expect(watching.asked.filter((asked) => asked.startsWith('apply'))).toHaveLength(1);
    await close();
    expect(problems).toEqual([]);
  });

  it('the command that mends it is copied', async () => {
    const { page } = await everything();
    const { tab, problems, close } = await openTab(browser);
    await tab.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await tab.goto(`${page.url}/environments/canary`);
    await tab.click('button[data-copy]');
    await tab.waitForSelector('button:has-text("Copied")');
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe('setpoint apply -e canary');
    await close();
    expect(problems).toEqual([]);
  });

  it(
    'all that a filter leaves are suspended by somebody with a name and a reason, and resumed',
    LONG,
    async () => {
      const { page, watching } = await everything();
      const { tab, problems, close } = await openTab(browser);
      await logInHere(tab, page.url, '/?q=canary&state=any');
      await tab.click('text=Suspend or resume all that are listed');
      await tab.fill('[name=reason]', 'an upgrade');
      await tab.click('button:has-text("Suspend")');
      await tab.waitForSelector('text=/Suspended/');
      expect(watching.asked.filter((asked) => asked.startsWith('suspend'))).toHaveLength(1);
      await close();
      expect(problems).toEqual([]);
    },
  );

  it('hostile names, values and reasons run nothing', async () => {
    const evil = '"><img src=x onerror=alert(1)></script><script>alert(1)</script>';
    const { page, watching } = await startPage([
      longWatched({
        name: evil,
        labels: { [evil]: evil },
        origin: evil,
        status: 'suspended',
        found: 'drift',
        suspended: { at: evil, reason: evil, until: evil },
        stopped: { at: evil, path: evil, reason: evil },
        heldBy: evil,
        commit: evil,
        since: evil,
      }),
    ]);
    watching.record({ kind: 'healing-stopped', environment: evil, path: evil, reason: evil });
    const { tab, problems, close } = await openTab(browser);
    let alerts = 0;
    tab.on('dialog', (dialog) => {
      alerts += 1;
      void dialog.dismiss();
    });
    await tab.goto(page.url);
    await tab.click('tbody a');
    await tab.waitForSelector('#history');
    await tab.waitForSelector('#live[data-state=live]');
    watching.set(evil, { status: 'drift' });
    await tab.waitForSelector('section[data-status=drift]');
    expect(await tab.locator('img, main script').count()).toBe(0);
    await close();
    expect([alerts, problems]).toEqual([0, []]);
  });
});
