import type { JsonValue } from "../../contracts/json.ts";
import type { Plan } from "../../contracts/plan.ts";
import { loadPlan } from "../../plan/pipeline/load-plan.ts";
import { known } from "./known-error.ts";

/** Values by dotted keys, such as `{ steps: 5, "trainer.config.minibatchSize": 8 }`. Indexes of lists are keys too. */
export type Overrides = Readonly<Record<string, JsonValue>>;

/** Options in addition to a pipeline's file. */
export interface PipelineOptions {
  /** Values that override the file's, as with `everturn run --set`. */
  set?: Overrides;
  /** Additional folders to search for plugins. */
  plugins?: readonly string[];
}

/** A valid pipeline. */
export interface Pipeline {
  /** Its file, absolute. */
  file: string;
  name: string;
  /** The whole plan, with defaults, plugins and their manifests; frozen. */
  plan: Plan;
}

/**
 * Loads the pipeline in `file` like `everturn validate`: checks it, its plugins and its data, and starts nothing. Throws
 * WRONG_CONFIGURATION, whose `problems` list every mistake with its place; PIPELINE_NOT_FOUND, OVERRIDE_INVALID.
 */
export function loadPipeline(file: string, options: PipelineOptions = {}): Promise<Pipeline> {
  const { set = {}, plugins = [] } = options;
  return known(async () => {
    const plan = await loadPlan(file, { overrides: overridesOf(set), pluginFolders: plugins });
    return { file: plan.pipelineFile, name: plan.name, plan };
  });
}

/** In the form of `--set`. JSON is valid YAML. */
export function overridesOf(set: Overrides): string[] {
  return Object.entries(set).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
}
