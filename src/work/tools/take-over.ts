import { stateOf } from "../../base/processes/process-identity.ts";
import type { SilentWorker } from "../../contracts/activities.ts";
import type { InstanceHolder } from "../../contracts/instance-holder.ts";
import type { OpenTool } from "./open-tool.ts";

/** A worker that would serve a call. */
interface Candidate {
  worker: string;
  queue: string;
}

/** Where no other worker can recover the state, a holder that does not answer is waited for, ms. */
const patience = 5 * 60_000;

/**
 * Whether a worker may make or recover an instance that `holder` took last: its own, and one whose worker is gone. A
 * queue of this machine has one worker at a time, so one that had the candidate's queue before it is gone.
 * One that did not take what it was asked is silent only if it can't take anything: stopped, or, as far as is known here,
 * on another machine. One that works on this machine is busy, and comes to it.
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
