import { availableParallelism } from "node:os";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import { defined } from "../../base/records/defined.ts";
import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";
import { agentConflict } from "../../plan/pipeline/check/agent-problems.ts";

/** A module that exports an agent. */
export interface AgentModule {
  file: string;
  export: string;
  /** What the agent receives as `settings`. */
  settings: JsonObject;
}

/** How a run starts its agents. */
export interface AgentSettings {
  /**
   * Where an agent runs: in a process for each trajectory, in processes that are kept for the next trajectories, or in
   * threads of the worker.
   */
  mode: "process" | "pool" | "thread";
  command: string;
  arguments: string[];
  /** The module that the command loads, if it loads one. */
  module?: AgentModule;
  /** Its working folder. Default: the worker's. */
  folder?: string;
  /** Its environment variables, in addition to the usual ones and those for its session. */
  environment: Record<string, string>;
  /** The maximum milliseconds of an attempt. */
  timeout: number;
  /** The maximum number of attempts. */
  attempts: number;
  /** Concurrent agents of one worker. */
  concurrency: number;
}

/** Concurrent processes per core, if the pipeline names no number. Agents wait for the policy most of the time. */
const processesPerCore = 4;

/** The variables of the worker's environment that any program needs. */
const usual = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/**
 * The settings of a loop whose requests come from an agent, from its validated configuration. At most `trajectories`
 * run at once. Throws AGENT_GAVE_UP.
 */
export function agentSettings(
  loop: string,
  config: JsonObject,
  worker: Record<string, string | undefined>,
  trajectories: number,
): AgentSettings {
  const { command = [], folder, environment, secrets, ...limits } = config;
  const written = texts(command);
  const module = moduleIn(config);
  const mode = config.mode === "pool" || config.mode === "thread" ? config.mode : "process";
  const unusable = (reason: string) =>
    new EverturnError("AGENT_GAVE_UP", { agent: loop, times: "before it was started", reason });
  const conflict = agentConflict(config);
  if (conflict !== undefined) throw unusable(`its ${conflict.key ?? "configuration"} ${conflict.reason}`);
  const missing = texts(secrets).find((secret) => worker[secret] === undefined);
  if (missing !== undefined)
    throw unusable(`the worker's environment has no ${missing}, which “secrets” names`);
  const [program = "", ...rest] =
    module === undefined
      ? written
      : [
          process.execPath,
          ownModule("src/work/agents/agent-main"),
          module.file,
          module.export,
          JSON.stringify(module.settings),
        ];
  const most = mode === "thread" ? trajectories : processesPerCore * availableParallelism();
  return defined({
    mode,
    command: program,
    arguments: rest,
    module,
    folder: typeof folder === "string" ? folder : undefined,
    environment: { ...picked(worker, [...usual, ...texts(secrets)]), ...textsByName(environment) },
    timeout: numberOr(limits.timeout, 1800) * 1000,
    attempts: numberOr(limits.attempts, 3),
    concurrency: Math.min(trajectories, numberOr(limits.concurrency, most)),
  });
}

function moduleIn({ module, export: name, settings = {} }: JsonObject): AgentModule | undefined {
  if (typeof module !== "string") return undefined;
  return {
    file: module,
    export: typeof name === "string" ? name : "default",
    settings: isObject(settings) ? settings : {},
  };
}

function picked(from: Record<string, string | undefined>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = from[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function textsByName(value: JsonValue | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, text]) => [name, String(text)]));
}

function numberOr(value: JsonValue | undefined, other: number): number {
  return typeof value === "number" ? value : other;
}
