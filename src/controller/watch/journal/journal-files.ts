import { constants } from 'node:fs';
import { open, readdir, rm, stat, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { SetpointError, systemCode } from '../../../reconciler/model/error.ts';

/** The file that is written. */
export const CURRENT = 'journal.jsonl';
const PUT_AWAY = /^journal-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)-\d+\.jsonl$/;

/** Links that another process has put into the folder are not followed, and nothing waits for the writer of a pipe. */
const UNLINKED = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const READING = constants.O_RDONLY | UNLINKED;
const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | UNLINKED;

/** The files of a journal, the oldest first. */
export async function journalFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const before = names.filter((name) => PUT_AWAY.test(name)).toSorted();
  return names.includes(CURRENT) ? [...before, CURRENT] : before;
}

/** The name of a file that is put away: it comes after the last one, also if the clock was set back. */
export function nextName(last: string | undefined, now: number): string {
  const [, text = ''] = PUT_AWAY.exec(last ?? '') ?? [];
  const before = Date.parse(text.replace(/T(\d\d)-(\d\d)-(\d\d)-/, 'T$1:$2:$3.'));
  const at = Number.isNaN(before) ? now : Math.max(now, before + 1);
  const stamp = new Date(at).toISOString().replaceAll(/[:.]/g, '-');
  return `journal-${stamp}-${process.pid}.jsonl`;
}

/** Does work that no other process does meanwhile, or leaves it if one does. One that was killed during it counts for a minute. */
export async function alone(path: string, work: () => Promise<void>): Promise<void> {
  const mark = await open(path, 'wx', 0o600).catch(async (thrown: unknown) => {
    if (systemCode(thrown) !== 'EEXIST') throw thrown;
    const { mtimeMs = Date.now() } = (await stat(path).catch(() => null)) ?? {};
    if (Math.abs(Date.now() - mtimeMs) > 60_000) await rm(path, { force: true });
    return null;
  });
  if (mark === null) return;
  try {
    await mark.close();
    await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Reports whether a journal can be opened for writing, and its disk has room for some more records, if the system reports that. */
export async function hasRoom(folder: string): Promise<boolean> {
  try {
    const file = await open(join(folder, CURRENT), constants.O_RDWR | UNLINKED);
    await file.close();
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize >= LITTLE;
  } catch {
    return false;
  }
}

const LITTLE = 64 * 1024;

/** A line of a file: its text, and the byte after its end. One that does not end with a newline was cut off, or is being written. */
export interface FileLine {
  readonly text: string;
  readonly end: number;
  readonly isWhole: boolean;
}

/** The lines of a file from a byte on, without those that are empty. */
export async function* readFileLines(path: string, from = 0): AsyncGenerator<FileLine> {
  const file = await openToRead(path);
  const input = file.createReadStream({ start: from });
  let parts: Buffer[] = [];
  let end = from;
  const taken = (last: Buffer, isWhole: boolean): FileLine => {
    const text = Buffer.concat([...parts, last])
      .toString()
      .trim();
    parts = [];
    return { text, end, isWhole };
  };
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let begin = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, begin)) {
        end += at + 1 - begin;
        const line = taken(chunk.subarray(begin, at), true);
        begin = at + 1;
        if (line.text !== '') yield line;
      }
      end += chunk.length - begin;
      parts.push(chunk.subarray(begin));
    }
    const rest = taken(Buffer.alloc(0), false);
    if (rest.text !== '') yield rest;
  } finally {
    input.destroy();
  }
}

async function openToRead(path: string): Promise<FileHandle> {
  const file = await open(path, READING);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error('it is not a file');
}

/** The bytes of a line, without its end. */
export type Span = readonly [from: number, to: number];

const CHUNK = 1024 * 1024;

/** The whole lines of a file, from a byte on, that have a text in them; and the byte after the last whole line. */
export async function linesWith(
  path: string,
  text: Uint8Array,
  from: number,
): Promise<{ readonly spans: readonly Span[]; readonly end: number }> {
  const file = await openToRead(path);
  const spans: Span[] = [];
  let end = from;
  let room = Buffer.allocUnsafe(CHUNK);
  try {
    for (;;) {
      const { bytesRead } = await file.read(room, 0, room.length, end);
      const lines = room.subarray(0, room.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1);
      if (lines.length === 0 && bytesRead < room.length) return { spans, end };
      // A line that is longer than there is room.
      if (lines.length === 0) room = Buffer.allocUnsafe(2 * room.length);
      for (let at = lines.indexOf(text); at >= 0;) {
        const stop = lines.indexOf(NEWLINE, at);
        spans.push([end + lines.lastIndexOf(NEWLINE, at) + 1, end + stop]);
        at = lines.indexOf(text, stop);
      }
      end += lines.length;
    }
  } finally {
    await file.close();
  }
}

/** The lines of a file at some places. */
export async function readSpans(path: string, spans: readonly Span[]): Promise<readonly string[]> {
  const file = await openToRead(path);
  try {
    const texts: string[] = [];
    for (const [from, to] of spans) texts.push((await readByteRange(file, from, to)).toString());
    return texts;
  } finally {
    await file.close();
  }
}

/** The result of appending lines to a file. `joined`: they follow the rest of a line of another process, and cannot be read. */
export interface AppendResult {
  /** The number of the file in its file system: its name may be another one by now. */
  readonly file: number;
  readonly isNew: boolean;
  readonly joined: boolean;
}

/**
 * Appends whole lines to a file, at once, and syncs it. Other processes may append to it at the same time, and may have left an incomplete
 * line, which stays unchanged. `isWritten` receives the number of the file and the number of appended bytes, before they are synced. Throws
 * if the lines cannot be written or synced; then they are removed again if the disk permits that.
 */
export async function appendLines(
  path: string,
  lines: string,
  isWritten: (file: number, bytes: number) => Promise<void>,
): Promise<AppendResult> {
  const file = await open(path, APPENDING, 0o600);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error('it is not a file');
    const { size, ino } = found;
    const isTorn = size > 0 && (await readByteRange(file, size - 1, size))[0] !== NEWLINE;
    const text = Buffer.from(`${isTorn ? '\n' : ''}${lines}`);
    const { bytesWritten } = await file.write(text);
    const written = text.subarray(0, bytesWritten);
    try {
      if (bytesWritten < text.length) throw new Error('only a part was written');
      await isWritten(ino, bytesWritten);
      await file.sync();
    } catch (thrown) {
      await takeBack({ path, file, written, from: size }).catch(() => {});
      throw thrown;
    }
    const joined = !isTorn && (await hasCutLineBefore(file, written, size));
    if (joined) await takeBack({ path, file, written, from: size });
    return { file: ino, isNew: size === 0, joined };
  } finally {
    await file.close();
  }
}

const NEWLINE = 0x0a;

/** Reports whether another process has appended a line that is cut off right before the written lines, after the check. */
async function hasCutLineBefore(file: FileHandle, written: Buffer, from: number): Promise<boolean> {
  const place = await findAppendOffset(file, written, from);
  return place > from && (await readByteRange(file, place - 1, place))[0] !== NEWLINE;
}

/** Returns the offset of the written bytes, which were appended when the file had at least this size. */
async function findAppendOffset(file: FileHandle, written: Buffer, from: number): Promise<number> {
  const { size } = await file.stat();
  if (size === from + written.length) return from;
  const place = (await readByteRange(file, from, size)).indexOf(written);
  if (place < 0) throw new Error('what was written is not in the file');
  return from + place;
}

/** Makes empty lines of what was written. Nothing is cut off, since another process may have appended to it. */
async function takeBack({
  path,
  file,
  written,
  from,
}: {
  readonly path: string;
  readonly file: FileHandle;
  readonly written: Buffer;
  readonly from: number;
}): Promise<void> {
  const place = await findAppendOffset(file, written, from);
  // A file that is open for appending takes nothing anywhere else.
  const same = await open(path, constants.O_RDWR | UNLINKED);
  try {
    if ((await same.stat()).ino !== (await file.stat()).ino) return;
    await same.write(Buffer.alloc(written.length, NEWLINE), 0, written.length, place);
    await same.sync();
  } finally {
    await same.close();
  }
}

async function readByteRange(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
  return buffer.subarray(0, bytesRead);
}

export function createJournalError(folder: string, cause: unknown): SetpointError {
  const message = `The journal in ${folder} cannot be written${readErrorCode(cause)}.`;
  const hint = 'Check the folder: its disk may be full, or it may not be writable.';
  return new SetpointError('output-failed', message, { hint, cause });
}

export function notRead(folder: string, cause: unknown): SetpointError {
  const message = `The journal in ${folder} cannot be read${readErrorCode(cause)}.`;
  const hint = 'Check who may read the folder and its files.';
  return new SetpointError('file-unreadable', message, { hint, cause });
}

function readErrorCode(cause: unknown): string {
  const code = systemCode(cause);
  return code === '' ? '' : ` (${code})`;
}
