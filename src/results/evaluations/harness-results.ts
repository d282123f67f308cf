import { createHash } from "node:crypto";
import { standardError } from "../../base/statistics/estimate.ts";
import { mean } from "../../base/statistics/mean.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { measuresOf, successRate } from "./measures.ts";
import { samplesOf } from "./numbers.ts";
import type { TaskOutcomes } from "./outcomes.ts";

/** Results and samples in the format of lm-evaluation-harness (version 0.4), for tools that read its files. */
export interface HarnessResults {
  /** The content of `results_DATE.json`. */
  results: Record<string, unknown>;
  /** The lines of `samples_TASK_DATE.jsonl`, by task. */
  samples: Record<string, object[]>;
}

/**
 * Converts an evaluation to lm-evaluation-harness's terms. Each data source becomes a task, and its tasks become
 * documents, over which standard errors are computed.
 */
export function harnessResults(
  run: string,
  record: Pick<EvaluationRecord, "name" | "policyVersion" | "samples" | "temperature" | "seconds">,
  outcomes: readonly TaskOutcomes[],
): HarnessResults {
  const sources = new Map<string, TaskOutcomes[]>();
  for (const one of outcomes) {
    const name = one.task.data_source.replace(/[^\w.-]+/g, "_");
    sources.set(name, [...(sources.get(name) ?? []), one]);
  }
  const measures = measuresOf(samplesOf(outcomes));
  const named = <Value>(value: (name: string, own: TaskOutcomes[]) => Value) =>
    Object.fromEntries([...sources].map(([name, own]) => [name, value(name, own)]));
  const results = {
    results: named((name, own) => ({
      alias: name,
      sample_len: own.length,
      ...Object.fromEntries(
        measures.flatMap((measure) => {
          const values = own.map(measure.of);
          const error = values.length < 2 ? "N/A" : standardError(values);
          return [
            [`${measure.name},none`, mean(values)],
            [`${measure.name}_stderr,none`, error],
          ];
        }),
      ),
    })),
    group_subtasks: named(() => []),
    configs: named((name) => ({ task: name, num_fewshot: 0, output_type: "generate_until" })),
    versions: named(() => 1),
    "n-shot": named(() => 0),
    higher_is_better: named(() => Object.fromEntries(measures.map(({ name }) => [name, true]))),
    "n-samples": named((_, own) => ({ original: own.length, effective: own.length })),
    config: {
      model: "everturn",
      model_args: { run, evaluation: record.name, policy_version: record.policyVersion },
      gen_kwargs: { temperature: record.temperature ?? 0, num_return_sequences: record.samples ?? 1 },
    },
    model_source: "everturn",
    model_name: run,
    model_name_sanitized: run,
    total_evaluation_time_seconds: String(record.seconds),
  };
  return { results, samples: named((_, own) => own.map(sampleOf)) };
}

function sampleOf(outcome: TaskOutcomes, index: number): object {
  const { id, task, samples } = outcome;
  const target = task.reward_model.ground_truth;
  const answers = samples.map(({ answer = "" }) => answer);
  return {
    doc_id: index,
    doc: { id, ...task },
    target,
    arguments: { gen_args_0: { arg_0: JSON.stringify(task.prompt), arg_1: "{}" } },
    resps: [answers],
    filtered_resps: answers,
    filter: "none",
    metrics: ["accuracy", "reward"],
    doc_hash: hash(JSON.stringify(task)),
    prompt_hash: hash(JSON.stringify(task.prompt)),
    target_hash: hash(target),
    accuracy: successRate(outcome),
    reward: mean(samples.map(({ reward }) => reward)),
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
