import {
  ActivityFailure,
  type ActivityOptions,
  scheduleActivity,
  scheduleLocalActivity,
  TimeoutFailure,
} from "@temporalio/workflow";
import type {
  Askable,
  CallToolInput,
  CallToolResult,
  HeldElsewhere,
  SilentWorker,
} from "../src/contracts/activities.ts";
import type { Queues, ToolBinding, TrajectoryPlace } from "../src/contracts/trajectory.ts";
import { summary } from "../src/run/projections/cut.ts";
import {
  answerTimeAfter,
  atHolder,
  boundedItself,
  heartbeatTimeout,
  isServedHere,
  schedule,
} from "./schedule.ts";

interface ToolActivity {
  queues: Queues;
  /** The queue of the worker that holds the tool's state, if known. */
  holder: string | undefined;
  /** Called with the queue of the worker that holds the tool's state. */
  onHolder: (queue: string) => void;
  /** The journal has the call's result. Reading it takes less time than a round trip to the server. */
  isRecorded?: boolean;
}

/**
 * Calls a tool. Any worker of the common queue takes calls of stateless tools and the first call of a
 * stateful tool. Later calls go to the queue of the worker that holds the state. If that worker does not take
 * the call, or stops sending heartbeats, any other worker takes it. That worker restores the state, or
 * reports that the holder is only busy.
 */
export async function callToolActivity(
  binding: ToolBinding,
  request: CallToolInput & { isUnasked?: never },
  activity: ToolActivity,
): Promise<CallToolResult>;
export async function callToolActivity(
  binding: ToolBinding,
  request: CallToolInput,
  activity: ToolActivity,
): Promise<CallToolResult | Askable>;
export async function callToolActivity(
  binding: ToolBinding,
  request: CallToolInput,
  { queues, holder: known, onHolder, isRecorded = false }: ToolActivity,
): Promise<CallToolResult | Askable> {
  const { name } = binding.definition;
  const options = {
    ...boundedItself(binding.retry),
    summary: summary(JSON.stringify(request.arguments)),
  } as const;
  const isQuick = binding.pure || (isRecorded && !binding.stateful);
  if (isQuick && isServedHere("tools", queues)) {
    return scheduleLocalActivity<CallToolResult | Askable>(name, [request], options);
  }
  const remote: ActivityOptions = {
    ...options,
    taskQueue: queues.tools,
    heartbeatTimeout,
    cancellationType: "WAIT_CANCELLATION_COMPLETED", // the tool's state is released next
  };
  // The worker that runs the workflow begins activities of the common queue at once, without a round trip to
  // the server. There, the holder's own queue is used only if the holder turned out to be another worker.
  const named = (queue: string | undefined) => (isServedHere("tools", queues) ? undefined : queue);
  let holder = known;
  let silent: SilentWorker | undefined;
  for (;;) {
    const asked = silent === undefined ? request : { ...request, silent };
    const waited = silent !== undefined && silent.queue === holder ? silent.ms : 0;
    const patience = answerTimeAfter(waited);
    try {
      const result = await scheduleActivity<CallToolResult | HeldElsewhere | Askable>(
        name,
        [asked],
        holder === undefined ? remote : atHolder(remote, holder, patience),
      );
      if ("isAskable" in result) return result;
      holder = "heldBy" in result ? result.heldBy : named(result.holder);
      if (holder !== undefined) onHolder(holder);
      if (!("heldBy" in result)) return result;
    } catch (error) {
      if (holder === undefined || !isSilent(error)) throw error;
      silent = { queue: holder, ms: waited + patience };
      holder = undefined;
    }
  }
}

/**
 * Validates a question before a person sees it. Returns undefined, or the result that describes the model's
 * mistake.
 */
export async function checkQuestion(
  binding: ToolBinding,
  request: CallToolInput,
  tool: ToolActivity,
): Promise<CallToolResult | undefined> {
  const result = await callToolActivity(binding, { ...request, isUnasked: true }, tool);
  return "isAskable" in result ? undefined : result;
}

/** The tool that a function belongs to. */
export function toolOf({ tool, definition }: ToolBinding): string {
  return tool ?? definition.name;
}

/** The stateful tools among those of some functions. */
export function toolsWithState(bindings: readonly ToolBinding[]): string[] {
  return [...new Set(bindings.filter(({ stateful }) => stateful).map(toolOf))];
}

/** Releases a trajectory's tools at the workers that hold them. */
export async function releaseTools(
  queues: Queues,
  place: TrajectoryPlace,
  tools: readonly { name: string; holder: string | undefined }[],
): Promise<void> {
  const holders = new Set(tools.map(({ holder }) => holder));
  await Promise.all(
    [...holders].map(async (holder) => {
      const names = tools.filter((tool) => tool.holder === holder).map(({ name }) => name);
      const options = holder === undefined ? {} : { holder };
      const elsewhere = await schedule(queues, "release-tools", { place, tools: names }, options);
      // If the holder does not take the activity, it releases the tools in its own clean-up of finished
      // trajectories.
      if (holder !== undefined) return;
      const others = Object.entries(elsewhere ?? {}).map(([name, queue]) => ({ name, holder: queue }));
      if (others.length > 0) await releaseTools(queues, place, others);
    }),
  );
}

/** Whether a worker did not take an activity of its own queue, or stopped sending heartbeats. */
function isSilent(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return (
    cause instanceof TimeoutFailure &&
    (cause.timeoutType === "SCHEDULE_TO_START" || cause.timeoutType === "HEARTBEAT")
  );
}
