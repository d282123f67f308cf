import type { TurnRecord } from "../contracts/trajectory.ts";
import type { TurnEntry } from "./turn-journal.ts";

/** A turn of the journal as a trajectory's record tells it. */
export function turnRecord({ generated, begun, calls }: TurnEntry): TurnRecord {
  const toolCalls = calls.map(({ tool, arguments: given, observation, valid, attempts, approval }) => ({
    ...{ tool, arguments: given, observation, valid, attempts },
    ...(approval === undefined ? {} : { approval }),
  }));
  const { action, said } = generated;
  const unanswered = begun - calls.length;
  return {
    ...{ action, toolCalls },
    ...(unanswered === 0 ? {} : { unanswered }),
    ...(said === undefined ? {} : { said }),
  };
}
