/**
 * The script that runs in a browser: it updates ages and replaces parts of the page with what the server sends. The page can be read
 * without it. Rows keep their order while the user points at them or has the focus there, and fields that the user types in are left alone.
 */
export const SCRIPT = String.raw`'use strict';
(() => {
  const units = [[86400, 'd'], [3600, 'h'], [60, 'm'], [1, 's']];
  const ageText = (milliseconds) => {
    const seconds = Math.floor(milliseconds / 1000);
    const [size, letter] = units.find(([size]) => seconds >= size) ?? [1, 's'];
    return Math.floor(seconds / size) + ' ' + letter;
  };
  const showAges = () => {
    if (document.hidden) return;
    const now = Date.now() - skew;
    for (const time of document.querySelectorAll('time[data-age]')) {
      const gap = now - Date.parse(time.dateTime);
      const isSpan = time.dataset.age === 'span';
      const past = time.dataset.age === 'due' ? ' late' : ' ago';
      const text = isSpan ? ageText(Math.max(gap, 0)) : gap >= 0 ? ageText(gap) + past : 'in ' + ageText(-gap);
      if (time.textContent !== text) time.textContent = text;
    }
  };
  const live = document.getElementById('live');
  const { events, version, now: madeAt } = document.body.dataset;
  // How far this browser's clock is ahead of the server's.
  const [{ responseStart }] = performance.getEntriesByType('navigation');
  const skew = performance.timeOrigin + responseStart - Date.parse(madeAt);
  setInterval(showAges, 5000);
  if (navigator.clipboard) document.documentElement.classList.add('scripted');
  document.addEventListener('click', ({ target }) => {
    const button = target.closest('button[data-copy]');
    if (!button) return;
    navigator.clipboard.writeText(button.dataset.copy).then(() => {
      button.textContent = 'Copied';
    }, () => {});
  });

  if (!events) return;

  let known = version;
  let source = null;
  let retry = 0;
  const say = (text, state) => {
    live.textContent = text;
    live.dataset.state = state;
  };
  const open = () => {
    clearTimeout(retry);
    if (source || document.hidden) return;
    source = new EventSource(events + (events.includes('?') ? '&' : '?') + 'version=' + encodeURIComponent(known));
    source.onopen = () => say('live', 'live');
    source.onmessage = (message) => take(JSON.parse(message.data));
    source.onerror = () => {
      say('not live: trying again', 'cut');
      if (source.readyState !== EventSource.CLOSED) return;
      close();
      retry = setTimeout(open, 15000);
      // Without a session any more, the page leads to the login.
      fetch(events, { method: 'HEAD' }).then(({ status }) => status === 401 && location.reload(), () => {});
    };
  };
  const close = () => {
    source?.close();
    source = null;
  };
  // A browser has few connections for each site: a page that nobody sees needs none.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) return open(), showAges();
    close();
    say('paused', 'cut');
  });
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);

  // What waits until nobody is busy with the part that it replaces.
  const waiting = new Map();
  let order = null;
  let busyUntil = 0;
  const rows = document.getElementById('rows');
  const busy = () => {
    busyUntil = Date.now() + 4000;
  };
  for (const type of ['pointermove', 'pointerdown', 'keydown', 'focusin', 'touchstart'])
    rows?.addEventListener(type, busy, { passive: true });

  const take = (update) => {
    known = update.version;
    for (const [id, html] of Object.entries(update.parts)) waiting.set(id, html);
    if (update.order) order = update.order;
    settle();
  };
  const isTyping = (part) => {
    const at = document.activeElement;
    return part !== null && part.contains(at) && at.matches('input, select, textarea');
  };
  const settle = () => {
    const seen = [];
    const made = new Map();
    for (const [id, html] of waiting) {
      const old = document.getElementById(id);
      if (isTyping(old)) continue;
      const holder = document.createElement('template');
      holder.innerHTML = html;
      const fresh = holder.content.firstElementChild;
      if (old === null) {
        made.set(id, fresh);
        continue;
      }
      waiting.delete(id);
      if (fresh.dataset.status && fresh.dataset.status !== old.dataset.status)
        seen.push([fresh.dataset.name, fresh.dataset.status]);
      replace(old, fresh);
    }
    if (rows && order && Date.now() >= busyUntil) place(made);
    showAges();
    announce(seen);
  };
  setInterval(() => {
    if (waiting.size > 0 || order) settle();
  }, 1000);

  const focusable = 'a, button, input, select, textarea, summary';
  const replace = (old, fresh) => {
    const opened = [...old.querySelectorAll('details')].map((one) => one.open);
    for (const [index, one] of [...fresh.querySelectorAll('details')].entries())
      if (opened[index]) one.open = true;
    const at = [...old.querySelectorAll(focusable)].indexOf(document.activeElement);
    old.replaceWith(fresh);
    if (at >= 0) fresh.querySelectorAll(focusable)[at]?.focus({ preventScroll: true });
  };
  const place = (made) => {
    const at = document.activeElement;
    const wanted = new Set(order);
    for (const row of [...rows.children]) if (!wanted.has(row.id)) row.remove();
    let next = rows.firstElementChild;
    for (const id of order) {
      const row = document.getElementById(id) ?? made.get(id);
      if (!row) continue;
      waiting.delete(id);
      if (row === next) next = next.nextElementSibling;
      else rows.insertBefore(row, next);
    }
    order = null;
    for (const id of waiting.keys()) if (!wanted.has(id)) waiting.delete(id);
    if (rows.contains(at) && at !== document.activeElement) at.focus({ preventScroll: true });
  };

  // One sentence for all that changed in a while: a screen reader is not to talk all the time.
  let news = new Map();
  let timer = 0;
  const announce = (seen) => {
    for (const [name, status] of seen) news.set(name, status);
    if (news.size === 0 || timer) return;
    timer = setTimeout(() => {
      const all = [...news];
      news = new Map();
      timer = 0;
      document.getElementById('announce').textContent =
        all.length > 3
          ? all.length + ' environments have changed their state.'
          : all.map(([name, status]) => name + ' is now: ' + status + '.').join(' ');
    }, 3000);
  };
  open();
})();
`;
