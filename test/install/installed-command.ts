import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** A folder to install into, where no Node, and no program at all, is on PATH. */
export function makeHome(): { readonly path: string; readonly run: typeof run; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'setpoint-install-'));
  mkdirSync(join(path, 'empty'));
  function run(program: string, args: readonly string[], input = '', env = {}) {
    const ended = spawnSync(program, args, {
      cwd: path,
      input,
      encoding: 'utf8',
      env: { PATH: join(path, 'empty'), HOME: path, ...env },
    });
    return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
  }
  return { path, run, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Writes a settings file of the service inside. */
export function writeSettings(folder: string): void {
  writeFileSync(
    join(folder, 'settings.yaml'),
    'version: 1\nserver: { url: "embedded:./store" }\nsettings: { language: fr }\n',
  );
}

/** Tests what every way to install promises: the service inside, stdin, exit codes, colours and signals. */
export function testCommand(
  { path, run }: ReturnType<typeof makeHome>,
  command: () => string,
  skipped: boolean,
): void {
  it.skipIf(skipped)('plans and applies with the service inside', () => {
    writeSettings(path);
    rmSync(join(path, 'store'), { recursive: true, force: true });
    expect(run(command(), ['plan'])).toMatchObject({ code: 0, stderr: '' });
    expect(run(command(), ['drift']).code).toBe(2);
    expect(run(command(), ['apply', '--yes']).stdout).toContain('Applied 1 change.');
    expect(run(command(), ['drift']).code).toBe(0);
  });

  it.skipIf(skipped)('passes on stdin, exit codes and colours', () => {
    expect(run(command(), ['plan', '-f', 'no such file.yaml']).code).toBe(3);
    const list = '{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":[]}';
    expect(run(command(), ['render', 'krm'], list)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('functionConfig'),
    });
    const coloured = run(command(), ['plan', '-f', 'nope.yaml'], '', { FORCE_COLOR: '1' });
    expect(coloured.stderr).toContain('\u001B[');
  });

  it.skipIf(skipped).each(['SIGTERM', 'SIGINT'] as const)('ends by %s', async (signal) => {
    const child = spawn(command(), ['serve', '--port', '0'], { cwd: path, env: { HOME: path } });
    const ended = new Promise((resolve) => {
      child.on('exit', (code, by) => resolve(by ?? code));
    });
    await new Promise((resolve) => {
      child.stdout.once('data', resolve);
      child.stderr.once('data', resolve);
    });
    child.kill(signal);
    expect(await ended).toBe(0);
  });
}
