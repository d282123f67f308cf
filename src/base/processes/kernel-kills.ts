import { controlGroups } from "./control-groups.ts";
import { kernelText } from "./kernel-text.ts";

/** Milliseconds between two looks at the kernel's counter. */
const interval = 1000;

/**
 * Watches whether the kernel kills processes for want of memory: in this process's control group, or on the machine where groups
 * do not count. `stop` ends the watch and says whether it killed one in about the last second. An earlier kill, such as
 * that of a sandboxed program hours ago, is no reason why a process ends now.
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
