import { patched, setHandler } from "@temporalio/workflow";
import type { EvaluationInput, EvaluationRecord } from "../src/contracts/run.ts";
import { nothingFinished } from "./failure-share.ts";
import { stageProgress } from "./progress.ts";
import { runTrajectories } from "./run-trajectories.ts";
import { schedule } from "./schedule.ts";
import { mean } from "./step-record.ts";
import { summarize } from "./summarize.ts";
import { trajectoryInput } from "./trajectory-input.ts";

/**
 * Runs the held-out tasks once, greedily, and records the accuracy. Trajectories left out count as wrong; if all are,
 * throws EVALUATION_EMPTY.
 */
export async function evaluation(input: EvaluationInput): Promise<EvaluationRecord> {
  const { run, plan, settings, queues } = input;
  const started = Date.now();
  const selected = await schedule(queues, "select-tasks", { run, evaluation: plan });
  const greedy = {
    ...settings,
    sampling: { temperature: 0, maxTokens: settings.sampling.maxTokens },
    tools: plan.withoutTools === true ? [] : settings.tools,
  };
  const place = { run, stage: plan.name, step: plan.step, sample: 0 };
  const inputs = selected.map((task) => trajectoryInput(task, place, plan.policyVersion, greedy, input));
  const progress = { done: 0, of: inputs.length };
  setHandler(stageProgress, () => progress);
  const results = await runTrajectories(inputs, settings.concurrency, () => {
    progress.done += 1;
  });
  const failed = nothingFinished({ run, evaluation: plan.name }, results.map(summarize));
  if (failed !== undefined && patched("evaluation-empty")) throw failed;
  const record: EvaluationRecord = {
    name: plan.name,
    step: plan.step,
    policyVersion: plan.policyVersion,
    accuracy: mean(results.map((result) => Number(result.success))),
    rewardMean: mean(results.map((result) => result.reward)),
    tasks: results.length,
    leftOut: results.filter((result) => result.outcome === "left-out").length,
    toolCallRate: mean(results.map((result) => Number(result.toolCalls > 0))),
    meanActionTokens: mean(results.map((result) => result.tokens.action)),
    seconds: (Date.now() - started) / 1000,
  };
  await schedule(queues, "record-evaluation", { run, record });
  return record;
}
