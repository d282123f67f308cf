import { defined } from "../../base/records/defined.ts";
import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { Call, Turn } from "../../contracts/generated/trajectory.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";

/** A turn in the journal: the generation, the number of calls that it began, and the answered calls. */
export interface JournalTurn {
  generated: GenerateTurnResult;
  begun: number;
  calls: RecordedCall[];
}

/** Converts a journal's turn for a trajectory's record. */
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

/** Converts a journal's call for a trajectory's record. */
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
