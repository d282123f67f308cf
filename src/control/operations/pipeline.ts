import type { JsonValue } from "../../contracts/json.ts";
import type { Plan } from "../../contracts/plan.ts";
import { loadPlan } from "../../plan/pipeline/load-plan.ts";
import { known } from "./known-error.ts";

/** Values by dotted keys, such as `{ steps: 5, "trainer.config.minibatchSize": 8 }`; a list's items are keys, too. */
export type Overrides = Readonly<Record<string, JsonValue>>;

/** What may be said beside a pipeline's file. */
export interface PipelineOptions {
  /** Values instead of the file's, as of `everturn run --set`. */
  set?: Overrides;
  /** Folders of plugins to look in beside the usual ones. */
  plugins?: readonly string[];
}

/** A pipeline that was found valid. */
export interface Pipeline {
  /** Its file, absolute. */
  file: string;
  name: string;
  /** All that it says, with its defaults, its plugins and their manifests; frozen. */
  plan: Plan;
}

/**
 * Loads the pipeline in `file` as `everturn validate` does: checks it, its plugins and its data, and starts nothing. Throws
 * WRONG_CONFIGURATION, whose `problems` are all that is wrong, each with its place; PIPELINE_NOT_FOUND, OVERRIDE_INVALID.
 */
export function loadPipeline(file: string, options: PipelineOptions = {}): Promise<Pipeline> {
  const { set = {}, plugins = [] } = options;
  return known(async () => {
    const plan = await loadPlan(file, { overrides: overridesOf(set), pluginFolders: plugins });
    return { file: plan.pipelineFile, name: plan.name, plan };
  });
}

/** As `--set` takes them: JSON is YAML. */
export function overridesOf(set: Overrides): string[] {
  return Object.entries(set).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
}
