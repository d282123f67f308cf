import { existsSync, readFileSync } from "node:fs";

const status = "/proc/self/status";

/** The most memory that this process has had, in bytes. Linux counts into `maxRSS` what had been its parent's as it was started. */
export function peakMemory(): number {
  const kilobytes = existsSync(status) && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1];
  return 1024 * (kilobytes ? Number(kilobytes) : process.resourceUsage().maxRSS);
}
