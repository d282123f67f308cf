import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { vi } from "vitest";
import { processIdentity, stateOf } from "../../src/base/processes/process-identity.ts";
import type { MemoryCall } from "./memory-run.ts";

/** What a tools worker in a process of its own may be asked. */
export type Asked =
  | { what: "queue" | "renew" | "leave" }
  | { what: "call"; call: MemoryCall }
  | { what: "serve"; address: string };

/** Starts a tools worker of a memory run in a process of its own. It is asked one thing after the other. */
export async function startToolHolder(runs: string, run: string) {
  const child = fork(join(import.meta.dirname, "tool-holder-process.ts"), [runs, run]);
  const { pid = -1 } = child;
  const identity = processIdentity(pid);
  if (identity === undefined) throw new Error("the tools worker did not start");

  async function ask(asked: Asked) {
    child.send(asked);
    const [{ answer, failure }] = await once(child, "message");
    if (failure !== undefined) throw Object.assign(new Error(failure.message), failure);
    return answer;
  }

  return {
    pid,
    queue: String(await ask({ what: "queue" })),
    call: (call: MemoryCall): Promise<string[]> => ask({ what: "call", call }),
    renew: () => ask({ what: "renew" }),
    /** Works on the queue `tools` of a server and on its own one, with one slot on each. */
    serve: (address: string) => ask({ what: "serve", address }),
    /** Leaves the queue `tools`. */
    leave: () => ask({ what: "leave" }),
    /** Stops it as a signal does, for as long as `work` takes. */
    whileStopped: async <Result>(work: () => Promise<Result>): Promise<Result> => {
      process.kill(pid, "SIGSTOP");
      await vi.waitUntil(() => stateOf(identity) === "stopped", { timeout: 120_000 });
      try {
        return await work();
      } finally {
        process.kill(pid, "SIGCONT");
      }
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
