import { openAlone } from "../../conformance/tool-subject.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { ResolvedPlugin, ResolvedTool } from "../../contracts/plan.ts";
import { messageOf } from "../../errors/message-of.ts";
import { callSettings } from "../../pipeline/call-settings.ts";
import type { CheckedResponse } from "../../threads/checked-response.ts";
import type { InstanceState } from "../../threads/plugin-thread.ts";

/** A call that was made by hand. */
export interface TriedCall extends Pick<CheckedResponse, "error" | "reward" | "metrics" | "done"> {
  arguments: JsonObject;
  /** What the model reads. */
  text: string;
  seconds: number;
  /** Its arguments break the schema, or the tool says that it may not be made. */
  invalid?: boolean;
  /** What images there are, each by its kind and size. */
  media?: string[];
  /** Its infrastructure failed; in a run it would be tried again. */
  failed?: string;
}

/** A tool that is tried by hand: one trajectory's calls, on one instance. */
export interface Trial {
  /** What the policy is told of it. */
  described: string;
  call(given: JsonObject): Promise<TriedCall>;
  /** Releases the instance. */
  close(): Promise<void>;
}

/** Opens a tool in a thread of its own, as a worker does. Throws PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID. */
export async function openTrial(plugin: ResolvedPlugin, columns: JsonObject): Promise<Trial> {
  const { tool: block } = plugin.manifest;
  if (block === undefined) throw new Error(`${plugin.name} has no tool block`);
  const { name, description, parameters } = block;
  const resolved: ResolvedTool = { ...plugin, ...callSettings(name, block, {}) };
  const { tool: opened, close } = await openAlone(
    resolved,
    name,
    (line) => void process.stderr.write(`${line}\n`),
  );
  const { signal } = new AbortController();
  const { config } = resolved;
  const task: Task = {
    ...{ data_source: "everturn-tools-try", prompt: [{ role: "user", content: "" }] },
    ...{ reward_model: { ground_truth: "" }, ...columns },
  };
  let instance: { state: InstanceState | undefined } | undefined;
  let calls = 0;

  async function answered(given: JsonObject): Promise<Omit<TriedCall, "arguments" | "seconds">> {
    const problem = opened.validate(given);
    if (problem !== undefined) return { text: `error: ${problem}`, invalid: true };
    const key = `try/${calls++}`;
    try {
      if (opened.isStateful && (instance === undefined || opened.isLost(instance.state))) {
        const creation = { instance: "try", task, config, environment: {}, signal, hold() {} };
        instance = { state: await opened.plugin.create?.(creation) };
      }
      const execution = { instance: "try", key, attempt: 1, config, signal, isReplay: false };
      const answer = await opened.plugin.execute(given, execution, instance?.state);
      const { media = [], invalid, ...said } = answer;
      const seen = media.flatMap(({ frames }) =>
        frames.map(({ mediaType, width, height }) =>
          [mediaType, width && `${width}×${height}`].filter(Boolean).join(" "),
        ),
      );
      return {
        ...said,
        ...(invalid !== undefined && { invalid: true }),
        ...(seen.length > 0 && { media: seen }),
      };
    } catch (error) {
      return { text: "", failed: messageOf(error) };
    }
  }

  return {
    described: `${name}: ${description}\n${JSON.stringify(parameters, undefined, 2)}`,
    call: async (given) => {
      const began = performance.now();
      const answer = await answered(given);
      const seconds = Number(((performance.now() - began) / 1000).toPrecision(2));
      return { arguments: given, ...answer, seconds };
    },
    close: async () => {
      if (instance !== undefined && !opened.isLost(instance.state))
        await opened.plugin.release?.(instance.state);
      await close();
    },
  };
}
