import { EverturnError } from "../src/base/errors/everturn-error.ts";
import { messageOf } from "../src/base/errors/message-of.ts";
import type { FrameMessageInput, FrameMessageResult } from "../src/contracts/activities.ts";
import type { PolicyWorker } from "../src/work/workers/policy-worker.ts";

/**
 * Frames a message that a person adds to a trajectory, to check that the policy's chat template writes it
 * between two actions. Some templates drop a system message, and others reject it. Throws MESSAGE_NOT_FRAMED.
 */
export function frameMessage(worker: PolicyWorker) {
  return async ({ run, message }: FrameMessageInput): Promise<FrameMessageResult> => {
    const { role, content } = message;
    const { frameObservation } = await worker.framing(run);
    const framed = attempt();
    if (framed.text.includes(content.trim())) return { tokens: framed.tokens.length };
    throw new EverturnError("MESSAGE_NOT_FRAMED", { role, reason: "it leaves the message out" });

    function attempt() {
      try {
        return frameObservation([message]);
      } catch (error) {
        const reason = messageOf(error);
        throw new EverturnError("MESSAGE_NOT_FRAMED", { role, reason }, { cause: error });
      }
    }
  };
}
