import type { Call, Turn } from "../../contracts/generated/trajectory.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import type { JournalTurn } from "./turn-journal.ts";

/** A turn of the journal as a trajectory's record tells it. */
export function turnRecord({ generated, begun, calls }: JournalTurn): Turn {
  const toolCalls = calls.map(callRecord);
  const { agent, action, said } = generated;
  const unanswered = begun - calls.length;
  return {
    ...(agent === undefined ? {} : { agent }),
    action,
    toolCalls,
    ...(unanswered === 0 ? {} : { unanswered }),
    ...(said === undefined ? {} : { said }),
  };
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
  return {
    tool,
    arguments: given,
    observation,
    valid,
    attempts,
    ...(approval === undefined ? {} : { approval }),
    ...(invalid === undefined ? {} : { invalid }),
    ...(media === undefined ? {} : { media }),
    ...(whole === undefined ? {} : { whole }),
    ...(done === undefined ? {} : { done }),
    ...(byLoop === undefined ? {} : { byLoop }),
  };
}
