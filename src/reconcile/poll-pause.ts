/** Between looks at something that takes its time: from half a second on, growing to five. Milliseconds. */
export const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 5000;

export function nextPause(pause: number): number {
  return Math.min(LONGEST_PAUSE, pause * 1.5);
}
