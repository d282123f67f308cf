import { createUniformStream } from "../../src/base/random/uniform-stream.ts";
import type { Segment } from "../../src/contracts/generated/segment.ts";
import type { Media, Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { Failure } from "../../src/contracts/recorded-call.ts";
import { segmentRef } from "../../src/run/projections/segment-ref.ts";
import {
  answeredCalls,
  type Stored,
  type StoredRecords,
  type StoredTurn,
} from "../../src/run/projections/stored-records.ts";
import { turnRecord } from "../../src/run/projections/turn-record.ts";
import { turnResult } from "../../src/run/projections/turn-result.ts";

/** Text, numbers and lists that are likely to go wrong. */
const texts = [
  "",
  "plain",
  "日本語 🦜 e\u0301",
  "\u0000\n\t\"'\\",
  "\\ud800",
  "null",
  "cut \ud83d",
  "\udc00",
  "x".repeat(9000),
];
const numbers = [0, -0, 1e-300, -1.5, 0.1, Number.MAX_VALUE, Number.NEGATIVE_INFINITY, Number.NaN, -3];

function generator(seed: number) {
  const uniform = createUniformStream({ seed, trajectory: "folded", turn: 0 });
  let drawn = 0;
  const below = (count: number) => Math.floor(uniform(drawn++) * count);
  const among = <Value>(values: readonly [Value, ...Value[]]): Value =>
    values[below(values.length)] ?? values[0];
  const maybe = <Value>(value: () => Value) => (below(2) === 0 ? undefined : value());
  return {
    below,
    among,
    maybe,
    text: () => texts[below(texts.length)] ?? "",
    number: () => numbers[below(numbers.length)] ?? 0,
  };
}

/** Any trajectory that the store may hold, drawn from a seed. */
export function anyTrajectory(seed: number, most: { turns: number; tokens: number }): StoredRecords {
  const { below, among, maybe, text, number } = generator(seed);
  const turns: StoredTurn[] = [];
  const count = below(most.turns + 1);
  for (let turn = 1; turn <= count; turn++) {
    const follows =
      turns.length === 0 || below(6) === 0
        ? undefined
        : turns[below(3) === 0 ? below(turns.length) : turns.length - 1];
    const appended: Segment = {
      previous: follows?.recorded.head ?? null,
      origin: follows === undefined ? "prompt" : "observation",
      text: text(),
      tokens: Array.from({ length: below(most.tokens) }, () => below(150_000)),
    };
    const tokens = Array.from({ length: below(most.tokens) }, () => below(150_000));
    const logprobs = () => tokens.map(number);
    const action: Segment = {
      previous: segmentRef(appended),
      origin: "action",
      text: text(),
      tokens,
      ...present({
        logprobs: maybe(logprobs),
        temperedLogprobs: maybe(logprobs),
        samplingLogprobs: maybe(logprobs),
        routerTies: maybe(() => Array.from({ length: 3 * (1 + below(4)) }, () => below(1000))),
      }),
      ...present({ policyVersion: maybe(() => below(1000)) }),
    };
    const tokenCounts = {
      prompt: 0,
      action: tokens.length,
      observation: 0,
      [appended.origin]: appended.tokens.length,
    };
    const calls = Array.from({ length: below(4) }, (_, call) => anyCall(call));
    turns.push({
      recorded: {
        callsBefore: turns.at(-1)?.begun ?? 0,
        appended,
        action,
        finishReason: among(["stop", "length"] as const),
        head: segmentRef(action),
        tokens: tokenCounts,
        seconds: Math.abs(number()) || 0,
        workSeconds: Math.abs(maybe(number) ?? 0),
        ...present({ cutObservations: maybe(() => 1 + below(3)) }),
        ...present({
          request: maybe(() => ({
            key: text(),
            follows: among([null, 1]),
            tools: [],
            messages: [{ role: "user" as const, content: text() }],
          })),
        }),
        ...present({ said: maybe(() => [{ role: among(["user", "system"] as const), content: text() }]) }),
      },
      begun: calls.length,
      calls: calls.filter((one) => one.recorded !== undefined || one.failures.length > 0),
    });
  }

  function anyCall(call: number): Stored {
    const recorded = {
      tool: text(),
      arguments: below(2) === 0 ? text() : { expression: text(), list: [1, null, {}] },
      ...present({ approval: maybe(() => among(["approved", "edited", "denied", "timed-out"] as const)) }),
      observation: text(),
      valid: below(2) === 0,
      reward: number(),
      attempts: below(4),
      seconds: number(),
      ...present({ metrics: maybe(() => ({ [text()]: below(10) / 3 })) }),
      ...present({ snapshot: maybe(() => "ab".repeat(32)), whole: maybe(() => "cd".repeat(32)) }),
      ...present({ invalid: maybe(text), done: maybe(() => below(2) === 0), media: maybe(anyMedia) }),
    };
    return below(6) === 0 ? { call, failures: failures() } : { call, recorded, failures: failures() };
  }

  function anyMedia(): Media[] {
    const size = present({ width: maybe(() => 1 + below(9)), height: maybe(() => 1 + below(9)) });
    const frame = { sha256: "ef".repeat(32), mediaType: "image/png", bytes: 1 + below(9), ...size };
    return [{ type: "video", frames: [frame, frame], ...present({ framesPerSecond: maybe(() => 0.5) }) }];
  }

  function failures(): Failure[] {
    const any = (attempt: number) => ({ at: text(), attempt, code: "TOOL_FAILED", reason: text() });
    return Array.from({ length: below(2) }, (_, index) =>
      below(2) === 0 ? any(index) : { ...any(index), isLast: true },
    );
  }

  const counted = turns.slice(0, below(8) === 0 ? turns.length - 1 : turns.length);
  const outcome = among([
    "answered",
    "done",
    "turn-limit",
    "token-limit",
    "time-limit",
    "invalid-limit",
    "left-out",
  ] as const);
  const isToldByJournal = outcome === "left-out" && below(2) === 0;
  const name = text();
  const record: Trajectory = {
    id: `run/step-0003/${name}/${seed}`,
    run: "run",
    stage: "step-0003",
    step: 3,
    sample: seed,
    taskId: name,
    task: {
      prompt: [{ role: "user", content: text() }],
      data_source: "d",
      reward_model: { ground_truth: text() },
    },
    head: counted.at(-1)?.recorded.head ?? null,
    tokens: { prompt: below(100), action: below(100), observation: below(100) },
    policyVersions: counted.map(() => below(9)),
    turns: counted.map((turn) => {
      const told = isToldByJournal && turn === counted.at(-1) ? asJournalTells(turn) : turn;
      return turnRecord({
        generated: turnResult(turn.recorded),
        begun: told.begun,
        calls: answeredCalls(told),
      });
    }),
    ...present({ turnRewards: maybe(() => counted.map(number)) }),
    outcome,
    reward: number(),
    success: below(2) === 0,
    ...present({
      answer: maybe(text),
      failure: maybe(text),
      metrics: maybe(() => ({ b: 1, a: below(10) / 7 })),
    }),
    ...present({ startedAt: among([undefined, "2026-11-22T15:40:08.123Z", "yesterday"]) }),
    seconds: Math.abs(number()) || 0,
  };
  const before = below(5) === 0 ? [{ ...record, outcome: "left-out" as const, failure: text() }] : [];
  const records =
    outcome === "left-out"
      ? { leftOut: [...before, record], turns, scoreFailures: [] }
      : { record, leftOut: before, turns, scoreFailures: failures() };
  return JSON.parse(JSON.stringify(records)); // as a store holds it: what is no number is null
}

/** The last turn of a trajectory whose workflow ended by force: its calls up to the first one without an answer. */
function asJournalTells(turn: StoredTurn): StoredTurn {
  const gap = turn.calls.findIndex(({ call, recorded }, index) => call !== index || recorded === undefined);
  const calls = gap < 0 ? turn.calls : turn.calls.slice(0, gap);
  return { ...turn, calls, begun: calls.length };
}

function present<Value extends object>(
  value: Value,
): { [Name in keyof Value]: Exclude<Value[Name], undefined> };
function present(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
