// Serves the pages of a folder of runs. For each message of its parent it answers with the longest time since the last message in
// which its thread did no other work, and with the longest CPU time of the thread in such a time, both in ms.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { startUi } from "../../src/apps/ui/start-ui.ts";

/** How often the delay is measured, in ms. A timer that is late by nothing counts as this. */
const resolution = 5;

const { url } = await startUi(process.argv[2] ?? "runs", 0, undefined);
const delays = monitorEventLoopDelay({ resolution });
delays.enable();
let work = 0;
let last = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  last = process.threadCpuUsage();
  work = Math.max(work, (user + system) / 1000);
}, resolution);
process.on("message", () => {
  process.send?.({ pause: delays.max / 1e6 - resolution, work });
  delays.reset();
  work = 0;
});
process.send?.({ url });
