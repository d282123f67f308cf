import type { ConfigurationProblem } from "../contracts/configuration-problem.ts";
import type { ResolvedPlugin } from "../contracts/plan.ts";
import { EverturnError, isEverturnError } from "../errors/everturn-error.ts";
import { messageOf } from "../errors/message-of.ts";
import type { ErrorCode } from "../errors/table.ts";
import {
  loadDataset,
  loadLoop,
  loadLoss,
  loadPolicy,
  loadReward,
  loadTool,
  loadTrainer,
} from "../plugins/registry.ts";
import type { Place } from "../validation/place.ts";
import { child, type Pointer, pathText } from "../validation/pointer.ts";
import { type Problem, refusal } from "../validation/problem.ts";
import { placeOf, type SourceDocument } from "../validation/source-document.ts";
import { readDemonstrations } from "./demonstrations.ts";
import { resolvedTraining, surroundingsOf, type UnresolvedPlan } from "./resolve-training.ts";

/** Loads a plan's plugins, tasks and demonstrations once: what can't be loaded is found before anything starts. */
export async function loadProblems(plan: UnresolvedPlan, document: SourceDocument): Promise<Problem[]> {
  const place = (pointer: Pointer) => placeOf(document, pointer, "value");
  const loads: [Place, Promise<unknown>][] = [
    [place("/policy/plugin"), checkPolicy(plan, document)],
    [place("/loop/plugin"), loadLoop(plan.loop)],
    [place("/reward/plugin"), loadReward(plan.reward)],
    [place("/trainer/plugin"), checkTrainer(plan, document)],
    ...plan.tools.map((tool, index): [Place, Promise<unknown>] => [
      place(child(child("/tools", index), "plugin")),
      loadTool(tool),
    ]),
    [place("/dataset/train/plugin"), loadTasks(plan.dataset.train, place("/dataset/train"))],
    [place("/dataset/validation/plugin"), loadTasks(plan.dataset.validation, place("/dataset/validation"))],
  ];
  if (plan.trainer.loss !== undefined) {
    loads.push([place("/trainer/loss/plugin"), loadLoss(plan.trainer.loss)]);
  }
  if (plan.warmStart !== undefined) {
    loads.push([place("/warmStart/demonstrations"), readDemonstrations(plan.warmStart.demonstrations)]);
  }
  const results = await Promise.allSettled(loads.map(([, loading]) => loading));
  const failed = loads.map(([at], index): Problem[] => {
    const result = results[index];
    return result?.status === "rejected" ? problemsOf(at, result.reason) : [];
  });
  return failed.flat();
}

async function loadTasks(plugin: ResolvedPlugin, place: Place): Promise<void> {
  const dataset = await loadDataset(plugin);
  const tasks = await dataset.load(structuredClone(plugin.config));
  if (tasks.length === 0) throw new EverturnError("DATASET_EMPTY", { at: place.text });
}

async function checkPolicy({ policy }: UnresolvedPlan, document: SourceDocument): Promise<void> {
  const plugin = await loadPolicy(policy);
  refuse(plugin.check?.(structuredClone(policy.config)) ?? [], document, "/policy/config");
}

async function checkTrainer(plan: UnresolvedPlan, document: SourceDocument): Promise<void> {
  const plugin = await loadTrainer(plan.trainer);
  const policy = await loadPolicy(plan.policy).catch(() => undefined); // which is said at its own place
  if (policy === undefined) return;
  const surroundings = surroundingsOf(plan, policy);
  const { config } = resolvedTraining(plugin, plan.trainer, surroundings);
  refuse(plugin.check?.(config, surroundings) ?? [], document, "/trainer/config");
}

/** Throws what a plugin says of its own configuration, which is at `config` of the pipeline, if it says anything. */
function refuse(found: readonly ConfigurationProblem[], document: SourceDocument, config: Pointer): void {
  const problems = found.map(({ key, reason, help }): Problem => {
    const pointer = child(config, key);
    const place = placeOf(document, pointer, "value");
    const params = { at: place.text, where: pathText(pointer), reason, hint: help };
    return { place, error: new EverturnError("WRONG_COMBINATION", params) };
  });
  if (problems.length > 0) throw refusal(document.file, problems);
}

/** Codes of errors that name a place of their own. */
const saysWhere = new Set<ErrorCode>(["DATASET_EMPTY", "PATH_UNUSABLE", "TEXT_ENCODING_WRONG"]);

/** Problems of a data file name their own places; anything else is said of the place in the pipeline. */
function problemsOf(place: Place, cause: unknown): Problem[] {
  if (isEverturnError(cause) && cause.problems.length > 0)
    return cause.problems.map((error) => ({ place, error }));
  if (isEverturnError(cause) && saysWhere.has(cause.code)) return [{ place, error: cause }];
  const reason = messageOf(cause);
  return [{ place, error: new EverturnError("PLUGIN_UNUSABLE", { at: place.text, reason }, { cause }) }];
}
