import type { AgentLoop } from "../src/contracts/loop.ts";
import type { LoopBinding, TrajectoryInput } from "../src/contracts/trajectory.ts";
import { failure } from "./failure.ts";
import type { TaskReader } from "./trajectory-task.ts";

/** The agent loop that takes a trajectory's turns. */
export interface ChosenLoop extends LoopBinding {
  take: AgentLoop;
}

/** Returns a loop's code. Throws LOOP_NOT_BUNDLED. */
export function bundledLoop(loops: Record<string, AgentLoop>, { plugin }: LoopBinding): AgentLoop {
  const loop = loops[plugin];
  if (loop === undefined) throw failure("LOOP_NOT_BUNDLED", { loop: plugin });
  return loop;
}

/**
 * Returns the loop of a trajectory. Where the pipeline has several loops, the task names one in `agent_name`.
 * Throws AGENT_UNKNOWN.
 */
export async function chosenLoop(
  { loop, loops, place }: TrajectoryInput,
  task: TaskReader,
  bundled: Record<string, AgentLoop>,
): Promise<ChosenLoop> {
  const name = loops === undefined ? undefined : (await task.read()).agent_name;
  const named = name === undefined ? loop : loops?.[name];
  if (named === undefined) {
    const params = { at: place.id, agent: name ?? "", tasks: "its task asks for", hint: "" };
    throw failure("AGENT_UNKNOWN", params);
  }
  return { ...named, take: bundledLoop(bundled, named) };
}
