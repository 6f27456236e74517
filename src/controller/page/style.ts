/** The styles of the controller's page, next to the common styles, whose colours it uses. */
export const PAGE_STYLE = `
:root { --good-bar: #3f9e62; --warn-bar: #c98500; --bad-bar: #d63f38; --note-bar: #2f86c1; --plain-bar: #97a1ae; --hover: #f7f9fb; }
@media (prefers-color-scheme: dark) { :root { --good-bar: #3a9a5b; --warn-bar: #d9a02f; --bad-bar: #ee6a62; --note-bar: #4fa9e0; --plain-bar: #5d6877; --hover: #1b212b; } }
body { max-width: 88rem; padding: 0 1rem 2rem; display: flex; flex-direction: column; min-height: 100vh; }
main { flex: 1; outline: none; }
h1 { font-size: 1.5rem; margin-top: 1rem; overflow-wrap: anywhere; }
h1::first-letter { text-transform: none; }
h1 .chip { vertical-align: .25em; margin-left: .25rem; }
h2 { font-size: 1.125rem; }
h2 + p, h2 + .sentence { margin-top: .25rem; }
b { font-weight: 650; }
.skip { position: absolute; left: 1rem; top: -4rem; padding: .5rem .75rem; background: var(--card); border: 1px solid var(--edge); border-radius: 0 0 .5rem .5rem; z-index: 2; }
.skip:focus { top: 0; }
body > header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; padding: .75rem 0; border-bottom: 1px solid var(--edge); }
.brand { font-weight: 650; font-size: 1.0625rem; }
.brand a { color: inherit; text-decoration: none; }
.brand a:hover { text-decoration: underline; }
.brand span { color: var(--soft); font-weight: 400; }
#live { margin-right: auto; white-space: nowrap; }
#live:not(:empty)::before { content: ''; display: inline-block; width: .5rem; height: .5rem; margin-right: .4rem; border-radius: 50%; background: var(--plain-bar); vertical-align: .05em; }
#live[data-state='live']::before { background: var(--good-bar); }
#live[data-state='cut']::before { background: none; border: 2px solid var(--warn-bar); }
body > footer { margin-top: 2rem; }
.back { margin-top: 1rem; font-size: .9375rem; }
.back + section, .back + .said { margin-top: .75rem; }
#controller > .box { margin: .75rem 0; }
.back + #controller { margin-top: 0; }
.said { margin-top: .75rem; }
#controller > .soft { margin-top: .5rem; }

nav#counts { background: none; border: 0; padding: 0; margin: 0; }
.choose { display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: .5rem 1rem; margin-top: .75rem; }
.choose > * { max-width: 100%; }
.choose search { flex: 0 1 25.5rem; }
#counts ul { display: flex; flex-wrap: wrap; gap: .375rem; }
#counts a { display: flex; align-items: center; gap: .375rem; min-height: 2.25rem; padding: .125rem .5rem; border: 1px solid var(--edge); border-radius: 1.25rem; background: var(--card); color: var(--text); text-decoration: none; font-size: .875rem; }
#counts a:hover { border-color: var(--soft); }
#counts a[aria-current] { border-color: var(--link); box-shadow: inset 0 0 0 1px var(--link); }
form p { margin: 0; }
label { display: block; font-size: .8125rem; color: var(--soft); margin-bottom: .125rem; }
input:not([type=hidden]), select { font: inherit; font-size: .9375rem; color: var(--text); background: var(--card); border: 1px solid var(--soft); border-radius: .375rem; padding: .3125rem .5rem; min-height: 2.25rem; width: 100%; }
input::placeholder { color: var(--soft); opacity: 1; }
button { white-space: nowrap; font: inherit; font-size: .9375rem; font-weight: 550; min-height: 2.25rem; padding: .25rem .875rem; border: 1px solid var(--soft); border-radius: .375rem; background: var(--card); color: var(--text); cursor: pointer; }
button:hover { background: var(--code); }
button.grave { background: var(--bad-fill); color: var(--bad); border-color: var(--bad); }
button.quiet { border-color: transparent; background: none; color: var(--link); text-decoration: underline; text-underline-offset: .15em; padding: 0; font-weight: 400; }
.search { display: flex; align-items: end; gap: .5rem; }
.search p:first-child { flex: 0 1 12rem; }
.search p:nth-child(2) { flex: 0 1 8rem; }
.buttons { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; margin: .75rem 0 .25rem; }
.fold form { color: var(--text); display: grid; gap: .625rem; max-width: 30rem; padding: .25rem 0 .5rem; }
.login form { display: grid; gap: .75rem; max-width: 26rem; }
.login .said { margin: 0 0 .75rem; max-width: 26rem; }
.confirm { border-color: var(--bad-bar); }
.confirm p { margin-top: .375rem; }
.empty { margin-top: .75rem; padding: 2.5rem 1rem; text-align: center; background: var(--card); border: 1px solid var(--edge); border-radius: .75rem; }
.empty .soft { max-width: 32rem; margin: .25rem auto 0; }
[hidden] { display: none; }
#empty:not([hidden]) ~ .sheet { display: none; }

.sheet { margin-top: .75rem; background: var(--card); border: 1px solid var(--edge); border-radius: .75rem; overflow: clip; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
thead th { text-align: left; font-size: .8125rem; font-weight: 550; color: var(--soft); padding: .5rem .75rem; border-bottom: 1px solid var(--edge); background: var(--card); position: sticky; top: 0; z-index: 1; white-space: nowrap; }
tbody th, tbody td { padding: .4375rem .75rem; text-align: left; vertical-align: middle; font-weight: 400; }
tbody td { overflow-wrap: normal; }
tbody tr + tr > * { border-top: 1px solid var(--edge); }
tbody tr:hover { background: var(--hover); }
tbody th a { font-weight: 600; color: var(--text); text-decoration-color: var(--edge); }
tbody th a:hover { text-decoration-color: currentcolor; }
tbody th .soft { font-size: .8125rem; line-height: 1.35; }
tbody th .soft .tag { color: inherit; text-decoration: none; }
tbody th .soft .tag:hover { text-decoration: underline; }
td[data-head='What'] { font-size: .8125rem; line-height: 1.35; }
td[data-head='What'] p { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
td[data-head='What'] p:only-child { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; white-space: normal; overflow-wrap: anywhere; }
td[data-head='What'] .why { color: var(--soft); }
.mend { margin-top: .5rem; }
.mend code { background: var(--code); border-radius: .25rem; padding: .125rem .375rem; }
button.copy { display: none; min-height: 1.75rem; padding: 0 .5rem; margin: 0 .25rem; font-size: .8125rem; }
.scripted button.copy { display: inline-block; }
.since { font-size: .8125rem; white-space: nowrap; }
td > time, td > .soft:only-child { white-space: nowrap; font-variant-numeric: tabular-nums; }
.strip { display: block; width: 100%; height: 1.5rem; }
.strip path { fill: none; stroke-dasharray: 2 1; background: none; }
.strip .ground { stroke: var(--edge); stroke-width: 2; stroke-dasharray: none; }
.strip .good { stroke: var(--good-bar); }
.strip .warn { stroke: var(--warn-bar); }
.strip .bad { stroke: var(--bad-bar); }
.strip .note { stroke: var(--note-bar); }
.strip .plain { stroke: var(--plain-bar); }
td > a > .strip { cursor: pointer; }
.reads { display: inline-block; max-width: 100%; margin: .75rem 0 .25rem; }
.reads .strip { width: auto; max-width: 100%; height: 3rem; }
.strip .reach { fill: transparent; }
.strip a:hover .reach, .strip a:focus-visible .reach { fill: var(--link); fill-opacity: .2; }
.axis { display: flex; justify-content: space-between; gap: 1rem; color: var(--soft); font-size: .8125rem; font-variant-numeric: tabular-nums; }
#history li:has(:target) { background: var(--note-fill); box-shadow: 0 0 0 .5rem var(--note-fill); border-radius: .25rem; }
#history :target { scroll-margin-top: 4rem; }
#commit { margin-top: .75rem; font-size: .9375rem; overflow-wrap: anywhere; }
.group summary { font-weight: 650; cursor: pointer; }
.group details li { display: flex; gap: .5rem; justify-content: space-between; font-weight: 400; }
.group details ul { list-style: none; max-width: 20rem; }
td[data-head='Action'] button { min-height: 1.75rem; padding: 0 .5rem; font-size: .8125rem; font-weight: 500; }
.several { text-align: center; margin-top: .5rem; font-size: .9375rem; }
.names { columns: 14rem; }
.names li { overflow-wrap: anywhere; }
nav#pager { background: none; border: 0; padding: 0; }
#pager p { display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: center; align-items: baseline; font-size: .9375rem; }

#state > h1 { margin-top: 0; }
#pager p + p { margin-top: .5rem; }
#state > .box { margin-top: .75rem; }
.box > p + p { margin-top: .25rem; }
.box b { font-weight: 650; }
.facts { grid-template-columns: repeat(auto-fill, minmax(min(100%, 16rem), 1fr)); gap: .75rem 1.5rem; margin: 1rem 0 0; }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd { font-size: .9375rem; }
.tag { background: var(--code); border-radius: .25rem; padding: .0625rem .3125rem; }
#history .rows > li { border-top: 1px solid var(--edge); }
#history .rows > li:first-child { border-top: 0; }
#history .fold { margin-top: .25rem; }
ol { list-style: none; }

@media (max-width: 59.99rem) {
  table, tbody, caption { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: .125rem .5rem; padding: .4375rem .75rem; align-items: baseline; }
  tbody tr + tr { border-top: 1px solid var(--edge); }
  tbody tr + tr > * { border: 0; }
  tbody th, tbody td { padding: 0; }
  tbody th { grid-column: 1 / 3; }
  tbody th, tbody td[data-head='What'] p:nth-child(n) { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  tbody td[data-head='State'] { display: contents; }
  tbody td[data-head='State'] .since { grid-area: 1 / 3; }
  tbody td[data-head='State'] .chip { grid-column: 1; }
  tbody td[data-head='What'] { grid-area: 2 / 2 / 3 / 4; display: flex; gap: .5rem; min-width: 0; }
  tbody td[data-head='Action'] { grid-area: 1 / 4 / 3 / 5; align-self: center; }
  td[data-head='Action'] button { min-height: 2.75rem; }
  tbody .group th { grid-column: 1 / 3; white-space: normal; }
  tbody .group:has(details[open]) td[data-head='What'], tbody .group:has(details[open]) th { white-space: normal; }
  tbody td[data-head='What'] p:not(:only-child):first-child { max-width: 60%; }
  tbody td[data-head='What'] p + p { flex: 1; }
  tbody .group td[data-head='What'] .why:nth-child(n) { display: none; }
  tbody .group td[data-head='What'] p:first-child:nth-child(n) { max-width: none; }
  tbody tr[data-status='failed'] td[data-head='What'] p:nth-child(n) { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; white-space: normal; overflow-wrap: anywhere; }
  tbody th .soft, tbody td[data-head='State'] .chip ~ .chip, tbody td[data-head='Last reads'], tbody td[data-head='Last read'], tbody td[data-head='Next read'] { display: none; }
}
@media (max-width: 39.99rem) {
  .facts { gap: .375rem; }
  .facts > div { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .5rem; align-items: baseline; }
  #counts ul { flex-wrap: nowrap; overflow-x: auto; }
  #counts li { flex: none; }
  #counts a { white-space: nowrap; }
  .choose search { flex: 1 0 100%; }
  .search p:first-child { flex: 1; }
}
@media (min-width: 60rem) {
  table { table-layout: fixed; }
  thead th:nth-child(1) { width: 24%; }
  thead th:nth-child(2) { width: 17%; }
  thead th:nth-child(4) { width: 8rem; }
  thead th:nth-child(5), thead th:nth-child(6) { width: 6rem; }
  thead th:nth-child(7) { width: 6.5rem; }
  tbody th { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  tbody th .soft { display: inline; margin-left: .5rem; }
  tbody .group td[data-head='What'] p:first-child { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; white-space: normal; overflow-wrap: anywhere; }
  tr:has([data-head='What'] p) th .soft { display: block; margin: 0; overflow: hidden; text-overflow: ellipsis; }
  .group th { white-space: normal; overflow-wrap: anywhere; }
  .group:has(details[open]) > * { vertical-align: top; }
  tbody th, tbody td { padding: .25rem .75rem; }
  #found .rows > li, #history .rows > li, [aria-labelledby=plan-title] .rows > li { grid-template-columns: 9rem minmax(0, 1fr); }
}
@media (forced-colors: active) { .strip path { stroke: CanvasText; } }
`;
