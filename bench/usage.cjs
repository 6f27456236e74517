// Loaded before a program that is measured: leaves in the file BENCH_USAGE the KiB of memory that the process had at most, and the
// milliseconds that processors worked for it; also for each BENCH_EVERY milliseconds, if that is set, with the memory it had then.
const { readFileSync, writeFileSync } = require('node:fs');

const samples = [];
if (process.env.BENCH_EVERY !== undefined)
  setInterval(() => samples.push(sample()), Number(process.env.BENCH_EVERY)).unref();

process.on('exit', () => {
  const kibibytes = Number(fromKernel() ?? process.resourceUsage().maxRSS);
  const { busy } = sample();
  writeFileSync(process.env.BENCH_USAGE, JSON.stringify({ kibibytes, busy, samples }));
});

function sample() {
  const { user, system } = process.cpuUsage();
  const mebibytes = process.memoryUsage.rss() / 1024 / 1024;
  return { at: performance.now(), busy: (user + system) / 1000, mebibytes };
}

/** Linux's own count for this program. What resourceUsage has there includes the process that started it, before the exec. */
function fromKernel() {
  try {
    return /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
