import { EverturnError } from "../../base/errors/everturn-error.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import { defined } from "../../base/records/defined.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";

/** How a run starts its agents. Each trajectory has its own process. */
export interface AgentSettings {
  command: string;
  arguments: string[];
  /** Its working folder. Default: the worker's. */
  folder?: string;
  /** Its environment variables, in addition to the usual ones and those for its session. */
  environment: Record<string, string>;
  /** The maximum milliseconds of a process. */
  timeout: number;
  /** The maximum number of attempts. */
  attempts: number;
  /** Concurrent processes of one worker. */
  concurrency: number;
}

/** The variables of the worker's environment that any program needs. */
const usual = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/**
 * The settings of a loop whose requests come from an agent, from its validated configuration. Throws
 * AGENT_GAVE_UP.
 */
export function agentSettings(
  loop: string,
  config: JsonObject,
  worker: Record<string, string | undefined>,
): AgentSettings {
  const { command = [], module, export: name, folder, environment, secrets, ...limits } = config;
  const written = texts(command);
  const isModule = typeof module === "string";
  if (isModule === written.length > 0) {
    const reason =
      "its configuration needs either “command”, which starts it, or “module”, where it is defined";
    throw new EverturnError("AGENT_GAVE_UP", { agent: loop, times: "before it was started", reason });
  }
  const [program = "", ...rest] = isModule
    ? [
        process.execPath,
        ownModule("src/work/agents/agent-main"),
        module,
        typeof name === "string" ? name : "default",
      ]
    : written;
  const missing = texts(secrets).find((secret) => worker[secret] === undefined);
  if (missing !== undefined) {
    const reason = `the worker's environment has no ${missing}, which “secrets” names`;
    throw new EverturnError("AGENT_GAVE_UP", { agent: loop, times: "before it was started", reason });
  }
  return defined({
    command: program,
    arguments: rest,
    folder: typeof folder === "string" ? folder : undefined,
    environment: { ...picked(worker, [...usual, ...texts(secrets)]), ...textsByName(environment) },
    timeout: numberOr(limits.timeout, 1800) * 1000,
    attempts: numberOr(limits.attempts, 3),
    concurrency: numberOr(limits.concurrency, 16),
  });
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
