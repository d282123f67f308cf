import { duration } from "../../base/text/format.ts";
import type { HostChange } from "../../work/tools/breaker.ts";

/** One line for a tools' host that was paused, works again, or is given up. */
export function hostLine({ host, state, reason, seconds }: HostChange): string {
  switch (state) {
    case "paused":
      return [
        `the tools' host ${host} keeps failing; its calls wait (hosts.${host}.patience says how long): ${reason}`,
        "If a tool throws over what the model wrote, let it answer { text, error: true } instead.",
      ].join(". ");
    case "resumed":
      return `the tools' host ${host} works again after ${duration(seconds)}`;
    case "down":
      return `the tools' host ${host} is down for ${duration(seconds)}; calls that wait for it fail: ${reason}`;
  }
}
