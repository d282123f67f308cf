import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ToolCreation } from "../../contracts/tool.ts";
import type { InstanceState } from "../../plugin/host/plugin-thread.ts";
import type { Store } from "../../run/store/store.ts";
import { functionOf, type OpenTool } from "./open-tool.ts";
import type { Answered, Position } from "./recorded-calls.ts";

/**
 * Recovers the state of a tool's instance after the recorded calls `before`, as the tool's manifest
 * specifies: from its newest snapshot, or by repeating these calls in a new instance. Throws TOOL_STATE_LOST
 * and the plugin's errors.
 */
export async function recoverInstance(
  tool: OpenTool,
  creation: ToolCreation,
  before: (Position & { recorded: Answered })[],
  store: Pick<Store, "readBytes">,
): Promise<InstanceState | undefined> {
  const { plugin, name, recovery, config } = tool;
  const { instance, signal } = creation;
  const lost = () => new EverturnError("TOOL_STATE_LOST", { tool: name, trajectory: instance });
  if (before.length === 0 || recovery === "fail") throw lost();
  if (recovery === "snapshot") {
    const snapshot = before.at(-1)?.recorded.snapshot;
    const bytes = snapshot === undefined ? undefined : await store.readBytes(snapshot);
    if (bytes === undefined) throw lost();
    return plugin.restore?.(bytes, creation);
  }
  const state = await plugin.create?.(creation);
  for (const { turn, call, recorded } of before) {
    const key = `${instance}/${turn}/${call}`;
    const { own } = functionOf(tool, recorded.tool);
    const again = { instance, function: own, key, attempt: 1, config, isReplay: true, signal };
    await plugin.execute(recorded.arguments, again, state);
  }
  return state;
}
