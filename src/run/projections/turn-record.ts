import { defined } from "../../base/records/defined.ts";
import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { Call, Turn } from "../../contracts/generated/trajectory.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";

/** A turn as the journal holds it: what was generated, how many calls it began, and those that have been answered. */
export interface JournalTurn {
  generated: GenerateTurnResult;
  begun: number;
  calls: RecordedCall[];
}

/** A turn of the journal as a trajectory's record tells it. */
export function turnRecord({ generated, begun, calls }: JournalTurn): Turn {
  const toolCalls = calls.map(callRecord);
  const { agent, action, said } = generated;
  const unanswered = begun - calls.length;
  return defined({
    agent,
    action,
    toolCalls,
    unanswered: unanswered === 0 ? undefined : unanswered,
    said,
  });
}

/** A call of the journal as a trajectory's record tells it. */
export function callRecord(call: RecordedCall): Call {
  const {
    tool,
    arguments: given,
    observation,
    valid,
    attempts,
    approval,
    invalid,
    media,
    whole,
    done,
    byLoop,
  } = call;
  return defined({
    tool,
    arguments: given,
    observation,
    valid,
    attempts,
    approval,
    invalid,
    media,
    whole,
    done,
    byLoop,
  });
}
