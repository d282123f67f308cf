// Generated from schemas/study.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

export type Job = TrainJob | LaterJob;
export type LaterJob = EvaluateJob | ExportOrCommandJob;
export type ExportOrCommandJob = ExportJob | CommandJob;

/**
 * Jobs that run one after the other: runs of pipelines, including many of one, evaluations, exports, and programs.
 */
export interface Study {
  /**
   * The location of this schema, for editors.
   */
  $schema?: string;
  /**
   * The prefix of the study's run names: lower-case letters, digits and dashes.
   */
  name: string;
  /**
   * The jobs by name, in their order. Each trains, evaluates, exports, or starts a program.
   */
  jobs: {
    [k: string]: Job;
  };
}
/**
 * A run of a pipeline, or one for each combination of a matrix.
 */
export interface TrainJob {
  /**
   * The pipeline file, for example ./pipeline.yaml.
   */
  train: string;
  /**
   * An earlier job that trains one run. The policy starts from that run's final version.
   */
  from?: string;
  /**
   * Pipeline values by dotted keys, as in --set, for example rollout.batchSize: 32. null removes a key.
   */
  set?: JsonObject;
  /**
   * Lists of values by dotted keys, for example seed: [1, 2, 3]. Each combination is a run.
   */
  matrix?: {
    /**
     * The key's values, one per run.
     *
     * @minItems 1
     */
    [k: string]: unknown[];
  };
}
/**
 * Evaluates the runs of a training job, like everturn evaluate.
 */
export interface EvaluateJob {
  /**
   * An earlier training job.
   */
  evaluate: string;
  /**
   * Policy versions, for example [0, newest]. Default: the newest.
   *
   * @minItems 1
   *
   * Items: Its number, or newest.
   */
  versions: (number | "newest")[];
  /**
   * A file of tasks, JSON lines. Default: the pipeline's validation set.
   */
  tasks?: string;
  /**
   * Use only the first n tasks.
   */
  limit?: number;
  /**
   * Trajectories per task.
   */
  samples: number;
  /**
   * Sampling temperature. Default: 0 (greedy), or with several samples, the training temperature of the run.
   */
  temperature?: number;
  /**
   * false switches the tools off.
   */
  tools: boolean;
}
/**
 * Exports the newest policy of a training job, like everturn export. An existing export is kept.
 */
export interface ExportJob {
  /**
   * An earlier training job. If it has several runs, the one with the best final held-out accuracy.
   */
  export: string;
  /**
   * A folder, or a file that ends in .gguf.
   */
  to: string;
  /**
   * float32, float16 or bfloat16.
   */
  dtype: "float32" | "float16" | "bfloat16";
  /**
   * Merge a LoRA adapter into the weights of its base model.
   */
  merge: boolean;
}
/**
 * Runs a program, for example to prepare data.
 */
export interface CommandJob {
  /**
   * The program and its arguments, in the study's folder, for example [node, make-tasks.ts]. A job has one of train, evaluate, export, command.
   *
   * @minItems 1
   *
   * Items: The program, or an argument.
   */
  command: string[];
  /**
   * The files that it creates. The program runs only if one is missing.
   *
   * @minItems 1
   *
   * Items: A path in the study's folder.
   */
  makes: string[];
}
