import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin, ResolvedTool } from "../../contracts/plan.ts";
import type { ToolCreation, ToolExecution } from "../../contracts/tool.ts";
import { callSettings } from "../../plan/pipeline/resolve/call-settings.ts";
import { settingsOfHost } from "../../plan/pipeline/resolve/host-settings.ts";
import type { CheckedResponse } from "../../plugin/host/checked-response.ts";
import type { InstanceState } from "../../plugin/host/plugin-thread.ts";
import { toolFunctions } from "../../plugin/registry/tool-functions.ts";
import { argumentsValidator } from "../../plugin/registry/validate-arguments.ts";
import { type OpenTool, openTool } from "../../work/tools/open-tool.ts";
import { createToolHost } from "../../work/tools/tool-host.ts";
import { toolThread } from "../../work/tools/tool-thread.ts";
import { type PluginCheckOptions, type ToolCase, taskOf } from "./cases.ts";
import { brokenBy } from "./promise.ts";
import { exampleValues, oddValues, plainValues } from "./sample-values.ts";

/** A tool with its test data. */
export interface ToolSubject {
  resolved: ResolvedTool;
  name: string;
  task: Task;
  /** The function that a case calls. */
  functionOf(one: ToolCase): string;
  /** At least one. */
  cases: readonly ToolCase[];
  /** Generated from the schema; empty for a tool that does more than compute. */
  odd: readonly ToolCase[];
  /** The tool's changes in the world, as text; undefined if they can't be observed. */
  effects(): Promise<string | undefined>;
}

/** A tool in a thread of its own, called as a worker would. */
export interface RunningTool {
  tool: OpenTool;
  /** The output of its thread. */
  log: string[];
  /** Creates an instance; undefined for a tool without state. */
  create(instance?: string): Promise<InstanceState | undefined>;
  call(given: ToolCase, how?: ExecuteOptions): Promise<CheckedResponse>;
}

export interface ExecuteOptions extends Partial<ToolExecution> {
  state?: InstanceState | undefined;
}

/** The number of consecutive calls for a tool with fewer cases. */
const usualCalls = 3;

/** How long a call may continue after its signal aborts, in ms. */
export const grace = 5000;

let keys = 0;

/**
 * Prepares the tool of a resolved plugin. Throws PLUGIN_CASE_INVALID if there is nothing to call, or if a case is
 * invalid.
 */
export function toolSubject(plugin: ResolvedPlugin, options: PluginCheckOptions, base: string): ToolSubject {
  const { tool } = plugin.manifest;
  if (tool === undefined) throw new Error(`${plugin.name} has no tool block`);
  const { cases: given = [], effects } = options;
  const functions = toolFunctions(plugin);
  const [first] = functions;
  const invalid = (what: string, reason: string, hint: string) =>
    new EverturnError("PLUGIN_CASE_INVALID", {
      plugin: plugin.name,
      what,
      reason: reason.replace(/\.$/, ""),
      hint,
    });
  const own = given.map((one, index): ToolCase => {
    const what = `case ${index + 1}`;
    if (!("arguments" in one)) throw invalid(what, "it has no arguments", "Write { arguments: { … } }.");
    const called = functions.length === 1 ? first : functions.find(({ name }) => name === one.function);
    if (called === undefined || (one.function ?? called.name) !== called.name) {
      const names = functions.map(({ name }) => name).join(", ");
      throw invalid(
        what,
        `it names no function of the tool (${one.function ?? "none"})`,
        `Its functions: ${names}.`,
      );
    }
    const wrong = argumentsValidator(called.parameters)(one.arguments);
    if (wrong !== undefined) throw invalid(what, wrong, "Correct the case, or the schema.");
    return one;
  });
  const { capabilities = {} } = plugin.manifest;
  const onlyComputes = !Object.values(capabilities).includes(true);
  const each = (values: (schema: JsonObject) => JsonObject[]): ToolCase[] =>
    functions.flatMap(({ name, parameters }) =>
      values(parameters).map((one) =>
        defined({ function: functions.length > 1 ? name : undefined, arguments: one }),
      ),
    );
  const made = each(onlyComputes ? plainValues : exampleValues);
  const cases = own.length > 0 ? own : made;
  if (cases.length === 0) {
    const reason = onlyComputes
      ? "no arguments could be made up that its schema lets through"
      : "it does more than compute, so that nothing is made up for it";
    throw invalid(
      "no case",
      reason,
      "Give a case (--case '{\"arguments\": {…}}'), or `examples` in its parameters.",
    );
  }
  return {
    resolved: { ...plugin, ...callSettings(tool.name, tool, {}) },
    name: tool.name,
    functionOf: (one) => one.function ?? first?.name ?? "",
    task: taskOf(options),
    cases,
    odd: [...made, ...(onlyComputes ? each(oddValues) : [])],
    effects: async () => {
      if (effects === undefined) return undefined;
      if (typeof effects === "function") return JSON.stringify(await effects()) ?? "";
      return contentOf(resolve(base, effects));
    },
  };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The calls of a trajectory: the cases, repeated if there are few. */
export function sequenceOf({ cases }: ToolSubject): ToolCase[] {
  const rounds = Math.ceil(usualCalls / cases.length);
  return Array.from({ length: rounds }, () => cases).flat();
}

/** Runs `work` with the tool in a thread of its own, which is then ended without notice. */
export async function withTool<T>(
  subject: ToolSubject,
  work: (called: RunningTool) => Promise<T>,
): Promise<T> {
  const { resolved, name } = subject;
  const log: string[] = [];
  const { tool, close } = await openAlone(resolved, name, (text) => log.push(text));
  try {
    return await work(calledTool(subject, tool, log));
  } finally {
    await close();
  }
}

/**
 * Opens a tool like a worker, in a thread of its own, in a plugin host that belongs to no run. Throws
 * PLUGIN_ENTRY_FAILED and PLUGIN_EXPORT_INVALID.
 */
export async function openAlone(
  resolved: ResolvedTool,
  name: string,
  log: (text: string) => void,
): Promise<{ tool: OpenTool; close(): Promise<void> }> {
  const thread = await toolThread(resolved, name, log);
  const host = createToolHost(name, settingsOfHost({ hosts: {} }, name), () => {});
  const close = async () => {
    host.breaker.close();
    await thread.close();
  };
  return { tool: openTool(resolved, thread, host), close };
}

/** The information that a new instance receives. */
export function creationOf(
  { resolved, task }: ToolSubject,
  instance: string,
  hold: (handle: JsonValue) => void = () => {},
): ToolCreation {
  const { config } = resolved;
  return { instance, task, config, environment: {}, signal: new AbortController().signal, hold };
}

function calledTool(subject: ToolSubject, tool: OpenTool, log: string[]): RunningTool {
  const { config } = subject.resolved;
  return {
    tool,
    log,
    create: async (instance = "check/1") =>
      tool.isStateful ? tool.plugin.create?.(creationOf(subject, instance)) : undefined,
    call: async (given, { state, ...how } = {}) => {
      const execution: ToolExecution = {
        instance: "check/1",
        function: subject.functionOf(given),
        key: newKey(),
        attempt: 1,
        config,
        isReplay: false,
        signal: new AbortController().signal,
        ...how,
      };
      try {
        return await tool.plugin.execute(given.arguments, execution, state);
      } catch (error) {
        throw brokenBy(`${callText(given)} failed`, error);
      }
    },
  };
}

/** A key that no other call has. */
export function newKey(): string {
  return `check/${++keys}/0`;
}

/** A call, worded for messages. */
export function callText({ function: name, arguments: given }: ToolCase): string {
  return `the call ${name === undefined ? "" : `of ${name} `}with ${shortened(JSON.stringify(given))}`;
}

/** A text, shortened for messages. */
export function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}

/** An answer as text, for comparison. */
export function answerText({ text, media, error, reward, invalid, done }: CheckedResponse): string {
  const digests = media?.flatMap(({ frames }) => frames.map(({ data }) => hash("sha256", data)));
  return JSON.stringify(
    defined({
      text,
      media: digests,
      error: error ? true : undefined,
      reward: reward ? reward : undefined,
      invalid,
      done: done ? true : undefined,
    }),
  );
}

/** Waits until the last requested call is on its way to its thread. */
export async function begun(): Promise<void> {
  await immediate();
  await immediate();
}

/** Waits for `promise`, and returns whether it settled within `ms`. */
export async function isDoneWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const late = sleep(ms, false, { signal: stop.signal }).catch(() => false);
  try {
    return await Promise.race([
      promise.then(
        () => true,
        () => true,
      ),
      late,
    ]);
  } finally {
    stop.abort();
  }
}
