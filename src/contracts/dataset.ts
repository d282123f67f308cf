import type { Task } from "./generated/task.ts";
import type { JsonObject } from "./json.ts";

/** The default export of a dataset plugin. Relative paths in `config` are already resolved against the pipeline file. */
export interface DatasetPlugin {
  /** Reads every task, in a stable order. Throws an EverturnError that names file and line of a bad row. */
  load(config: JsonObject): Promise<Task[]> | Task[];
}
