// Loaded before a program that is measured: its clocks and timers run BENCH_SPEED times as fast. What Node itself times is not changed.
const speed = Number(process.env.BENCH_SPEED);
const { setTimeout: timeout, setInterval: interval, Date: date } = globalThis;
const [now, passed] = [date.now.bind(date), process.hrtime.bigint.bind(process.hrtime)];
const [bootTime, bootPassed] = [now(), passed()];

date.now = () => Math.round(bootTime + (now() - bootTime) * speed);
process.hrtime.bigint = () => bootPassed + (passed() - bootPassed) * BigInt(speed);
globalThis.setTimeout = (work, wait, ...args) => timeout(work, (wait ?? 0) / speed, ...args);
globalThis.setInterval = (work, wait, ...args) => interval(work, wait / speed, ...args);
