// A plan of ten collections of an Agent Server, ten items each, against bare Node that asks the same questions.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { COMMAND, inTurn, timeRows, watched } from './measure.mjs';

const ROUNDS = 21;
const ITEMS = 10;

/** Members of one item of each block; `{n}` is the number of the item, `{folder}` where files lie. */
const BLOCKS = {
  secrets: '{ value: "${env:A_SECRET}" }',
  provider_connections: '{ provider: anthropic, api_key: "${env:A_SECRET}" }',
  llm_profiles: '{ model: openai/gpt-5, api_key: "${env:A_SECRET}" }',
  meta_profiles: '{ classifier: item1, classes: [{ description: all, model: item1 }] }',
  agent_profiles: '{ llm_profile: item{n} }',
  mcp_servers: '{ command: npx, args: [-y, server-{n}] }',
  marketplaces: '{ source: "github:example/skills-{n}" }',
  skills: '{ source: "{folder}/skills", repo_path: item{n} }',
  plugins: '{ source: "{folder}/plugins", repo_path: item{n} }',
};

export async function measure({ rounds = ROUNDS } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-bench-'));
  const place = {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, A_SECRET: 'a-secret-value' },
  };
  const service = spawn(
    process.execPath,
    [COMMAND, 'serve', '--port', '0', '--dialect', 'agent-server'],
    { ...place, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  try {
    const [url] = await once(createInterface(service.stdout), 'line');
    writeFiles(folder);
    writeFile(folder, url);
    await watched([COMMAND, 'apply', '--yes'], place);
    const asked = await listRequests(url, (proxy) => {
      writeFile(folder, proxy);
      return watched([COMMAND, 'plan'], place);
    });
    writeFile(folder, url);
    writeFileSync(join(folder, 'bare.mjs'), bareLoop(url, asked));
    console.error(`${asked.length} GETs`);
    const plan = () => watched([COMMAND, 'plan', '--exit-code'], place);
    const loop = () => watched(['bare.mjs'], place);
    await plan();
    await loop();
    const pairs = await inTurn(rounds, plan, loop);
    return timeRows({
      name: `a plan of ten collections, ${ITEMS} items each`,
      over: `its ${asked.length} GETs with node:http`,
      limit: 2.5,
      pairs,
    });
  } finally {
    service.kill();
    await once(service, 'close');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is installed lies on disk, as the service reads it from there. */
function writeFiles(folder) {
  for (let number = 1; number <= ITEMS; number += 1) {
    const texts = {
      [`skills/item${number}/SKILL.md`]: `---\nname: item${number}\ndescription: x\n---\nX.\n`,
      [`plugins/item${number}/.plugin/plugin.json`]: `{"name":"item${number}","description":"x"}`,
    };
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  }
}

function writeFile(folder, url) {
  const lines = ['version: 1', `server: { url: "${url}" }`, 'settings: { language: en }'];
  for (const [block, members] of Object.entries(BLOCKS)) {
    lines.push(`${block}:`);
    for (let number = 1; number <= ITEMS; number += 1) {
      const text = members.replaceAll('{n}', String(number)).replaceAll('{folder}', folder);
      lines.push(`  item${number}: ${text}`);
    }
  }
  const disabled = Array.from({ length: ITEMS }, (_, index) => `off${index + 1}`);
  lines.push(`disabled_skills: [${disabled.join(', ')}]`);
  writeFileSync(join(folder, 'settings.yaml'), `${lines.join('\n')}\n`);
}

/** The paths of the GETs of a run against a proxy of the service; anything else is an error of this measure. */
async function listRequests(url, run) {
  const asked = [];
  const proxy = createServer((incoming, outgoing) => {
    if (incoming.method !== 'GET') throw new Error(`a plan sent ${incoming.method}`);
    asked.push(incoming.url);
    const headers = { ...incoming.headers, host: new URL(url).host };
    request(new URL(incoming.url, url), { headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    }).end();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    await run(`http://127.0.0.1:${proxy.address().port}`);
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
  return asked;
}

/** Bare Node that asks the same, eight at a time on kept connections, and parses each answer. */
function bareLoop(url, asked) {
  return `import { Agent, get } from 'node:http';
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const ask = (path) => new Promise((resolve, reject) => {
  get('${url}' + path, { agent }, (answer) => {
    let text = '';
    answer.on('data', (chunk) => (text += chunk));
    answer.on('end', () => resolve(JSON.parse(text)));
  }).on('error', reject);
});
await Promise.all(${JSON.stringify(asked)}.map(ask));
agent.destroy();
`;
}
