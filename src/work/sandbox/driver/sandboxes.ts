import type { SandboxLimits, SessionOptions } from "../sandbox.ts";
import { startedAhead } from "../started-ahead.ts";
import type { RunningSandbox } from "./running-sandbox.ts";
import type { Sandboxes } from "./sandbox-session.ts";

/**
 * Returns sandboxes for sessions, some of them prestarted. `memory` is the MiB of one before its first
 * program.
 */
export function sandboxesAhead(
  kind: string,
  memory: number,
  start: (limits: SandboxLimits, options?: SessionOptions) => Promise<RunningSandbox>,
): Sandboxes & { close(): Promise<void> } {
  const ahead = startedAhead<RunningSandbox>({
    memory,
    isOver: ({ channel }) => channel.child.exitCode !== null || channel.child.signalCode !== null,
    end: (one) => one.end(),
  });
  return {
    kind,
    start,
    ready: (limits) => ahead.take(JSON.stringify(limits), () => start(limits)),
    close: () => ahead.close(),
  };
}
