import { rootCause, startChild, workflowInfo } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type { GroupPlace, OpenGroup, ShardInput, TrajectorySummary } from "../src/contracts/rollout.ts";
import { failure } from "./failure.ts";
import type { Shard } from "./in-shards.ts";
import { isServedHere } from "./schedule.ts";
import { stageAttributes } from "./search-attributes.ts";

interface Options extends Pick<ShardInput, "run" | "settings" | "queues" | "newest" | "source"> {
  /** The version that generates, or the oldest version that may. */
  position: { readonly policyVersion: number };
  quickTurns: () => boolean;
}

/** Returns a function that starts the shard workflow for some groups of a rollout. */
export function shardStarter({ position, quickTurns, ...common }: Options) {
  const { workflowId: workflow, firstExecutionRunId: execution } = workflowInfo();
  return async (
    { groups, concurrency }: Shard<OpenGroup>,
    index: number,
  ): Promise<{ ended: Promise<TrajectorySummary[]> }> => {
    const { run, settings, newest } = common;
    const { policyVersion } = position;
    const [first] = groups;
    if (first === undefined) return { ended: Promise.resolve([]) };
    const { stage, step, number } = first;
    const name =
      number === undefined ? `${stage}/shard-${index}` : `groups-${String(number).padStart(5, "0")}`;
    const isQuick = quickTurns();
    const input: ShardInput = {
      ...common,
      policyVersion,
      quickTurns: isQuick,
      // Trajectories of quick turns are made where their workflows run, so no other worker would take them over.
      startsHere: isQuick && isServedHere("policy", common.queues),
      groups: groups.map(placeOf),
      concurrency: newest ? settings.concurrency : concurrency, // admission limits an asynchronous run
      admitter: { workflow, execution },
    };
    const handle = await startChild<(input: ShardInput) => Promise<TrajectorySummary[]>>("shard", {
      args: [input],
      workflowId: `${run}/${name}`,
      // Shards of an asynchronous run outlive a continue-as-new. Others end with the workflow that waits for
      // them.
      parentClosePolicy: newest ? "ABANDON" : "TERMINATE",
      workflowIdReusePolicy: "TERMINATE_IF_RUNNING",
      typedSearchAttributes: stageAttributes({ run, stage, step, policyVersion }),
      staticSummary: `${groups.length} groups from policy version ${policyVersion}${newest ? " on" : ""}`,
    });
    const lost = (error: Error) => {
      const reason = (rootCause(error) ?? String(error)).replace(/\.$/, "");
      throw failure("ROLLOUT_LOST", { run, shard: name, reason });
    };
    return { ended: handle.result().catch(lost) };
  };
}

function placeOf({ number, step, stage, task, samples, round }: OpenGroup): GroupPlace {
  return defined({
    number,
    step,
    stage,
    task,
    samples,
    round,
  });
}
