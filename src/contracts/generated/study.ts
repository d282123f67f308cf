// Generated from schemas/study.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

export type Job = TrainJob | LaterJob;
export type LaterJob = EvaluateJob | ExportOrCommandJob;
export type ExportOrCommandJob = ExportJob | CommandJob;

/**
 * Jobs that are done one after the other: runs of pipelines, also many of one, evaluations, exports, programs.
 */
export interface Study {
  /**
   * Where this schema lies, for editors.
   */
  $schema?: string;
  /**
   * Begins the names of the study's runs: lower-case letters, digits and dashes.
   */
  name: string;
  /**
   * Each by its name, in the order in which they are done: one that trains, evaluates, exports, or starts a program.
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
   * The file of the pipeline, for example ./pipeline.yaml.
   */
  train: string;
  /**
   * An earlier job that trains one run: the policy begins as that one ended.
   */
  from?: string;
  /**
   * Values of the pipeline by dotted keys, as --set takes them, for example rollout.batchSize: 32; null takes a key away.
   */
  set?: JsonObject;
  /**
   * Lists of values by dotted keys: a run for each combination, for example seed: [1, 2, 3].
   */
  matrix?: {
    /**
     * What the key is in one run each.
     *
     * @minItems 1
     */
    [k: string]: unknown[];
  };
}
/**
 * Measures the runs of a job that trains, as everturn evaluate does.
 */
export interface EvaluateJob {
  /**
   * An earlier job that trains.
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
   * Only the first so many tasks.
   */
  limit?: number;
  /**
   * Trajectories of each task.
   */
  samples: number;
  /**
   * Default: 0, greedily; with several samples, the one that the run trains with.
   */
  temperature?: number;
  /**
   * false switches the tools off.
   */
  tools: boolean;
}
/**
 * Writes the newest policy of a job that trains, as everturn export does; what is there already stays.
 */
export interface ExportJob {
  /**
   * An earlier job that trains. Of several runs, the one with the best held-out accuracy at its end.
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
   * Put a LoRA adapter into its base model's weights.
   */
  merge: boolean;
}
/**
 * As one that prepares data.
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
   * The files that it makes: it is done when they are there, and started only if one is missing.
   *
   * @minItems 1
   *
   * Items: Beside the study, or below.
   */
  makes: string[];
}
