import type { Failure } from "../../contracts/recorded-call.ts";
import type { TrajectoryDetail } from "../../run/projections/trajectory-detail.ts";
import { failureKey, type TrajectoryName } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { readCalls } from "../../run/trajectory/turn-journal.ts";

/** A call of a tool, or the score, as a timeline shows it. */
export interface ToolTiming {
  name: string;
  /** Seconds of the execution that answered; undefined if none did. */
  seconds: number | undefined;
  attempts: number;
  failures: Failure[];
}

/** A turn of a timeline. */
export interface ActionTiming {
  turn: number;
  /** Seconds from the request of the action to its end; undefined if the turn's file is absent. */
  seconds: number | undefined;
  calls: ToolTiming[];
}

/** When a trajectory's turns and calls took place, as far as recorded. */
export interface Timeline {
  turns: ActionTiming[];
  /** Failed executions of its score. */
  scoreFailures: Failure[];
}

/** Reads the durations of a trajectory's turns and calls, with the failed attempts of each call. */
export async function readTimeline(
  reader: Pick<Store, "read">,
  name: TrajectoryName,
  { turns, record }: TrajectoryDetail,
): Promise<Timeline> {
  const timed = await Promise.all(
    turns.map(async ({ generated, toolCalls }, index): Promise<ActionTiming> => {
      const turn = index + 1;
      const begun = toolCalls.length + (record?.turns[index]?.unanswered ?? 0);
      const answered = new Map(
        (await readCalls(reader, name, turn, begun)).map(({ call, recorded }) => [call, recorded]),
      );
      const numbers = Array.from({ length: begun }, (_, call) => call);
      const calls = await Promise.all(
        numbers.map(async (call): Promise<ToolTiming> => {
          const recorded = answered.get(call);
          const attempts = recorded?.attempts ?? 0;
          const mayHaveFailed = recorded === undefined || attempts > 1;
          return {
            name:
              recorded === undefined ? `call ${call + 1}, not answered` : recorded.tool || "unreadable call",
            seconds: recorded?.seconds,
            attempts,
            failures: mayHaveFailed ? await failuresOf(reader, name, { turn, call }) : [],
          };
        }),
      );
      return { turn, seconds: generated?.seconds, calls };
    }),
  );
  return { turns: timed, scoreFailures: await failuresOf(reader, name, "score") };
}

async function failuresOf(
  reader: Pick<Store, "read">,
  name: TrajectoryName,
  of: Parameters<typeof failureKey>[1],
): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (;;) {
    const failure = await reader.read(failureKey(name, of, failures.length + 1));
    if (failure === undefined) return failures;
    failures.push(failure);
  }
}
