import { defined } from "../../base/records/defined.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { outcomes } from "../../contracts/outcomes.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";
import { present, type Row, type ToolStructure } from "./parquet-row.ts";
import { segmentRef } from "./segment-ref.ts";
import { answeredCalls, type Stored, type StoredRecords, type StoredTurn } from "./stored-records.ts";
import { turnRecord } from "./turn-record.ts";
import { turnResult } from "./turn-result.ts";

/** Restores the records of a trajectory from its rows, which are in order. */
export function rebuilt(rows: readonly Row[]): StoredRecords {
  const [first] = rows;
  if (first === undefined) throw new Error("A trajectory has no rows.");
  if (first.exact !== null) return JSON.parse(first.exact);
  const turns: StoredTurn[] = [];
  for (let index = 0; index + 1 < rows.length; index += 2) {
    const [appended, action] = [rows[index], rows[index + 1]];
    if (appended !== undefined && action !== undefined) turns.push(keptTurn(appended, action, turns));
  }
  const record = trajectoryRecord(first, turns);
  const scoreFailures = first.score_failures === null ? [] : JSON.parse(first.score_failures);
  return record.outcome === "left-out"
    ? { leftOut: [record], turns, scoreFailures }
    : { record, leftOut: [], turns, scoreFailures };
}

function keptTurn(before: Row, row: Row, turns: readonly StoredTurn[]): StoredTurn {
  const appended: Segment = {
    previous: before.follows_turn === null ? null : (turns[before.follows_turn - 1]?.recorded.head ?? null),
    ...segmentOf(before),
  };
  const action: Segment = { previous: segmentRef(appended), ...segmentOf(row) };
  const counts = { prompt: 0, action: action.tokens.length, observation: 0 };
  if (appended.origin !== "action") counts[appended.origin] = appended.tokens.length;
  const recorded: RecordedTurn = defined({
    callsBefore: turns.at(-1)?.begun ?? 0,
    appended,
    action,
    finishReason: oneOf(finishReasons, row.finish_reason),
    head: row.segment ?? "",
    tokens: counts,
    ...present({ cutObservations: before.cut_observations }),
    seconds: row.turn_seconds ?? 0,
    workSeconds: row.work_seconds ?? 0,
    said: before.said === null ? undefined : JSON.parse(before.said),
    request: before.request === null ? undefined : JSON.parse(before.request),
  });
  return { recorded, begun: row.calls_begun ?? 0, calls: (row.calls ?? []).map(keptCall) };
}

/** Keeps the names in the order in which segments are written, because their digests depend on it. */
function segmentOf(row: Row): Omit<Segment, "previous"> {
  return {
    origin: oneOf(origins, row.origin),
    text: row.text ?? "",
    tokens: row.tokens ?? [],
    ...present({
      logprobs: row.logprobs,
      temperedLogprobs: row.tempered_logprobs,
      samplingLogprobs: row.sampling_logprobs,
      routerTies: row.router_ties,
      policyVersion: row.policy_version,
    }),
  };
}

function keptCall(structure: ToolStructure): Stored {
  const { call, failures } = structure;
  return defined({
    call: call ?? 0,
    recorded: structure.observation === null ? undefined : recordedCall(structure, structure.observation),
    failures: failures === null ? [] : JSON.parse(failures),
  });
}

function recordedCall(structure: ToolStructure, observation: string): RecordedCall {
  const { tool, approval, valid, reward, attempts, seconds, metrics, snapshot } = structure;
  const { invalid, media, whole, done } = structure;
  return defined({
    tool: tool ?? "",
    arguments: JSON.parse(structure.arguments ?? '""'),
    approval: approval === null ? undefined : oneOf(approvals, approval),
    observation,
    valid: valid === true,
    reward: reward ?? 0,
    attempts: attempts ?? 0,
    seconds: seconds ?? 0,
    metrics: metrics === null ? undefined : JSON.parse(metrics),
    media: media === null ? undefined : JSON.parse(media),
    ...present({ snapshot, invalid, whole, done }),
  });
}

function trajectoryRecord(row: Row, turns: readonly StoredTurn[]): Trajectory {
  const counted = turns.slice(0, row.turns ?? 0);
  return defined({
    id: row.trajectory ?? "",
    run: row.run ?? "",
    stage: row.stage ?? "",
    step: row.step ?? 0,
    sample: row.sample ?? 0,
    taskId: row.task ?? "",
    task: JSON.parse(row.task_json ?? "null"),
    head: row.head,
    tokens: {
      prompt: row.prompt_tokens ?? 0,
      action: row.action_tokens ?? 0,
      observation: row.observation_tokens ?? 0,
    },
    policyVersions: row.policy_versions ?? [],
    turns: counted.map((turn) => {
      const { recorded, begun } = turn;
      return turnRecord({ generated: turnResult(recorded), begun, calls: answeredCalls(turn) });
    }),
    ...present({ turnRewards: row.turn_rewards }),
    outcome: oneOf(outcomes, row.outcome),
    ...present({ answer: row.answer }),
    reward: row.reward ?? 0,
    success: row.success === true,
    ...present({ failure: row.failure }),
    metrics: row.metrics === null ? undefined : JSON.parse(row.metrics),
    ...present({ startedAt: row.started_at?.toISOString() ?? null }),
    seconds: row.trajectory_seconds ?? 0,
  });
}

const origins: Record<Segment["origin"], true> = { prompt: true, action: true, observation: true };
const finishReasons: Record<RecordedTurn["finishReason"], true> = { stop: true, length: true };
const approvals: Record<NonNullable<RecordedCall["approval"]>, true> = {
  approved: true,
  edited: true,
  answered: true,
  denied: true,
  "timed-out": true,
};

function oneOf<Name extends string>(names: Record<Name, true>, name: string | null): Name {
  if (name !== null && isOne(names, name)) return name;
  throw new Error(`A column of a step's file says ${name}, not ${Object.keys(names).join(" or ")}.`);
}

function isOne<Name extends string>(names: Record<Name, true>, name: string): name is Name {
  return Object.hasOwn(names, name);
}
