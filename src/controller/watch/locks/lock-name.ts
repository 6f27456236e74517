import { createHash } from 'node:crypto';

const LONGEST = 120;

/**
 * The name of a lock as the name of a file, on every file system: no two locks have the same, also when capitals do not count
 * there. What is too long for one is its digest.
 */
export function fileName(lock: string): string {
  const written = [...Buffer.from(lock, 'utf8')].map((byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z\d_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
  });
  const text = written.join('');
  return text.length <= LONGEST ? `lock-${text}` : `digest-${digest(lock)}`;
}

/** The name of a lock as the name of an object of Kubernetes: what can be read of it, and its digest. */
export function objectName(lock: string): string {
  const readable = lock
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  return `setpoint-lock-${readable === '' ? '' : `${readable}-`}${digest(lock).slice(0, 32)}`;
}

function digest(lock: string): string {
  return createHash('sha256').update(lock).digest('hex');
}
