import { flushCompileCache } from "node:module";
import { messageOf } from "../../base/errors/message-of.ts";
import { toolThread } from "../../work/tools/tool-thread.ts";
import type { HolderSaid, HolderStart } from "./killed-holder.ts";

// The process of a worker that holds an instance of a tool until it is killed.

function say(said: HolderSaid): void {
  process.send?.(said);
}

process.once("message", async ({ resolved, name, task, first, called }: HolderStart) => {
  const { config } = resolved;
  const { signal } = new AbortController();
  const instance = "check/killed";
  try {
    const { plugin } = await toolThread(resolved, name, () => {});
    const hold = (handle: Extract<HolderSaid, { handle: unknown }>["handle"]) => say({ handle });
    const state = await plugin.create?.({ instance, task, config, environment: {}, signal, hold });
    const key = `${instance}/1/0`;
    const execution = { instance, function: called, key, attempt: 1, config, isReplay: false, signal };
    if (first !== undefined) await plugin.execute(first.arguments, execution, state);
    flushCompileCache(); // a killed process can't write it later
    say({ ready: true });
  } catch (error) {
    say({ failed: messageOf(error) });
  }
});
process.on("disconnect", () => process.exit()); // the process that was to kill this one has gone
