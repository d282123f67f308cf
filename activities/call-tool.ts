import { join } from "node:path";
import { Context } from "@temporalio/activity";
import type { CallToolInput, CallToolResult } from "../src/contracts/activities.ts";
import type { ToolResponse } from "../src/contracts/tool.ts";
import { EverturnError, isEverturnError } from "../src/errors/everturn-error.ts";
import type { ToolWorker } from "../src/temporal/tool-worker.ts";
import { once } from "../src/trajectory/journal.ts";

/** A longer observation is cut, so that no answer of a tool fills the context or the history. */
const observationLimit = 8_000;

/**
 * Calls `tool` for a trajectory. Arguments that break its schema are answered with an observation that says what is
 * wrong. Journalled by trajectory, turn and call: a call whose result was recorded is never made again.
 * Throws TOOL_FAILED when the tool itself throws, which Temporal retries; TOOL_STATE_LOST.
 */
export function callTool(worker: ToolWorker, tool: string) {
  return async (input: CallToolInput, signal: AbortSignal): Promise<CallToolResult> => {
    const { place, turn, call } = input;
    const { folder } = await worker.openRun(place.run);
    const file = join(folder.trajectory(place), `turn-${turn}-call-${call}.json`);
    return once(file, async () => {
      const started = performance.now();
      const { attempt } = Context.current().info;
      const opened = await worker.tool(place.run, tool);
      const problem = opened.validate(input.arguments);
      const response: ToolResponse =
        problem === undefined ? await execute() : { text: `error: ${problem}`, error: true };
      return {
        observation: shortened(response.text),
        valid: problem === undefined,
        reward: response.reward ?? 0,
        attempts: attempt,
        seconds: (performance.now() - started) / 1000,
      };

      async function execute(): Promise<ToolResponse> {
        const key = `${place.id}/${turn}/${call}`;
        const { config } = opened;
        try {
          const state = await worker.instance(place, input.task, tool, input.continues ?? false);
          const execution = { instance: place.id, key, attempt, config, signal };
          return await opened.plugin.execute(input.arguments, execution, state);
        } catch (error) {
          if (isEverturnError(error)) throw error;
          const reason = error instanceof Error ? error.message : String(error);
          throw new EverturnError("TOOL_FAILED", { tool, reason }, { cause: error });
        }
      }
    });
  };
}

function shortened(text: string): string {
  const cut = text.length - observationLimit;
  return cut <= 0 ? text : `${text.slice(0, observationLimit)}\n[${cut} characters cut]`;
}
