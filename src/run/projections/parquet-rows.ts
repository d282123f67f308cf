import { isDeepStrictEqual } from "node:util";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { rebuilt } from "./parquet-records.ts";
import type { Row, SegmentPart, SharedColumns, ToolStructure } from "./parquet-row.ts";
import type { Stored, StoredRecords, StoredTurn } from "./stored-records.ts";

/** How the step whose file contains a trajectory used it. */
export interface Use {
  trainedStep?: number;
  leftOutBecause?: string;
}

/**
 * The rows of an ended trajectory: one per segment, two per turn, or one if it has no turns. `rebuilt` restores
 * exactly the same records: `exact` contains everything that the columns can't express.
 */
export function rowsOf(records: StoredRecords, ending: Trajectory, use: Use): Row[] {
  const whole = trajectoryPart(ending, records, use);
  const heads = new Map(records.turns.map(({ recorded }, index) => [recorded.head, index + 1]));
  const segments = records.turns.flatMap((kept, index) => segmentParts(kept, index + 1, heads));
  const rows = (segments.length === 0 ? [nothing] : segments).map((segment) => ({ ...whole, ...segment }));
  if (isExact(rows, records)) return rows;
  const exact = JSON.stringify(records);
  return rows.map((row, index) => (index === 0 ? { ...row, exact } : row));
}

/** An unpaired surrogate can't be written as UTF-8. JSON writes it as an escape. */
const loneSurrogate = /\\ud[89a-f]/;

function isExact(rows: Row[], records: StoredRecords): boolean {
  return !loneSurrogate.test(JSON.stringify(records)) && isDeepStrictEqual(rebuilt(rows), records);
}

function trajectoryPart(
  ending: Trajectory,
  { scoreFailures }: StoredRecords,
  { trainedStep, leftOutBecause }: Use,
): SharedColumns {
  return {
    trajectory: ending.id,
    run: ending.run,
    stage: ending.stage,
    step: integer(ending.step),
    task: ending.taskId,
    sample: integer(ending.sample),
    trained_step: trainedStep ?? null,
    left_out_because: leftOutBecause ?? null,
    outcome: ending.outcome,
    reward: ending.reward,
    turn_rewards: ending.turnRewards ?? null,
    success: ending.success,
    answer: ending.answer ?? null,
    failure: ending.failure ?? null,
    metrics: json(ending.metrics),
    turns: ending.turns.length,
    policy_versions: ending.policyVersions,
    head: ending.head,
    prompt_tokens: integer(ending.tokens.prompt),
    action_tokens: integer(ending.tokens.action),
    observation_tokens: integer(ending.tokens.observation),
    started_at: time(ending.startedAt),
    trajectory_seconds: ending.seconds,
    task_json: json(ending.task),
    score_failures: scoreFailures.length === 0 ? null : json(scoreFailures),
  };
}

const nothing: SegmentPart = {
  turn: null,
  origin: null,
  text: null,
  tokens: null,
  mask: null,
  logprobs: null,
  tempered_logprobs: null,
  sampling_logprobs: null,
  router_ties: null,
  policy_version: null,
  segment: null,
  follows_turn: null,
  said: null,
  request: null,
  cut_observations: null,
  finish_reason: null,
  turn_seconds: null,
  work_seconds: null,
  calls_begun: null,
  calls: null,
  exact: null,
};

function segmentParts(
  { recorded, begun, calls }: StoredTurn,
  turn: number,
  heads: ReadonlyMap<string, number>,
): SegmentPart[] {
  const { appended, action } = recorded;
  return [
    {
      ...nothing,
      turn,
      origin: appended.origin,
      text: appended.text,
      tokens: appended.tokens,
      mask: 0,
      follows_turn: appended.previous === null ? null : (heads.get(appended.previous) ?? null),
      said: json(recorded.said),
      request: json(recorded.request),
      cut_observations: integer(recorded.cutObservations),
    },
    {
      ...nothing,
      turn,
      origin: action.origin,
      text: action.text,
      tokens: action.tokens,
      mask: 1,
      logprobs: action.logprobs ?? null,
      tempered_logprobs: action.temperedLogprobs ?? null,
      sampling_logprobs: action.samplingLogprobs ?? null,
      router_ties: action.routerTies ?? null,
      policy_version: integer(action.policyVersion),
      segment: recorded.head,
      finish_reason: recorded.finishReason,
      turn_seconds: recorded.seconds,
      work_seconds: recorded.workSeconds,
      calls_begun: begun,
      calls: calls.map(callStructure),
    },
  ];
}

function callStructure({ call, recorded, failures }: Stored): ToolStructure {
  return {
    call,
    tool: recorded?.tool ?? null,
    arguments: json(recorded?.arguments),
    observation: recorded?.observation ?? null,
    valid: recorded?.valid ?? null,
    invalid: recorded?.invalid ?? null,
    media: json(recorded?.media),
    whole: recorded?.whole ?? null,
    done: recorded?.done ?? null,
    approval: recorded?.approval ?? null,
    reward: recorded?.reward ?? null,
    attempts: integer(recorded?.attempts),
    seconds: recorded?.seconds ?? null,
    metrics: json(recorded?.metrics),
    snapshot: recorded?.snapshot ?? null,
    failures: failures.length === 0 ? null : json(failures),
  };
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** Null if it does not fit 32 bits. */
function integer(value: number | undefined): number | null {
  return value !== undefined && Object.is(value | 0, value) ? value : null;
}

/** Null if Everturn would write it differently. */
function time(text: string | undefined): Date | null {
  const date = new Date(text ?? Number.NaN);
  return Number.isNaN(date.getTime()) || date.toISOString() !== text ? null : date;
}
