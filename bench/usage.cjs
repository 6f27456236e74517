// Loaded before a program that is measured: leaves in the file BENCH_USAGE the KiB of memory that the process had at most, and the
// milliseconds that processors worked for it.
const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const kibibytes = Number(fromKernel() ?? maxRSS);
  const busy = (userCPUTime + systemCPUTime) / 1000;
  writeFileSync(process.env.BENCH_USAGE, JSON.stringify({ kibibytes, busy }));
});

/** Linux's own count for this program. What resourceUsage has there includes the process that started it, before the exec. */
function fromKernel() {
  try {
    return /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
