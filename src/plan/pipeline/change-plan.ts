import pipelineSchema from "../../../schemas/pipeline.schema.json" with { type: "json" };
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { checkValue } from "../../base/validation/check-value.ts";
import { problemsOf } from "../../base/validation/findings.ts";
import { child, type Pointer, parent, valueAt } from "../../base/validation/pointer.ts";
import { type Problem, refusal } from "../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../base/validation/source-document.ts";
import type { Pipeline } from "../../contracts/generated/pipeline.ts";
import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";
import type { Plan, PlanChange, ResolvedLoop, ResolvedPlugin } from "../../contracts/plan.ts";
import { checkConfig } from "../../plugin/registry/config.ts";
import { agentLoop } from "./check/agent-problems.ts";
import { crossChecks } from "./check/cross-checks.ts";
import { differences } from "./check/setting-differences.ts";
import { expandNames } from "./read/expand-names.ts";
import { applyOverrides } from "./read/overrides.ts";
import { planDocument } from "./read/plan-document.ts";
import { loopPlaces, rewardPlaces } from "./read/slots.ts";
import { assemblePlan } from "./resolve/assemble-plan.ts";

type Changed = PlanChange["changed"];

/** The number of concurrent agents, if the loop is one for agents. */
const agentLimit = /^(loop|loops\.[^.]+)\.config\.concurrency$/;

/**
 * Settings that may change during a run or after its end: its length, and the behavior of the processes that
 * run it.
 */
const changeable: readonly RegExp[] = [
  /^stopIf(\.|$)/,
  /^(steps|evaluation\.every|checkpoints\.every|retention\.singleRecords)$/,
  /^rollout\.(concurrency|maxInfrastructureFailures|staleness)$/,
  /^tools\.\d+\.(timeout|concurrency|rate|approval|approvalTimeout|retry\.\w+)$/,
  /^hosts\./,
  agentLimit,
];

const changeableText =
  "steps, stopIf, evaluation.every, checkpoints.every, retention.singleRecords, rollout.concurrency, rollout.maxInfrastructureFailures, rollout.staleness of an asynchronous run, a tool's timeout, retry, concurrency, rate and approval, the concurrency of loop-agent, and hosts";

const loopReason = "the trajectories so far were made with it";

/** Why other settings may not change, by the beginning of their names. The longest match applies. */
const reasons: readonly [beginning: string, reason: string][] = [
  ["rollout.batchSize", "the data cursor counts in it"],
  ["rollout.groupSize", "the data cursor counts in it"],
  ["evaluation.tasks", "evaluations on different tasks can't be compared"],
  ["name", "it names the run"],
  ["seed", "all that the run draws follows from it"],
  ["policy", "the versions so far are of this policy"],
  ["dataset", "the data cursor counts in these tasks"],
  ["tools", "the trajectories so far had these tools"],
  ["loops", "the trajectories so far were made with them"],
  ["loop", loopReason],
  ["reward", "the rewards so far are its"],
  ["trainer", "the optimizer's state is of these settings"],
  ["warmStart", "the versions so far began with it"],
  ["sft", "the versions so far were trained by it"],
  ["dpo", "the versions so far were trained by it"],
  ["trackers", "they have already received earlier results"],
  ["rollout", "the trajectories of a step, some of which may be under way, are sampled alike"],
];

/**
 * Returns a plan with `path.to.key=value` overrides of pipeline settings, and the changes. `begun` is the
 * number of steps that have begun. Throws OVERRIDE_INVALID, and WRONG_CONFIGURATION with the changes that are
 * invalid or would break the run.
 */
export function changePlan(
  plan: Plan,
  overrides: readonly string[],
  begun: number,
): { plan: Plan; changed: Changed } {
  const before = planDocument(plan);
  const document = expandNames(applyOverrides(before, overrides));
  checkValue(pipelineSchema, before.value); // fills the pipeline's defaults
  const { errors, valid: pipeline } = checkValue<Pipeline>(pipelineSchema, document.value);
  const { plugins, problems } = withAgentLimits(pluginsOf(plan, before.value), document);
  const invalid = [
    ...problemsOf(errors, document, { base: "", whole: "the pipeline", inPipeline: true }),
    ...problems,
    ...crossChecks(document, plugins),
  ];
  if (pipeline === undefined || invalid.length > 0) throw refusal(document.file, invalid);

  const changed = differences(before.value, pipeline);
  const refused = changed.flatMap(({ key, from, to }): Problem[] => {
    const pointer = key.split(".").reduce(child, "");
    const isOther = agentLimit.test(key) && plugins.get(parent(parent(pointer)))?.name !== agentLoop;
    const reason = isOther ? loopReason : reasonAgainst(key, from, to, begun);
    if (reason === undefined) return [];
    const place = placeOf(document, pointer, "value");
    const params = { at: place.text, key, reason, changeable: changeableText };
    return [{ place, error: new EverturnError("PLAN_NOT_CHANGEABLE", params) }];
  });
  if (refused.length > 0) throw refusal(document.file, refused);
  const { steps, tools, hosts, rollout, evaluation, checkpoints, retention, stopIf } = assemblePlan(
    plan.pipelineFile,
    pipeline,
    plugins,
  );
  const changes = { steps, tools, hosts, rollout, evaluation, checkpoints, retention };
  const { stopIf: _before, ...kept } = plan;
  const loops = Object.entries(plan.loops ?? {}).map(([name, one]) => [
    name,
    reconfigured(one, plugins.get(child("/loops", name))),
  ]);
  return {
    plan: defined<Plan>({
      ...kept,
      ...changes,
      loop: reconfigured(plan.loop, plugins.get("/loop")),
      loops: plan.loops && Object.fromEntries(loops),
      stopIf,
    }),
    changed,
  };
}

/** The recorded loop, whose files may be those of an earlier release, with its new settings. */
function reconfigured(loop: ResolvedLoop, plugin: ResolvedPlugin | undefined): ResolvedLoop {
  return { ...loop, config: plugin?.config ?? loop.config };
}

function reasonAgainst(key: string, from: JsonValue | undefined, to: JsonValue | undefined, begun: number) {
  if (!changeable.some((pattern) => pattern.test(key))) {
    return reasons.find(([beginning]) => key.startsWith(beginning))?.[1] ?? "the run's records depend on it";
  }
  if (key === "steps" && Number(to) < begun) return `step ${begun} has begun`;
  if (key === "rollout.staleness" && (from === 0 || to === 0)) {
    return "a run is synchronous or asynchronous from its beginning to its end";
  }
  return undefined;
}

/** Returns the plugins with the concurrency of agents that the document sets, and the problems of these numbers. */
function withAgentLimits(
  plugins: ReadonlyMap<Pointer, ResolvedPlugin>,
  document: SourceDocument,
): { plugins: ReadonlyMap<Pointer, ResolvedPlugin>; problems: Problem[] } {
  const changed = new Map(plugins);
  const problems: Problem[] = [];
  for (const pointer of ["/loop", ...loopPlaces(document.value)]) {
    const plugin = plugins.get(pointer);
    const place = child(pointer, "config");
    const given = valueAt(document.value, place);
    if (plugin?.name !== agentLoop || !isObject(given)) continue;
    if (given.concurrency === plugin.config.concurrency) continue;
    const config = defined<JsonObject>({ ...plugin.config, concurrency: given.concurrency });
    problems.push(...checkConfig(config, plugin, document, place, plugin.folder).problems);
    changed.set(pointer, { ...plugin, config });
  }
  return { plugins: changed, problems };
}

/** The plugins of a plan by their pointers in `pipeline`, the same plan in the form of a pipeline. */
function pluginsOf(plan: Plan, pipeline: unknown): Map<Pointer, ResolvedPlugin> {
  const { policy, dataset, tools, loop, loops = {}, rewards, trainer, trackers = [] } = plan;
  const places = rewardPlaces(pipeline);
  const uses: [Pointer, ResolvedPlugin][] = [
    ["/policy", policy],
    ...(dataset.train === undefined ? [] : [["/dataset/train", dataset.train] as [Pointer, ResolvedPlugin]]),
    ["/dataset/validation", dataset.validation],
    ["/loop", loop],
    ...Object.entries(loops).map(([name, one]): [Pointer, ResolvedPlugin] => [child("/loops", name), one]),
    ...rewards.map((reward, index): [Pointer, ResolvedPlugin] => [places[index] ?? "", reward]),
    ["/trainer", trainer],
    ...(trainer.loss === undefined ? [] : [["/trainer/loss", trainer.loss] as [Pointer, ResolvedPlugin]]),
    ...tools.map((tool, index): [Pointer, ResolvedPlugin] => [child("/tools", index), tool]),
    ...trackers.map((tracker, index): [Pointer, ResolvedPlugin] => [child("/trackers", index), tracker]),
  ];
  return new Map(uses);
}
