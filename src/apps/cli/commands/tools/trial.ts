import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../../base/errors/message-of.ts";
import { defined } from "../../../../base/records/defined.ts";
import { suggestion } from "../../../../base/validation/nearest.ts";
import type { Task } from "../../../../contracts/generated/task.ts";
import type { JsonObject } from "../../../../contracts/json.ts";
import type { ResolvedPlugin, ResolvedTool } from "../../../../contracts/plan.ts";
import { openAlone } from "../../../../control/conformance/tool-subject.ts";
import { callSettings } from "../../../../plan/pipeline/resolve/call-settings.ts";
import type { CheckedResponse } from "../../../../plugin/host/checked-response.ts";
import type { InstanceState } from "../../../../plugin/host/plugin-thread.ts";
import { toolFunctions } from "../../../../plugin/registry/tool-functions.ts";
import { functionOf } from "../../../../work/tools/open-tool.ts";

/** A call that was made by hand. */
export interface Tried extends Pick<CheckedResponse, "error" | "reward" | "metrics" | "done"> {
  /** For a tool with several functions: the called one. */
  function?: string;
  arguments: JsonObject;
  /** The text that the model reads. */
  text: string;
  seconds: number;
  /** Whether its arguments break the schema, or the tool rejected it. */
  invalid?: boolean;
  /** The kind and size of each image. */
  media?: string[];
  /** The failure of its infrastructure, after which a run would retry it. */
  failed?: string;
}

/** A tool that is called by hand: the calls of one trajectory, on one instance. */
export interface Trial {
  /** Its description for the policy. */
  described: string;
  /** Calls a function. `name` is optional for a tool with one function. */
  call(given: JsonObject, name?: string): Promise<Tried>;
  /** Releases the instance. */
  close(): Promise<void>;
}

/** Opens a tool like a worker, in a thread of its own. Throws PLUGIN_ENTRY_FAILED and PLUGIN_EXPORT_INVALID. */
export async function openTrial(plugin: ResolvedPlugin, columns: JsonObject): Promise<Trial> {
  const { tool: block } = plugin.manifest;
  if (block === undefined) throw new Error(`${plugin.name} has no tool block`);
  const { name } = block;
  const functions = toolFunctions(plugin);
  const resolved: ResolvedTool = { ...plugin, ...callSettings(name, block, {}) };
  const { tool: opened, close } = await openAlone(
    resolved,
    name,
    (line) => void process.stderr.write(`${line}\n`),
  );
  const { signal } = new AbortController();
  const { config } = resolved;
  const task: Task = {
    data_source: "everturn-tools-try",
    prompt: [{ role: "user", content: "" }],
    reward_model: { ground_truth: "" },
    ...columns,
  };
  const functionNamed = (called: string | undefined): string => {
    const names = functions.map((one) => one.name);
    const [first] = names;
    const found = called ?? (names.length === 1 ? first : undefined);
    if (found !== undefined && names.includes(found)) return found;
    const example = `Write its name before the arguments: '${first} {…}'.`;
    const reason =
      found === undefined
        ? `${name} has several functions: ${names.join(", ")}. ${example}`
        : `${name} has no function ${found}. ${suggestion(found, names, "Its functions")}`;
    throw new EverturnError("COMMAND_INVALID", { reason: reason.replace(/\.$/, "") });
  };
  let instance: { state: InstanceState | undefined } | undefined;
  let calls = 0;

  async function answered(
    given: JsonObject,
    called: string,
  ): Promise<Omit<Tried, "function" | "arguments" | "seconds">> {
    const problem = functionOf(opened, called).validate(given);
    if (problem !== undefined) return { text: `error: ${problem}`, invalid: true };
    const key = `try/${calls++}`;
    try {
      if (opened.isStateful && (instance === undefined || opened.isLost(instance.state))) {
        const creation = { instance: "try", task, config, environment: {}, signal, hold() {} };
        instance = { state: await opened.plugin.create?.(creation) };
      }
      const execution = {
        instance: "try",
        function: called,
        key,
        attempt: 1,
        config,
        signal,
        isReplay: false,
      };
      const answer = await opened.plugin.execute(given, execution, instance?.state);
      const { media = [], invalid, ...said } = answer;
      const seen = media.flatMap(({ frames }) =>
        frames.map(({ mediaType, width, height }) =>
          [mediaType, width && `${width}×${height}`].filter(Boolean).join(" "),
        ),
      );
      return defined({
        ...said,
        invalid: invalid !== undefined ? true : undefined,
        media: seen.length > 0 ? seen : undefined,
      });
    } catch (error) {
      return { text: "", failed: messageOf(error) };
    }
  }

  return {
    described: functions
      .map((one) => `${one.name}: ${one.description}\n${JSON.stringify(one.parameters, undefined, 2)}`)
      .join("\n\n"),
    call: async (given, called) => {
      const function_ = functionNamed(called);
      const began = performance.now();
      const answer = await answered(given, function_);
      const seconds = Number(((performance.now() - began) / 1000).toPrecision(2));
      return defined({
        function: functions.length > 1 ? function_ : undefined,
        arguments: given,
        ...answer,
        seconds,
      });
    },
    close: async () => {
      if (instance !== undefined && !opened.isLost(instance.state))
        await opened.plugin.release?.(instance.state);
      await close();
    },
  };
}
