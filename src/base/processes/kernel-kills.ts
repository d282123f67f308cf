import { controlGroups } from "./control-groups.ts";
import { kernelText } from "./kernel-text.ts";

/** Ms between two reads of the kernel's counter. */
const interval = 1000;

/**
 * Watches whether the kernel kills processes for lack of memory, in this process's control group or, if groups don't
 * count kills, on the whole machine. `stop` ends the watch and returns whether a kill happened within about the last
 * second. An earlier kill, such as that of a sandboxed program hours ago, does not explain why a process ends now.
 */
export function watchKernelKills(count = kernelKills): { stop(): boolean } {
  let before = count();
  const timer = setInterval(() => {
    before = count();
  }, interval);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return count() > before;
    },
  };
}

function kernelKills(): number {
  const [own] = controlGroups();
  if (own?.kills !== undefined) return own.kills;
  return Number(/^oom_kill (\d+)$/m.exec(kernelText("/proc/vmstat"))?.[1] ?? 0);
}
