import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { child, type Pointer, pathText, valueAt } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import type { ToolActivities } from "../../../contracts/activities.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { largestStep } from "../../../contracts/rollout.ts";
import { isOfGroups } from "../../../plugin/registry/task-rewards.ts";
import { toolFunctions, toolName } from "../../../plugin/registry/tool-functions.ts";
import { partName } from "../read/part-name.ts";
import { rewardPlaces } from "../read/slots.ts";
import { wrongCombination } from "../read/wrong-combination.ts";
import { agentProblems } from "./agent-problems.ts";
import { loopProblems } from "./loop-problems.ts";

type Plugins = ReadonlyMap<Pointer, ResolvedPlugin>;

type CrossCheck = (document: SourceDocument, plugins: Plugins) => Problem[];

const checks: readonly CrossCheck[] = [
  batchProblems,
  largestBatchProblems,
  smallestGroupProblems,
  stalenessProblems,
  toolNameProblems,
  loopProblems,
  agentProblems,
  hostProblems,
  approvalProblems,
  rewardNameProblems,
  groupRewardProblems,
];

/**
 * Checks what a schema cannot express: batch sizes that must divide each other, groups that are too small,
 * tools with the same name, agents whose settings exclude each other, hosts that no tool uses.
 */
export function crossChecks(document: SourceDocument, plugins: Plugins): Problem[] {
  return checks.flatMap((check) => check(document, plugins));
}

function batchProblems(document: SourceDocument, plugins: Plugins): Problem[] {
  const pointer = "/rollout/batchSize";
  const value = valueAt(document.value, pointer);
  if (!isCount(value)) return [];
  const divisors: [Pointer, unknown][] = [
    ["/rollout/groupSize", valueAt(document.value, "/rollout/groupSize")],
    ["/trainer/config/minibatchSize", plugins.get("/trainer")?.config.minibatchSize],
  ];
  const counts = divisors.flatMap(([, divisor]) => (isCount(divisor) ? [divisor] : []));
  const step = counts.reduce(leastCommonMultiple, 1);
  const below = Math.floor(value / step) * step;
  const nearest = below > 0 ? `${below} or ${below + step}` : `${step}`;
  return divisors.flatMap(([divisorPointer, divisor]) => {
    if (!isCount(divisor) || value % divisor === 0) return [];
    const place = placeOf(document, pointer, "value");
    const number = (of: Pointer, count: number) =>
      isWritten(document, of) ? String(count) : `${count}, its default`;
    const hint = isWritten(document, divisorPointer)
      ? `Use ${nearest}.`
      : `Set ${pathText(pointer)} to ${nearest}, or set ${pathText(divisorPointer)} to what divides ${value}.`;
    const params = {
      at: place.text,
      where: pathText(pointer),
      value: number(pointer, value),
      divisorName: pathText(divisorPointer),
      divisor: number(divisorPointer, divisor),
      hint,
    };
    return [{ place, error: new EverturnError("BATCH_NOT_DIVISIBLE", params) }];
  });
}

/** Whether the user wrote a value, as opposed to a default. */
function isWritten(document: SourceDocument, pointer: Pointer): boolean {
  return document.offsets.has(pointer) || document.elsewhere?.has(pointer) === true;
}

function largestBatchProblems(document: SourceDocument): Problem[] {
  const pointer = "/rollout/batchSize";
  const value = valueAt(document.value, pointer);
  if (!isCount(value) || value <= largestStep) return [];
  const place = placeOf(document, pointer, "value");
  const reason = `is ${value}, but a step receives all its trajectories at once, and Temporal accepts at most ${largestStep}`;
  const hint = `Set it to ${largestStep} or less.`;
  return [wrongCombination(place, pointer, reason, hint)];
}

function smallestGroupProblems(document: SourceDocument): Problem[] {
  const pointer = "/rollout/minGroup";
  const value = valueAt(document.value, pointer);
  const groupSize = valueAt(document.value, "/rollout/groupSize");
  if (!isCount(value) || !isCount(groupSize) || value <= groupSize) return [];
  const place = placeOf(document, pointer, "value");
  const reason = `is ${value}, but rollout.groupSize is ${groupSize}: every group would be replaced`;
  const hint = `Set it to ${groupSize} or less.`;
  return [wrongCombination(place, pointer, reason, hint)];
}

/**
 * The number of trajectories that an asynchronous run may have admitted. The training workflow carries over
 * about 130 bytes for a group of one, and the total must stay below Temporal's limit of 2 MiB per payload.
 */
const mostAdmitted = 10_000;

function stalenessProblems(document: SourceDocument): Problem[] {
  const pointer = "/rollout/staleness";
  const staleness = valueAt(document.value, pointer);
  const batchSize = valueAt(document.value, "/rollout/batchSize");
  if (!isCount(staleness) || !isCount(batchSize) || (staleness + 1) * batchSize <= mostAdmitted) return [];
  const place = placeOf(document, pointer, "value");
  const admitted = (staleness + 1) * batchSize;
  const reason = `is ${staleness}, but then ${staleness + 1} batches of ${batchSize} trajectories, ${admitted}, may be under way: more than ${mostAdmitted}`;
  const most = Math.floor(mostAdmitted / batchSize) - 1;
  const hint = most > 0 ? `Set it to ${most} or less.` : "Lower rollout.batchSize, or set it to 0.";
  return [wrongCombination(place, pointer, reason, hint)];
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return (a / x) * b;
}

/** Names that no function may have, because a function's name is the type of its activity. */
const reserved: Record<keyof ToolActivities, string> = {
  "score-trajectory": "an activity of Everturn",
  "score-group": "an activity of Everturn",
  "release-tools": "an activity of Everturn",
  "run-agent": "an activity of Everturn",
  "continue-agent": "an activity of Everturn",
  "end-agent": "an activity of Everturn",
};

function toolNameProblems(document: SourceDocument, plugins: Plugins): Problem[] {
  const owners = new Map<string, string>(Object.entries(reserved));
  const tools = new Map<string, string>();
  return [...plugins].flatMap(([pointer, resolved]) => {
    if (resolved.manifest.tool === undefined) return [];
    const place = placeOf(document, child(pointer, "plugin"), "value");
    const here = `${pathText(pointer)} (${place.text})`;
    const { name: plugin } = resolved;
    const taken = (names: Map<string, string>, tool: string): Problem[] => {
      const other = names.get(tool);
      names.set(tool, other ?? here);
      if (other === undefined) return [];
      return [{ place, error: new EverturnError("DUPLICATE_TOOL", { at: place.text, plugin, tool, other }) }];
    };
    const functions = toolFunctions(resolved).flatMap(({ name }) => taken(owners, name));
    return functions.length > 0 ? functions : taken(tools, toolName(resolved));
  });
}

function hostProblems(document: SourceDocument, plugins: Plugins): Problem[] {
  const hosts = valueAt(document.value, "/hosts");
  if (typeof hosts !== "object" || hosts === null) return [];
  const known = [...plugins].flatMap(([pointer, plugin]) => {
    const {
      name,
      manifest: { kind, tool, reward },
    } = plugin;
    const named = valueAt(document.value, child(pointer, "host"));
    if (typeof named === "string") return [named];
    if (kind === "reward") return [reward?.host ?? name];
    return tool === undefined ? [] : [tool.host ?? toolName(plugin)];
  });
  const unknown = Object.keys(hosts).filter((host) => !known.includes(host));
  return unknown.map((key) => {
    const place = placeOf(document, child("/hosts", key), "key");
    const hint = `The hosts of the tools and the reward are: ${known.join(", ")}.`;
    return { place, error: new EverturnError("UNKNOWN_KEY", { at: place.text, key, where: "hosts", hint }) };
  });
}

/** Metrics distinguish the rewards of a list, and the tools, by their names. */
function rewardNameProblems(document: SourceDocument, plugins: Plugins): Problem[] {
  if (!Array.isArray(valueAt(document.value, "/reward"))) return [];
  const owners = new Map<string, string>();
  for (const [pointer, plugin] of plugins) {
    for (const { name } of toolFunctions(plugin)) owners.set(name, pathText(pointer));
  }
  return rewardPlaces(document.value).flatMap((pointer) => {
    const plugin = plugins.get(pointer);
    const given = valueAt(document.value, child(pointer, "name"));
    const name = typeof given === "string" ? given : plugin && partName(plugin);
    if (name === undefined) return [];
    const other = owners.get(name);
    owners.set(name, other ?? pathText(pointer));
    if (other === undefined) return [];
    const place = placeOf(document, child(pointer, given === undefined ? "plugin" : "name"), "value");
    const reason = `is called “${name}” in metrics, as ${other} is`;
    return [wrongCombination(place, pointer, reason, "Give it a `name` of its own.")];
  });
}

/** A group reward compares several trajectories that other rewards have scored. */
function groupRewardProblems(document: SourceDocument, plugins: Plugins): Problem[] {
  const places = rewardPlaces(document.value);
  const isOfGroup = (pointer: Pointer) => {
    const plugin = plugins.get(pointer);
    return plugin !== undefined && isOfGroups(plugin);
  };
  const groups = places.filter(isOfGroup);
  const groupSize = valueAt(document.value, "/rollout/groupSize");
  return groups.flatMap((pointer) => {
    const place = placeOf(document, child(pointer, "plugin"), "value");
    const problem = (reason: string, hint: string): Problem => {
      return wrongCombination(place, pointer, reason, hint);
    };
    if (groups.length === places.length)
      return [
        problem(
          "compares the trajectories of a group, but no other reward scores each of them",
          "Put one before it, with weight 0 if it is only to be compared.",
        ),
      ];
    if (groupSize !== 1) return [];
    return [
      problem("compares the trajectories of a group, but rollout.groupSize is 1", "Set that to 2 or more."),
    ];
  });
}

/** `approvalTimeout` and `whom` have no meaning where no person is asked. */
function approvalProblems(document: SourceDocument, plugins: Plugins): Problem[] {
  const tools = valueAt(document.value, "/tools");
  return (Array.isArray(tools) ? tools : []).flatMap((_, index) => {
    const tool = child("/tools", index);
    const isAsked = plugins.get(tool)?.manifest.tool?.person === true;
    if (isAsked || valueAt(document.value, child(tool, "approval")) !== undefined) return [];
    return ["approvalTimeout", "whom"].flatMap((key) => {
      const pointer = child(tool, key);
      if (valueAt(document.value, pointer) === undefined) return [];
      const place = placeOf(document, pointer, "key");
      const reason = "is there, but the tool's calls need no approval";
      return [wrongCombination(place, pointer, reason, "Add `approval: required`.")];
    });
  });
}
