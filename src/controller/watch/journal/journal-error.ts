import { SetpointError, systemCode } from '../../../reconciler/model/error.ts';

export function notWritten(folder: string, cause: unknown): SetpointError {
  const message = `The journal in ${folder} cannot be written${codeOf(cause)}.`;
  const hint = 'Check the folder: its disk may be full, or it may not be writable.';
  return new SetpointError('output-failed', message, { hint, cause });
}

export function notRead(folder: string, cause: unknown): SetpointError {
  const message = `The journal in ${folder} cannot be read${codeOf(cause)}.`;
  const hint = 'Check who may read the folder and its files.';
  return new SetpointError('file-unreadable', message, { hint, cause });
}

function codeOf(cause: unknown): string {
  const code = systemCode(cause);
  return code === '' ? '' : ` (${code})`;
}
