import type { Command } from "commander";
import { defined } from "../../../../base/records/defined.ts";
import { checkPipeline } from "../../../../plan/pipeline/load-plan.ts";
import { describeTasks, sharedTasks } from "../../../../plan/tasks/describe-tasks.ts";
import { collect } from "../../terminal/option-values.ts";
import { describeExamples } from "./describe-examples.ts";
import { type Inspection, inspectionText } from "./inspection-text.ts";

interface Options {
  set: string[];
  plugins: string[];
  json: boolean;
}

/** `everturn data inspect <pipeline>`: describes its training and held-out tasks, and finds equal ones. */
export function registerInspect(parent: Command): void {
  parent
    .command("inspect")
    .description(
      "describe the tasks and examples of a pipeline: sources, lengths, answers, duplicates, overlaps",
    )
    .argument("<pipeline>", "pipeline file (YAML)")
    .option("--set <key=value>", "override a value of the pipeline (repeatable)", collect, [])
    .option("--plugins <folder>", "also search this folder for plugins (repeatable)", collect, [])
    .option("--json", "print one line of JSON with all rows that are reported", false)
    .action(async (pipeline: string, { set, plugins, json }: Options) => {
      const { plan, data, preflight } = await checkPipeline(pipeline, {
        overrides: set,
        pluginFolders: plugins,
      });
      const { train = [], validation = [] } = data;
      const examples = data.examples && describeExamples(plan, data.examples);
      const inspection: Inspection = defined({
        examples,
        training: examples === undefined ? describeTasks(train) : undefined,
        validation: describeTasks(validation),
        shared: sharedTasks(train, validation),
        tokens: preflight.counted?.rows ?? [],
      });
      process.stdout.write(`${json ? JSON.stringify(inspection) : inspectionText(inspection)}\n`);
    });
}
