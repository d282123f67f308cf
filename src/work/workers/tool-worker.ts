import { randomUUID } from "node:crypto";
// biome-ignore lint/style/noRestrictedImports: hosts.jsonl: pauses of tool hosts on a machine, for people and diagnoses
import { appendFileSync } from "node:fs";
import { oneAtATime } from "../../base/async/one-at-a-time.ts";
import { sharedPromises } from "../../base/async/shared-promises.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { machineFolder, machineName } from "../../base/processes/machine-folder.ts";
import { ownIdentity } from "../../base/processes/process-identity.ts";
import { instruments } from "../../base/telemetry/instruments.ts";
import type { Plan, ResolvedTool } from "../../contracts/plan.ts";
import type { ToolHostChange, ToolHostLine } from "../../contracts/tool-host-change.ts";
import { plainReward } from "../../plan/pipeline/resolve/call-settings.ts";
import { settingsOfHost } from "../../plan/pipeline/resolve/host-settings.ts";
import { pluginHosts } from "../../plugin/host/plugin-hosts.ts";
import { toolName } from "../../plugin/registry/tool-functions.ts";
import { type OpenRun, openRuns } from "../../run/folder/open-runs.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import { openRunStore } from "../../run/store/open-run-store.ts";
import type { Store } from "../../run/store/store.ts";
import { type Journal, runJournal } from "../../run/trajectory/run-journal.ts";
import { type AgentHost, agentHost } from "../agents/agent-host.ts";
import { holdInstances, type Instances } from "../tools/instances.ts";
import { openLeases } from "../tools/leases.ts";
import { type OpenReward, openReward } from "../tools/open-reward.ts";
import { type OpenTool, openTool } from "../tools/open-tool.ts";
import { pluginHostRecords } from "../tools/plugin-host-records.ts";
import { openRecordings } from "../tools/recordings.ts";
import { createToolHost, type ToolHost } from "../tools/tool-host.ts";
import { toolThread } from "../tools/tool-thread.ts";
import { takeWorkerNumber } from "../tools/worker-number.ts";

/**
 * What the activities of the queue `tools` share in a worker: the run, its tools, their hosts and instances.
 */
export interface ToolWorker {
  openRun(run: string): Promise<OpenRun>;
  journal(run: string): Promise<Journal>;
  tool(name: string): Promise<OpenTool>;
  instances: Instances;
  /**
   * The queue on which only this worker serves the instances that it holds. Its name contains the machine and
   * the worker's number there.
   */
  ownQueue(): Promise<string>;
  /** The results that an earlier run recorded. */
  recordings(folder: string): ReturnType<typeof openRecordings>;
  /**
   * Does `work` after earlier work with the same key, so that attempts at one call never overlap in a worker.
   */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The host with this name. Its calls share a breaker and limits. */
  host(name: string): Promise<ToolHost>;
  /** The reward with this index in the plan, from 0. */
  reward(index: number): Promise<OpenReward>;
  /** Runs the agents of trajectories whose loop waits for their requests. */
  agents: AgentHost;
  /** Frees the resources of dead workers. */
  reap(): Promise<void>;
  /**
   * Frees the resources of dead workers and starts the plugins' threads. From then on, regularly renews this
   * worker's leases and frees abandoned ones.
   */
  start(): Promise<void>;
  /** Releases every instance that is still held. */
  close(): Promise<void>;
}

/** Milliseconds between two checks of the leases. */
const leaseInterval = 5000;

/** Creates a tool worker for `run` in the folder `runs`, on the queue `queue`. */
export function toolWorker(runs: string, run: string, queue = "tools"): ToolWorker {
  const folder = runFolder(runs, run);
  const openRun = openRuns(runs);
  const tools = sharedPromises<OpenTool>();
  const rewards = sharedPromises<OpenReward>();
  const hosts = new Map<string, ToolHost>();
  const recordings = new Map<string, ReturnType<typeof openRecordings>>();
  const { hostPauses } = instruments();
  let ticking: NodeJS.Timeout | undefined;
  let tick: Promise<void> = Promise.resolve();

  const here = machineFolder(folder.root);
  const owner = ownIdentity();
  const numbers = sharedPromises<string>();
  const ownQueue = () =>
    numbers.get("own", async () => `${queue}@${machineName}-${await takeWorkerNumber(here, owner)}`);
  const journals = sharedPromises<Journal>();
  const journal = (id: string) => journals.get(id, async () => runJournal(await openRun(id)));
  const read: Store["read"] = async (key) => (await journal(run)).read(key);
  const store = { ...openRunStore(folder.root), read };
  const worker = { id: randomUUID(), owner, queue: ownQueue };
  const instances = holdInstances(store, openLeases(here), worker, tool, log);
  const records = pluginHostRecords(here, owner);
  const processes = pluginHosts(records, log);
  const agents = agentHost(records, log);

  function tool(name: string): Promise<OpenTool> {
    return tools.get(name, async () => {
      const { plan } = await openRun(run);
      const resolved = toolOf(plan, name);
      return openTool(
        resolved,
        await toolThread(resolved, name, log, processes.start),
        hostOf(plan, resolved.host),
      );
    });
  }

  function reward(index: number): Promise<OpenReward> {
    return rewards.get(String(index), async () => {
      const { plan } = await openRun(run);
      const resolved = plan.rewards[index];
      if (resolved === undefined) throw new Error(`The plan has no reward ${index}.`);
      const { calls, manifest } = resolved;
      const { pure } = manifest.reward ?? plainReward;
      return openReward(resolved, calls, hostOf(plan, calls.host), log, pure ? undefined : processes.start);
    });
  }

  function hostOf(plan: Plan, name: string): ToolHost {
    const host = hosts.get(name) ?? createToolHost(name, settingsOfHost(plan, name), onChange);
    hosts.set(name, host);
    return host;
  }

  function onChange(change: ToolHostChange): void {
    if (change.state === "paused") hostPauses.add(1, { host: change.host });
    const line: ToolHostLine = { at: new Date().toISOString(), ...change };
    try {
      appendFileSync(folder.hosts, `${JSON.stringify(line)}\n`);
    } catch (error) {
      log(`${folder.hosts} lacks a line: ${messageOf(error)}`); // no call depends on the file
    }
    log(`the host ${change.host} is ${change.state} after ${change.seconds.toFixed(1)} s ${change.reason}`);
  }

  async function lookAtLeases(): Promise<void> {
    try {
      await instances.renew();
      await records.reap(); // first, because a dead worker's host may still act
      await instances.reap(true);
    } catch (error) {
      log(`leases: ${messageOf(error)}`); // the next check may succeed
    }
  }

  return {
    openRun,
    journal,
    tool,
    instances,
    ownQueue,
    recordings: (earlier) => {
      const known = recordings.get(earlier) ?? openRecordings(earlier);
      recordings.set(earlier, known);
      return known;
    },
    inTurn: oneAtATime(),
    host: async (name) => hostOf((await openRun(run)).plan, name),
    reward,
    agents,
    reap: lookAtLeases,
    start: async () => {
      await lookAtLeases();
      const { plan } = await openRun(run);
      const names = plan.tools.map(toolName);
      // Their threads start in the meantime. Callers of a tool or reward receive its errors.
      for (const opening of [...plan.rewards.map((_, index) => reward(index)), ...names.map(tool)]) {
        opening.catch(() => {});
      }
      ticking = setInterval(() => {
        tick = tick.then(lookAtLeases);
      }, leaseInterval);
    },
    close: async () => {
      clearInterval(ticking);
      await tick;
      await agents.close();
      for (const { breaker } of hosts.values()) breaker.close();
      await instances.close();
      for (const opened of await Promise.allSettled([...tools.all(), ...rewards.all()])) {
        if (opened.status === "fulfilled") await opened.value.close();
      }
      await processes.close();
    },
  };
}

function toolOf({ tools }: Plan, name: string): ResolvedTool {
  const found = tools.find((tool) => toolName(tool) === name);
  if (found === undefined) {
    throw new EverturnError("TOOL_FAILED", { tool: name, reason: "the run's plan has no such tool" });
  }
  return found;
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}
