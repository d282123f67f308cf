import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import taskSchema from "../../../../schemas/task.schema.json" with { type: "json" };
import { createAjv } from "../../../base/validation/ajv.ts";
import type { JsonValue } from "../../../contracts/json.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { deepFreeze } from "../../../plan/pipeline/read/deep-freeze.ts";
import { loadDataset } from "../../../plugin/registry/registry.ts";
import { Broken } from "../promise.ts";

/** Loads a data set twice. Returns its number of rows and the digests of both. */
export async function probe(plugin: ResolvedPlugin): Promise<JsonValue> {
  const dataset = await loadDataset(plugin);
  const config = deepFreeze(structuredClone(plugin.config)); // like the configuration in a plan
  const tasks = await dataset.load(config);
  if (!Array.isArray(tasks)) throw new Broken("load() answered no list", "Return a list of tasks.");
  if (tasks.length === 0)
    throw new Broken(
      "it has no tasks",
      "A data set has at least one task; explain in an error why it has none.",
    );
  const validate = createAjv().compile(taskSchema);
  for (const [index, task] of tasks.entries()) {
    const row = `row ${index + 1}`;
    const text = JSON.stringify(task);
    if (!isDeepStrictEqual(JSON.parse(text), task))
      throw new Broken(
        `${row} is not what JSON makes of it`,
        "Tasks are JSON: texts, numbers, true, false, null, lists and objects of these; nothing undefined, no dates.",
      );
    if (!validate(JSON.parse(text))) {
      const [error] = validate.errors ?? [];
      throw new Broken(
        `${row} is not a task: ${error?.instancePath} ${error?.message}`,
        "A task has data_source, prompt and reward_model.ground_truth (docs/data.md).",
      );
    }
    if (!text.isWellFormed() || /\\ud[89a-f]/i.test(text))
      throw new Broken(`${row} has half a character (a lone surrogate)`, "Cut texts between code points.");
  }
  return { rows: tasks.length, first: digest(tasks), second: digest(await dataset.load(config)) };
}

function digest(tasks: unknown): string {
  return createHash("sha256").update(JSON.stringify(tasks)).digest("hex");
}
