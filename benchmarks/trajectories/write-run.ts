import { createUniformStream } from "../../src/base/random/uniform-stream.ts";
import type { Segment } from "../../src/contracts/generated/segment.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { RecordedTurn } from "../../src/contracts/recorded-turn.ts";
import { segmentRef } from "../../src/run/projections/segment-ref.ts";
import type { StoredTurn } from "../../src/run/projections/stored-records.ts";
import { turnRecord } from "../../src/run/projections/turn-record.ts";
import { turnResult } from "../../src/run/projections/turn-result.ts";
import { planRow, recordedStepKey, runFileKey } from "../../src/run/store/keys.ts";
import type { Store } from "../../src/run/store/store.ts";
import { foldStep, type Member } from "../../src/run/trajectory/folded/fold-step.ts";
import { samplePlan } from "../../tests/support/sample-plan.ts";

const turnsEach = 3;
const groupSize = 8;
const tokensEach = 24;

/** Writes the folder of a finished run `large`: trajectories of three turns and two calls, those of a step in one Parquet file. */
export async function writeRun(
  store: Pick<Store, "record" | "tree" | "readTree">,
  steps: number,
  each: number,
): Promise<void> {
  await store.record(
    planRow(1),
    samplePlan({ steps, batchSize: each, tasks: 1, warmStart: false, evaluationEvery: 0 }),
  );
  const queues = { orchestration: "orchestration", policy: "policy", tools: "tools", trainer: "trainer" };
  const createdAt = "2026-11-20T06:00:00.000Z";
  await store.record(runFileKey, { run: "large", createdAt, namespace: "default", queues, telemetry: false });
  for (let step = 1; step <= steps; step++) {
    await foldStep(store, step, () => members(step, each));
    await store.record(recordedStepKey(step), stepRecord(step, each));
  }
}

async function* members(step: number, count: number): AsyncGenerator<Member> {
  for (let index = 0; index < count; index++)
    yield member(step, Math.floor(index / groupSize), index % groupSize);
}

function member(step: number, group: number, sample: number): Member {
  const stage = `step-${String(step).padStart(4, "0")}`;
  const task = `task-${step}-${group}`;
  const uniform = createUniformStream({ seed: step, trajectory: `${task}/${sample}`, turn: 0 });
  let drawn = 0;
  const below = (count: number) => Math.floor(uniform(drawn++) * count);
  const ids = () => Array.from({ length: tokensEach }, () => below(50_000));
  const prompt = `How much is ${below(1000)} + ${below(1000)}?`;
  const kept: StoredTurn[] = [];
  for (let turn = 1; turn <= turnsEach; turn++) {
    const before = kept.at(-1)?.recorded.head ?? null;
    const isFirst = before === null;
    const appended: Segment = {
      previous: before,
      origin: isFirst ? "prompt" : "observation",
      text: isFirst ? prompt : `${below(2000)}`,
      tokens: ids(),
    };
    const isLast = turn === turnsEach;
    const expression = `${below(1000)} + ${below(1000)}`;
    const tokens = ids();
    const action: Segment = {
      previous: segmentRef(appended),
      origin: "action",
      text: isLast ? `${below(2000)}` : `{"name":"calculator","arguments":{"expression":"${expression}"}}`,
      tokens,
      logprobs: tokens.map(() => -3 * uniform(drawn++)),
      policyVersion: step - 1,
    };
    const recorded: RecordedTurn = {
      callsBefore: kept.at(-1)?.begun ?? 0,
      appended,
      action,
      finishReason: "stop",
      head: segmentRef(action),
      seconds: 0.4,
      workSeconds: 0.4,
      tokens: {
        prompt: isFirst ? tokensEach : 0,
        action: tokensEach,
        observation: isFirst ? 0 : tokensEach,
      },
    };
    const call = {
      tool: below(2) === 0 ? "calculator" : "python",
      arguments: { expression },
      observation: `${below(2000)}`,
      valid: below(10) > 0,
      reward: 0,
      attempts: 1,
      seconds: 0.01,
    };
    const calls = isLast ? [] : [{ call: 0, recorded: call, failures: [] }];
    kept.push({ recorded, begun: calls.length, calls });
  }
  const success = below(step + 4) > 4;
  const ending = {
    id: `large/${stage}/${task}/${sample}`,
    run: "large",
    stage,
    step,
    sample,
    taskId: task,
    task: {
      prompt: [{ role: "user" as const, content: prompt }],
      data_source: "sums",
      reward_model: { ground_truth: "7" },
    },
    head: kept.at(-1)?.recorded.head ?? null,
    tokens: { prompt: tokensEach, action: turnsEach * tokensEach, observation: (turnsEach - 1) * tokensEach },
    policyVersions: kept.map(() => step - 1),
    turns: kept.map(({ recorded: turn, begun, calls }) =>
      turnRecord({
        generated: turnResult(turn),
        begun,
        calls: calls.flatMap(({ recorded = [] }) => recorded),
      }),
    ),
    outcome: "answered" as const,
    reward: success ? 1 : -0.1 * below(4),
    success,
    answer: kept.at(-1)?.recorded.action.text ?? "",
    metrics: { format: below(2), "exact-match": +success },
    startedAt: new Date(1_780_000_000_000 + step * 60_000 + sample).toISOString(),
    seconds: below(100) / 10,
  };
  return {
    name: { stage, task, sample },
    records: { record: ending, leftOut: [], turns: kept, scoreFailures: [] },
    ending,
    use: { trainedStep: step },
  };
}

function stepRecord(step: number, trajectories: number): StepRecord {
  return {
    step,
    policyVersion: step,
    staleness: 0,
    trajectories,
    trajectoriesSoFar: step * trajectories,
    leftOut: 0,
    rewardMean: 0.5,
    successRate: 0.5,
    toolCallRate: 1,
    validCallRate: 0.9,
    approximateKl: 0.001,
    kl: 0.1 * (step / 500),
    entropy: 0.3,
    clipFraction: 0,
    policyLoss: 0,
    gradientNorm: 1,
    learningRate: 1e-4,
    logprobGap: 0,
    tokens: { prompt: 0, action: 0, observation: 0 },
    actionLength: tokensEach,
    turns: turnsEach,
    seconds: { rollout: 40, train: 15, publish: 5, total: 60 },
  };
}
