import { EverturnError, isEverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import type { ErrorCode } from "../../../base/errors/table.ts";
import type { Place } from "../../../base/validation/place.ts";
import { child, type Pointer } from "../../../base/validation/pointer.ts";
import { type Problem, refusal } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import type { ConfigurationProblem } from "../../../contracts/configuration-problem.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { isAgentLoop, planLoops } from "../../../contracts/plan-loops.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import {
  loadDataset,
  loadGroupReward,
  loadLoop,
  loadLoss,
  loadPolicy,
  loadReward,
  loadTool,
  loadTrainer,
} from "../../../plugin/registry/registry.ts";
import { isOfGroups } from "../../../plugin/registry/task-rewards.ts";
import type { DemonstratedChat } from "../read/demonstrated-chat.ts";
import { readDemonstrations } from "../read/demonstrations.ts";
import { type Examples, readExamples } from "../read/examples.ts";
import { noRowTools, type RowTools, rowToolsReader } from "../read/row-tools.ts";
import { loopPlaces, rewardPlaces } from "../read/slots.ts";
import { wrongCombination } from "../read/wrong-combination.ts";
import { resolvedTraining, surroundingsOf, type UnresolvedPlan } from "../resolve/resolve-training.ts";
import { policyFraming, type RunData } from "./preflight.ts";

/**
 * The loaded parts of a plan: its rows and its policy's framing, or the problems of the parts that can't be
 * loaded.
 */
export interface LoadedParts {
  problems: Problem[];
  data: RunData;
  framing: PolicyFraming | undefined;
}

/**
 * Loads a plan's plugins, tasks and demonstrations once, to find those that can't be loaded before anything
 * starts. Throws NATIVE_FILES_MISSING if the policy can't work on this machine.
 */
export async function loadParts(plan: UnresolvedPlan, document: SourceDocument): Promise<LoadedParts> {
  const problems: Problem[] = [];
  async function at<Part>(pointer: Pointer, loading: Promise<Part>): Promise<Part | undefined> {
    try {
      return await loading;
    } catch (error) {
      if (isEverturnError(error) && error.code === "NATIVE_FILES_MISSING") throw error; // not a mistake in the pipeline
      problems.push(...problemsOf(placeOf(document, pointer, "value"), error));
      return undefined;
    }
  }
  const tasks = (pointer: Pointer, dataset: ResolvedPlugin) =>
    at(child(pointer, "plugin"), loadTasks(dataset, placeOf(document, pointer, "value")));
  const { loss } = plan.trainer;
  const rowTools = isAgentLoop(plan.loop) ? rowToolsReader() : noRowTools;
  const [framing, train, validation, demonstrations, examples] = await Promise.all([
    at("/policy/plugin", checkPolicy(plan, document)),
    plan.dataset.train && tasks("/dataset/train", plan.dataset.train),
    tasks("/dataset/validation", plan.dataset.validation),
    at("/warmStart/demonstrations", loadDemonstrations(plan, document, rowTools)),
    at(fileOfExamples(plan), loadExamples(plan, document, rowTools)),
    ...planLoops(plan).map((loop, index) => {
      const pointer = ["/loop" as const, ...loopPlaces(document.value)][index] ?? "/loop";
      return isInspected(loop) ? undefined : at(child(pointer, "plugin"), loadLoop(loop));
    }),
    ...rewardPlaces(document.value).map((pointer, index) => {
      const reward = plan.rewards[index];
      return reward === undefined || isInspected(reward)
        ? undefined
        : at(child(pointer, "plugin"), checkReward(reward, document, pointer));
    }),
    at("/trainer/plugin", checkTrainer(plan, document)),
    ...(loss === undefined ? [] : [at("/trainer/loss/plugin", loadLoss(loss))]),
    ...plan.tools.map((tool, index) =>
      isInspected(tool) ? undefined : at(child(child("/tools", index), "plugin"), loadTool(tool)),
    ),
  ]);
  return { problems, data: { train, validation, demonstrations, examples }, framing };
}

/** Whether the plugin's module has already been loaded in a separate thread, to learn what it defines. */
function isInspected({ source }: ResolvedPlugin): boolean {
  return source !== undefined;
}

async function loadTasks(plugin: ResolvedPlugin, place: Place): Promise<Task[]> {
  const dataset = await loadDataset(plugin);
  const tasks = await dataset.load(structuredClone(plugin.config));
  if (tasks.length === 0) throw new EverturnError("DATASET_EMPTY", { at: place.text });
  return tasks;
}

async function loadDemonstrations(
  { warmStart }: UnresolvedPlan,
  document: SourceDocument,
  rowTools: RowTools,
): Promise<DemonstratedChat[]> {
  if (warmStart === undefined) return [];
  const rows = await readDemonstrations(warmStart.demonstrations, rowTools);
  if (rows.length > 0) return rows;
  const { text: at } = placeOf(document, "/warmStart/demonstrations", "value");
  throw new EverturnError("DEMONSTRATIONS_EMPTY", { at });
}

function fileOfExamples({ dpo }: UnresolvedPlan): Pointer {
  return dpo === undefined ? "/sft/demonstrations" : "/dpo/preferences";
}

async function loadExamples(
  plan: UnresolvedPlan,
  document: SourceDocument,
  rowTools: RowTools,
): Promise<Examples> {
  const { sft, dpo } = plan;
  const examples = await readExamples(plan, rowTools);
  const settings = dpo ?? sft;
  if (settings === undefined || examples.learned.length > settings.heldOut) return examples;
  const { length } = examples.learned;
  if (length === 0)
    throw new EverturnError("EXAMPLES_EMPTY", { at: placeOf(document, fileOfExamples(plan), "value").text });
  const pointer = dpo === undefined ? "/sft/heldOut" : "/dpo/heldOut";
  const reason = `is ${settings.heldOut}, but the file has no more than ${length} rows: none would be trained on`;
  throw refusal(document.file, [
    wrongCombination(placeOf(document, pointer, "value"), pointer, reason, "Lower it, or add rows."),
  ]);
}

async function checkPolicy(
  { policy }: UnresolvedPlan,
  document: SourceDocument,
): Promise<PolicyFraming | undefined> {
  const plugin = await loadPolicy(policy);
  refuse((await plugin.check?.(structuredClone(policy.config))) ?? [], document, "/policy/config");
  return policyFraming(policy);
}

async function checkReward(
  reward: ResolvedPlugin,
  document: SourceDocument,
  pointer: Pointer,
): Promise<void> {
  const plugin = await (isOfGroups(reward) ? loadGroupReward(reward) : loadReward(reward));
  refuse(plugin.check?.(structuredClone(reward.config)) ?? [], document, child(pointer, "config"));
}

async function checkTrainer(plan: UnresolvedPlan, document: SourceDocument): Promise<void> {
  const plugin = await loadTrainer(plan.trainer);
  const policy = await loadPolicy(plan.policy).catch(() => undefined); // reported at the policy's own place
  if (policy === undefined) return;
  const surroundings = surroundingsOf(plan, policy);
  const { config } = resolvedTraining(plugin, plan.trainer, surroundings);
  refuse((await plugin.check?.(config, surroundings)) ?? [], document, "/trainer/config");
}

/**
 * Throws the problems that a plugin finds in its own configuration, which is at `config` of the pipeline, if
 * there are any.
 */
function refuse(found: readonly ConfigurationProblem[], document: SourceDocument, config: Pointer): void {
  const problems = found.map(({ key, reason, help }): Problem => {
    const pointer = child(config, key);
    const place = placeOf(document, pointer, "value");
    return wrongCombination(place, pointer, reason, help);
  });
  if (problems.length > 0) throw refusal(document.file, problems);
}

/** Codes of errors that name their own place. */
const saysWhere = new Set<ErrorCode>([
  "DATASET_EMPTY",
  "DEMONSTRATIONS_EMPTY",
  "EXAMPLES_EMPTY",
  "PATH_UNUSABLE",
  "TEXT_ENCODING_WRONG",
]);

/** Problems of a data file name their own places. All others are reported at the place in the pipeline. */
function problemsOf(place: Place, cause: unknown): Problem[] {
  if (isEverturnError(cause) && cause.problems.length > 0)
    return cause.problems.map((error) => ({ place, error }));
  if (isEverturnError(cause) && saysWhere.has(cause.code)) return [{ place, error: cause }];
  const reason = messageOf(cause);
  return [{ place, error: new EverturnError("PLUGIN_UNUSABLE", { at: place.text, reason }, { cause }) }];
}
