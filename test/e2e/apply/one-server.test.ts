import { expect, it, onTestFinished } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startStore } from '../../fixture/store-server.ts';

const DECLARED = { language: 'en', llm_model: 'gpt-4o', max_iterations: 50 };

it('writes environments of one server one after another, also in parallel', async () => {
  const store = await startStore({}, { language: 'fr', llm_model: 'other', max_iterations: 3 });
  onTestFinished(() => store.close());
  // Long enough for the others to read the server and to begin their write.
  store.intercept = ({ method }, _response, proceed) => {
    if (method !== 'POST') return false;
    setTimeout(proceed, 200);
    return true;
  };
  const environments = Object.entries(DECLARED).map(
    ([name, value], index) =>
      `  ${name}: { server: { url: "${store.url}${'/'.repeat(index)}" }, settings: { ${name}: ${value} } }\n`,
  );
  const folder = folderWith({
    'settings.yaml': `version: 1\nenvironments:\n${environments.join('')}`,
  });
  onTestFinished(() => folder.remove());
  const ended = await setpoint(['apply', '--all', '--yes', '--parallel', '3'], {
    cwd: folder.path,
    env: {},
  });
  expect(ended.code, ended.stderr).toBe(0);
  expect([store.posts(), store.stored]).toMatchObject([3, DECLARED]);
});

it('writes environments of one server with keys of their own at the same time', async () => {
  const store = await startStore({}, { language: 'fr' });
  onTestFinished(() => store.close());
  let arrived = 0;
  const waiting: (() => void)[] = [];
  store.intercept = ({ method }, _response, proceed) => {
    if (method !== 'POST') return false;
    arrived += 1;
    waiting.push(proceed);
    // Neither is answered before both have arrived.
    if (arrived === 2) for (const answer of waiting) answer();
    return true;
  };
  const folder = folderWith({
    'settings.yaml': `version: 1
settings: { language: en }
environments:
  one: { server: { url: "${store.url}", api_key: "\${env:SETPOINT_ONE}" } }
  two: { server: { url: "${store.url}", api_key: "\${env:SETPOINT_TWO}" } }
`,
  });
  onTestFinished(() => folder.remove());
  const ended = await setpoint(['apply', '--all', '--yes', '--parallel', '2'], {
    cwd: folder.path,
    env: { SETPOINT_ONE: 'the-key-of-one', SETPOINT_TWO: 'the-key-of-two' },
  });
  expect(ended.code, ended.stderr).toBe(0);
  expect(arrived).toBe(2);
});
