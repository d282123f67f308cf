import { dirname, resolve } from "node:path";
import pipelineSchema from "../../../schemas/pipeline.schema.json" with { type: "json" };
import { checkValue } from "../../base/validation/check-value.ts";
import { problemsOf } from "../../base/validation/findings.ts";
import { checkFolder } from "../../base/validation/path-error.ts";
import { refusal } from "../../base/validation/problem.ts";
import { placeOf } from "../../base/validation/source-document.ts";
import type { Pipeline } from "../../contracts/generated/pipeline.ts";
import type { Message } from "../../contracts/message.ts";
import type { Plan } from "../../contracts/plan.ts";
import { configModules } from "../../plugin/define/config-modules.ts";
import { crossChecks } from "./check/cross-checks.ts";
import { exampleProblems } from "./check/example-problems.ts";
import { learningNotes } from "./check/learning-notes.ts";
import { leftOutNotes } from "./check/left-out-notes.ts";
import { loadParts } from "./check/load-parts.ts";
import { withoutOverlong } from "./check/overlong-prompts.ts";
import { planProblems } from "./check/plan-problems.ts";
import { type Preflight, preflight, type RunData } from "./check/preflight.ts";
import { roomNotes } from "./check/room-notes.ts";
import { sizedImages } from "./check/sized-images.ts";
import { taskLoopNotes } from "./check/task-loops.ts";
import { templateNotes } from "./check/template-check.ts";
import { toolsShown } from "./check/tools-shown.ts";
import { trainerNotes } from "./check/trainer-notes.ts";
import { deepFreeze } from "./read/deep-freeze.ts";
import { withExampleDigests } from "./read/example-files.ts";
import { expandNames } from "./read/expand-names.ts";
import { applyOverrides } from "./read/overrides.ts";
import { readExtended } from "./read/read-extended.ts";
import { assemblePlan } from "./resolve/assemble-plan.ts";
import { withDemonstratedTools } from "./resolve/demonstrated-tools.ts";
import { expandEnvironment } from "./resolve/expand-environment.ts";
import { withFormat } from "./resolve/resolve-format.ts";
import { resolvePlugins } from "./resolve/resolve-plugins.ts";
import { resolveTraining, type UnresolvedPlan } from "./resolve/resolve-training.ts";

/** Options in addition to the pipeline file. */
export interface LoadOptions {
  /** `path.to.key=value` with a YAML value. Applied in order before any check. */
  readonly overrides?: readonly string[];
  /** Plugin folders in addition to the usual ones. */
  readonly pluginFolders?: readonly string[];
}

/** A pipeline that passed all checks. */
export interface CheckedPipeline {
  plan: Plan;
  preflight: Preflight;
  /** The plan's rows. */
  data: RunData;
  /** Notes for people. */
  notes: string[];
}

/** Turns a plan's epochs over `rows` examples into whole steps. */
function withSteps(plan: UnresolvedPlan, rows: number): UnresolvedPlan {
  const { epochs, heldOut = 0, batchSize = 1, updates = 1 } = plan.dpo ?? plan.sft ?? {};
  if (epochs === undefined) return plan;
  return { ...plan, steps: Math.ceil((epochs * (rows - heldOut)) / (batchSize * updates)) };
}

function withModuleDigests(plan: Plan): Plan {
  const moduleDigests = configModules(plan);
  return Object.keys(moduleDigests).length === 0 ? plan : { ...plan, moduleDigests };
}

function withDemonstratedCalls(plan: Plan, { demonstrations = [] }: RunData): Plan {
  const called = demonstrations
    .map(({ messages }) => messages.flatMap(({ tool_calls: calls = [] }: Message) => calls))
    .filter((calls) => calls.length > 0);
  if (called.length === 0) return plan;
  const names = called.flat().map(({ function: { name } }) => name);
  const timesPerDemonstration = (name: string) => names.filter((one) => one === name).length / called.length;
  const demonstratedCalls = Object.fromEntries(
    [...new Set(names)].map((name) => [name, timesPerDemonstration(name)]),
  );
  return { ...plan, demonstratedCalls };
}

/** Returns the plan of the pipeline in `file`. Throws the same errors as `checkPipeline`. */
export async function loadPlan(file: string, options: LoadOptions = {}): Promise<Plan> {
  return (await checkPipeline(file, options)).plan;
}

/**
 * Makes a plan from the pipeline in `file`. Checks it against its schema and its plugins' schemas, fills in
 * defaults, makes paths absolute, loads plugins, tasks and demonstrations once, counts their tokens
 * (`preflight`) and freezes the plan. Throws PIPELINE_NOT_FOUND, OVERRIDE_INVALID, PATH_UNUSABLE, or
 * WRONG_CONFIGURATION, whose `problems` list every mistake with its place.
 */
export async function checkPipeline(file: string, options: LoadOptions = {}): Promise<CheckedPipeline> {
  const path = resolve(file);
  const folder = dirname(path);
  for (const plugins of options.pluginFolders ?? []) checkFolder(plugins);
  const written = readExtended(path); // expands plugin names, so that an override can add settings to a plugin given by name alone
  const named = expandNames(applyOverrides(written, options.overrides ?? []));
  const document = expandEnvironment(named, folder, options.pluginFolders ?? []);

  const { errors, valid: pipeline } = checkValue<Pipeline>(pipelineSchema, document.value, folder);
  const own = problemsOf(errors, document, { base: "", whole: "the pipeline", inPipeline: true });
  const resolved = await resolvePlugins(document, folder, options.pluginFolders ?? []);
  const crossed = [...exampleProblems(document), ...crossChecks(document, resolved.plugins)];
  const problems = [...own, ...resolved.problems, ...crossed];
  if (pipeline === undefined || problems.length > 0) throw refusal(document.file, problems);

  const assembled = assemblePlan(path, pipeline, resolved.plugins);
  const { problems: unloadable, data: read, framing } = await loadParts(assembled, document);
  if (unloadable.length > 0) throw refusal(document.file, unloadable);
  const counted =
    pipeline.steps !== undefined ? assembled : withSteps(assembled, read.examples?.learned.length ?? 0);
  const resolvedPlan = withFormat(await resolveTraining(counted), framing);
  const sized = await sizedImages(resolvedPlan, read);
  const overlong = withoutOverlong(resolvedPlan, read, framing, sized);
  const { data } = overlong;
  const shown = [...(data.demonstrations ?? []), ...(data.examples?.learned ?? [])];
  const demonstrated = withDemonstratedTools(withDemonstratedCalls(overlong.plan, data), shown, framing);
  const plan = deepFreeze(withModuleDigests(withExampleDigests(demonstrated)));
  const loaded = { document, plan, data, framing, preflight: preflight(plan, data, framing, sized) };
  const refused = await planProblems(loaded);
  const hidden = toolsShown(plan, data, framing, placeOf(document, "/policy/config/chatTemplate", "value"));
  if (refused.length + hidden.problems.length > 0)
    throw refusal(document.file, [...refused, ...hidden.problems]);
  return {
    plan,
    preflight: loaded.preflight,
    data,
    notes: [
      ...templateNotes(loaded),
      ...hidden.notes,
      ...leftOutNotes(read),
      ...overlong.notes,
      ...taskLoopNotes(plan, data),
      ...(await learningNotes(loaded)),
      ...(await trainerNotes(plan)),
      ...roomNotes(loaded),
    ],
  };
}
