import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { SetpointError, systemCode, usageError } from '../model/error.ts';
import type { PlanDocument } from '../model/plan.ts';
import type { Variables } from '../model/ports.ts';
import { pathExists, readText } from './read-text.ts';
import { writeAside } from './write-aside.ts';

/** The folder of approvals in the data folder of a controller. */
const FOLDER = 'approvals';

/** The variable of the key that approvals are signed with. */
export const APPROVAL_KEY = 'SETPOINT_APPROVAL_KEY';
const SHORTEST_KEY = 16;
const LARGEST = 64 * 1024 * 1024;
/** The names that `createApproval` gives. An agent names an approval, so a name leads to no other file. */
const NAME = /^[0-9a-f]{16}$/;

/** A person's permission to apply one saved plan, once, until a time. It contains the plan: a file that changes later changes nothing. */
export interface Approval {
  readonly kind: 'approval';
  readonly name: string;
  /** The user of the machine who approved. */
  readonly approved_by: string;
  /** ISO 8601, UTC. */
  readonly approved_at: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  readonly plan: PlanDocument;
}

/**
 * Signs and writes an approval of a plan. Only processes that have SETPOINT_APPROVAL_KEY can: an agent that can write files cannot approve.
 * Throws usage without the key, output-failed if the file cannot be written.
 */
export async function createApproval(
  data: string,
  plan: PlanDocument,
  {
    now,
    lifetime,
    env,
  }: { readonly now: number; readonly lifetime: number; readonly env: Variables },
): Promise<Approval> {
  const key = approvalKey(env);
  const approval: Approval = {
    kind: 'approval',
    name: randomBytes(8).toString('hex'),
    approved_by: userInfo().username,
    approved_at: new Date(now).toISOString(),
    expires_at: new Date(now + lifetime).toISOString(),
    plan,
  };
  await mkdir(join(data, FOLDER), { recursive: true });
  const text = JSON.stringify({ ...approval, signature: sign(approval, key) });
  await writeAside(approvalFile(data, approval.name), `${text}\n`);
  return approval;
}

/**
 * The approval of a name. Throws not-covered if there is none, if it was not signed with SETPOINT_APPROVAL_KEY, or if it has expired. No
 * message contains anything of the file.
 */
export function readApproval(
  data: string,
  name: string,
  { now, env }: { readonly now: number; readonly env: Variables },
): Approval {
  const key = approvalKey(env);
  if (!NAME.test(name))
    throw createRefusal(
      'That is not the name of an approval.',
      'setpoint approve prints the name.',
    );
  const approval = parseApproval(data, name, key);
  if (approval === null)
    throw createRefusal(
      `There is no approval ${name} that was signed with ${APPROVAL_KEY}.`,
      'A person makes one: setpoint approve PLAN.json.',
    );
  if (!(now < Date.parse(approval.expires_at)))
    throw createRefusal(`The approval ${name} expired at ${approval.expires_at}.`, APPROVE_AGAIN);
  if (pathExists(formatUsePath(data, name))) throw createUsedRefusal(name);
  return approval;
}

function parseApproval(data: string, name: string, key: string): Approval | null {
  try {
    const read = readText(approvalFile(data, name), LARGEST);
    if (!('text' in read)) return null;
    const { signature, ...approval } = JSON.parse(read.text) as Approval & {
      readonly signature: unknown;
    };
    const isSigned =
      typeof signature === 'string' && isSameSignature(signature, sign(approval, key));
    return isSigned && approval.kind === 'approval' && approval.name === name ? approval : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof SetpointError) return null;
    throw thrown;
  }
}

/**
 * Marks an approval as used, before the first write: of several processes one succeeds. Throws not-covered if it was used before,
 * output-failed if that cannot be recorded.
 */
export async function useApproval(
  data: string,
  name: string,
  use: { readonly now: number; readonly by: string },
): Promise<void> {
  const record = { name, used_at: new Date(use.now).toISOString(), used_by: use.by };
  try {
    await writeFile(formatUsePath(data, name), `${JSON.stringify(record)}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') throw createUsedRefusal(name);
    throw new SetpointError(
      'output-failed',
      `The use of approval ${name} could not be recorded. Nothing was sent.`,
      { hint: 'Check that the folder of approvals is writable.', cause: thrown },
    );
  }
}

/** The path of the record of an approval's use. */
function formatUsePath(data: string, name: string): string {
  return join(data, FOLDER, `${name}.used.json`);
}

function createUsedRefusal(name: string): SetpointError {
  return createRefusal(`The approval ${name} was used before.`, APPROVE_AGAIN);
}

const APPROVE_AGAIN = 'Plan again, and have that plan approved.';

/** Throws usage unless the key is set and long enough. */
export function approvalKey(env: Variables): string {
  const key = env[APPROVAL_KEY] ?? '';
  if (key.length >= SHORTEST_KEY) return key;
  const why =
    key === ''
      ? `${APPROVAL_KEY} is not set.`
      : `${APPROVAL_KEY} is shorter than ${SHORTEST_KEY} characters.`;
  throw usageError(
    `Approvals are signed, and ${why}`,
    'Set it to the same random text for setpoint approve and setpoint mcp, where agents cannot read it: openssl rand -hex 32.',
  );
}

function sign(approval: Approval, key: string): string {
  // As a reader has it: of two members of one name, and of undefined ones, one form is left.
  const text = JSON.stringify(JSON.parse(JSON.stringify(approval)));
  return createHmac('sha256', key).update(text).digest('hex');
}

function isSameSignature(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function approvalFile(data: string, name: string): string {
  return join(data, FOLDER, `${name}.json`);
}

function createRefusal(message: string, hint: string): SetpointError {
  return new SetpointError('not-covered', message, { hint });
}
