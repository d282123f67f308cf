import { stateOf } from "../../base/processes/process-identity.ts";
import type { SilentWorker } from "../../contracts/activities.ts";
import type { InstanceHolder } from "../../contracts/instance-holder.ts";
import type { OpenTool } from "./open-tool.ts";

/** A worker that could serve a call. */
interface Candidate {
  worker: string;
  queue: string;
}

/** Milliseconds to wait for a holder that does not answer, if no other worker can recover the state. */
const patience = 5 * 60_000;

/**
 * Whether a worker may create or recover an instance that `holder` took last: its own instance, or one whose
 * worker is gone. A queue of this machine has one worker at a time, so an earlier worker of the candidate's
 * queue is gone. A holder that did not take a call is silent only if it can't take any, because it is stopped
 * or, as far as this machine knows, because it is on another machine. A holder that works on this machine is
 * busy and will take it later.
 */
export function mayTakeOver(
  holder: InstanceHolder,
  { worker, queue }: Candidate,
  recovery: OpenTool["recovery"],
  silent: SilentWorker | undefined,
): boolean {
  if (holder.worker === worker || holder.queue === queue) return true;
  const state = stateOf(holder.owner);
  if (state === "gone") return true;
  if (state === "working" || silent?.queue !== holder.queue) return false;
  return recovery !== "fail" || silent.ms >= patience;
}
