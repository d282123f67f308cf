import type { Task } from "../contracts/generated/task.ts";
import type { JsonObject } from "../contracts/json.ts";
import type { ResolvedTool } from "../contracts/plan.ts";
import type { RewardPlugin } from "../contracts/reward.ts";
import type { ToolPlugin } from "../contracts/tool.ts";
import type { TrajectoryPlace } from "../contracts/trajectory.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { loadReward, loadTool } from "../plugins/registry.ts";
import { argumentsValidator } from "../plugins/validate-arguments.ts";
import { type OpenRun, openRuns } from "../runs/open-runs.ts";
import { sharedPromises } from "../runs/shared-promises.ts";

/** A tool of a run, ready to be called. */
export interface OpenTool {
  plugin: ToolPlugin<unknown>;
  config: JsonObject;
  /** What is wrong with the model's arguments, said to the model; undefined if nothing is. */
  validate(parameters: JsonObject): string | undefined;
}

/** What the activities of the queue `tools` share in a worker: open runs, their tools, and the tools' instances. */
export interface ToolWorker {
  openRun(run: string): Promise<OpenRun>;
  tool(run: string, name: string): Promise<OpenTool>;
  /**
   * The instance that `tool` made for this trajectory at its first call. Throws TOOL_STATE_LOST if the call
   * `continues` from an earlier one whose instance this worker does not hold.
   */
  instance(place: TrajectoryPlace, task: Task, tool: string, continues: boolean): Promise<unknown>;
  release(place: TrajectoryPlace, tool: string): Promise<void>;
  reward(run: string): Promise<RewardPlugin>;
  /** Releases every instance that is still held. */
  close(): Promise<void>;
}

/** A tool worker over the runs in the folder `runs`. */
export function toolWorker(runs: string): ToolWorker {
  const openRun = openRuns(runs);
  const tools = sharedPromises<OpenTool>();
  const instances = new Map<string, { plugin: ToolPlugin<unknown>; state: Promise<unknown> }>();

  function tool(run: string, name: string): Promise<OpenTool> {
    const key = `${run}/${name}`;
    return tools.get(key, () => openTool(run, name));
  }

  async function openTool(run: string, name: string): Promise<OpenTool> {
    const { plan } = await openRun(run);
    const resolved = toolOf(plan.tools, name);
    const plugin = await loadTool(resolved);
    const validate = argumentsValidator(resolved.manifest.tool?.parameters ?? {});
    return { plugin, config: resolved.config, validate };
  }

  async function release(key: string): Promise<void> {
    const held = instances.get(key);
    await held?.plugin.release?.(await held.state);
    instances.delete(key);
  }

  return {
    openRun,
    tool,
    instance: async (place, task, name, continues) => {
      const { plugin, config } = await tool(place.run, name);
      if (plugin.create === undefined) return undefined;
      const key = `${place.id}/${name}`;
      const held = instances.get(key);
      if (held !== undefined) return held.state;
      if (continues) throw new EverturnError("TOOL_STATE_LOST", { tool: name, trajectory: place.id });
      const create = async () => plugin.create?.({ instance: place.id, task, config });
      const state = create();
      instances.set(key, { plugin, state });
      state.catch(() => instances.delete(key));
      return state;
    },
    release: (place, name) => release(`${place.id}/${name}`),
    reward: async (run) => loadReward((await openRun(run)).plan.reward),
    close: async () => {
      await Promise.allSettled([...instances.keys()].map(release));
    },
  };
}

function toolOf(tools: ResolvedTool[], name: string): ResolvedTool {
  const found = tools.find((tool) => tool.manifest.tool?.name === name);
  if (found === undefined) {
    throw new EverturnError("TOOL_FAILED", { tool: name, reason: "the run's plan has no such tool" });
  }
  return found;
}
