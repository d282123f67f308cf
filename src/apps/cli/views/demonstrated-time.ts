import type { Plan } from "../../../contracts/plan.ts";
import { parseDuration } from "../../../plan/pipeline/read/duration.ts";
import { toolFunctions } from "../../../plugin/registry/tool-functions.ts";

/** The processor time of a turn without its generation and its calls, in seconds (benchmarks/turns.ts). */
const turnCpuTime = 0.015;

/** The tool calls of trajectories that call tools as the demonstrations do. */
export interface DemonstratedTime {
  /** The time that they add to a trajectory when all `cores` are busy, in seconds. Each call also takes a turn. */
  seconds: number;
  /** Whether a tool's manifest lacks its processor time, which counts as none. */
  isGuess: boolean;
}

/** Returns the calls that a plan's demonstrations show. */
export function demonstratedTime(
  { demonstratedCalls: calls = {}, tools, rollout }: Plan,
  cores: number,
): DemonstratedTime {
  const shown = Object.entries(calls).map(([name, count]) => ({ count, cpuTime: cpuTimeOf(tools, name) }));
  const cpu = shown.reduce((sum, { count, cpuTime = 0 }) => sum + count * (turnCpuTime + cpuTime), 0);
  return {
    seconds: cpu / Math.min(cores, rollout.concurrency),
    isGuess: shown.length === 0 || shown.some(({ cpuTime }) => cpuTime === undefined),
  };
}

/** The processor time of a call in seconds, as the manifest of its tool says. */
function cpuTimeOf(tools: Plan["tools"], name: string): number | undefined {
  const tool = tools.find((one) => toolFunctions(one).some((offered) => offered.name === name));
  const written = tool?.manifest.tool?.cpuTime;
  return written === undefined ? undefined : parseDuration(written) / 1000;
}
