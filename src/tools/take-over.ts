import type { SilentWorker } from "../contracts/activities.ts";
import type { InstanceHolder } from "../contracts/instance-holder.ts";
import { isRunning } from "../processes/process-identity.ts";
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
 * Of another machine's worker nobody here knows more than that it did not take what it was asked.
 */
export function mayTakeOver(
  holder: InstanceHolder,
  { worker, queue }: Candidate,
  recovery: OpenTool["recovery"],
  silent: SilentWorker | undefined,
): boolean {
  if (holder.worker === worker || holder.queue === queue) return true;
  if (isRunning(holder.owner) === false) return true;
  if (silent?.queue !== holder.queue) return false;
  return recovery !== "fail" || silent.ms >= patience;
}
