import { oneAtATime } from "../../base/async/one-at-a-time.ts";
import { defined } from "../../base/records/defined.ts";
import { EndpointProblem } from "../../chat/openai/endpoint-problem.ts";
import { requestKey } from "../../chat/openai/request-key.ts";
import type { KeptOutcome, KeptRequest, KeptResult } from "../../contracts/session.ts";
import type { Executed, TrajectoryPlace } from "../../contracts/trajectory.ts";
import { agentCallsRow } from "../../run/store/keys.ts";
import type { Journal } from "../../run/trajectory/run-journal.ts";
import { endedCalls } from "./recorded-results.ts";

/** The recorded calls of an agent's functions, as one process of the agent uses them. */
export interface KeptResults {
  /**
   * Begins a call. Returns its recorded result, or none if the call must be made now. `idempotencyKey` is the
   * same for each attempt.
   */
  begin(call: KeptRequest): { id: string; idempotencyKey: string; recorded?: KeptOutcome };
  /**
   * Records the result of a call that was made, after `turns` turns of the trajectory. Returns this result,
   * or that of an attempt that recorded one first.
   */
  end(id: string, outcome: KeptOutcome, turns: number): Promise<KeptOutcome>;
  /** Returns how a call of an action was made, or undefined if unknown. Returns the same record only once. */
  madeFor(call: { id: string } & Pick<Executed, "tool" | "arguments">): Made | undefined;
}

type Made = Required<Pick<Executed, "attempts" | "seconds">>;

interface Begun extends KeptRequest {
  key: string;
  occurrence: number;
  began: number;
}

/**
 * Opens the recorded calls of a trajectory's agent. The k-th call of a process with the same arguments
 * returns the recorded result of the k-th such call. A recorded failure is thrown again if the process that
 * saw it continued, which shows in a later turn (`turns` are recorded by now) or a later such call. Otherwise
 * the call is repeated.
 */
export async function openAgentCalls(
  place: TrajectoryPlace,
  journal: Journal,
  turns: number,
): Promise<KeptResults> {
  const row = agentCallsRow(place);
  const ended = await endedCalls(journal, place);
  const inTurn = oneAtATime();
  const counts = new Map<string, number>();
  const begun = new Map<string, Begun>();
  const told = new Set<KeptResult>();

  const outcomesOf = ({ key, occurrence }: Pick<KeptResult, "key" | "occurrence">) =>
    ended.filter((one) => one.key === key && one.occurrence === occurrence);

  function standing(call: Pick<KeptResult, "key" | "occurrence">): KeptResult | undefined {
    const outcomes = outcomesOf(call);
    return outcomes.find(isSuccess) ?? outcomes.at(-1);
  }

  /** Whether the process that saw the failure continued. */
  function isSurvived(failure: KeptResult): boolean {
    const { key, occurrence } = failure;
    return turns > failure.turns || ended.some((one) => one.key === key && one.occurrence > occurrence);
  }

  function failuresBefore({ key, occurrence }: Pick<KeptResult, "key" | "occurrence">): number {
    let failures = 0;
    for (let one = 1; one < occurrence; one++) {
      const stands = standing({ key, occurrence: one });
      if (stands !== undefined && !isSuccess(stands)) failures++;
    }
    return failures;
  }

  return {
    begin: (call) => {
      const { name, arguments: given, callId } = call;
      const key = requestKey(
        `call/${name}`,
        defined({
          arguments: given,
          callId,
        }),
      );
      const occurrence = (counts.get(key) ?? 0) + 1;
      counts.set(key, occurrence);
      const id = `${key}/${occurrence}`;
      const number = occurrence - failuresBefore({ key, occurrence });
      const idempotencyKey = `${place.id}/${name}/${key.slice(0, 16)}/${number}`;
      const known = standing({ key, occurrence });
      if (known !== undefined && (isSuccess(known) || isSurvived(known)))
        return { id, idempotencyKey, recorded: known.outcome };
      begun.set(id, { ...call, key, occurrence, began: performance.now() });
      return { id, idempotencyKey };
    },
    end: (id, outcome, now) =>
      inTurn("", async () => {
        const call = begun.get(id);
        if (call === undefined)
          throw new EndpointProblem(
            404,
            `There is no running call ${id}: send the id that /recorded_calls returned.`,
          );
        const { began, ...rest } = call;
        const record: KeptResult = {
          ...rest,
          outcome,
          turns: now,
          seconds: (performance.now() - began) / 1000,
        };
        for (;;) {
          const stands = await journal.record(row(ended.length + 1), record);
          ended.push(stands);
          if (stands === record) break;
        }
        begun.delete(id);
        return standing(call)?.outcome ?? outcome;
      }),
    madeFor: ({ id, tool, arguments: given }) => {
      const isOfCall = (result: KeptResult) =>
        result.callId === undefined
          ? keyOf(result) === keyOf({ name: tool, arguments: given })
          : result.callId === id;
      const record = ended.find((one) => isOfCall(one) && !told.has(one) && standing(one) === one);
      if (record === undefined) return undefined;
      told.add(record);
      return { attempts: outcomesOf(record).length, seconds: record.seconds };
    },
  };
}

function isSuccess({ outcome }: KeptResult): boolean {
  return !("error" in outcome);
}

function keyOf({ name, arguments: given }: KeptRequest): string {
  return requestKey(`call/${name}`, { arguments: given });
}
