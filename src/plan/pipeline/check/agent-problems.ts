import { child, type Pointer } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { loopPlaces } from "../read/slots.ts";
import { wrongCombination } from "../read/wrong-combination.ts";

/** The loop whose requests come from an agent. */
export const agentLoop = "loop-agent";

/** Settings of an agent that exclude each other. */
interface Conflict {
  /** The setting to report. Absent: the configuration as a whole. */
  key?: "mode" | "folder" | "settings";
  /** Follows the setting's name in a sentence. */
  reason: string;
  hint: string;
}

/** Returns the agents of a pipeline whose settings exclude each other. */
export function agentProblems(
  document: SourceDocument,
  plugins: ReadonlyMap<Pointer, ResolvedPlugin>,
): Problem[] {
  return ["/loop", ...loopPlaces(document.value)].flatMap((pointer) => {
    const plugin = plugins.get(pointer);
    const conflict = plugin?.name === agentLoop ? agentConflict(plugin.config) : undefined;
    if (conflict === undefined) return [];
    const { key, reason, hint } = conflict;
    const config = child(pointer, "config");
    const at = key === undefined ? config : child(config, key);
    return [wrongCombination(placeOf(document, at, "value"), at, reason, hint)];
  });
}

/** Returns the first conflict among the settings of an agent. */
export function agentConflict({ command, module, mode, folder, settings }: JsonObject): Conflict | undefined {
  if (command !== undefined && module !== undefined)
    return {
      reason: "has both “command”, which starts the agent, and “module”, which defines it",
      hint: "Remove one of them.",
    };
  if (command === undefined && module === undefined)
    return {
      reason: "needs either “command”, which starts the agent, or “module”, which defines it",
      hint: "Add one of them.",
    };
  if (mode !== undefined && mode !== "process" && module === undefined)
    return {
      key: "mode",
      reason: `is “${mode}”, but a command ends after each trajectory and can't be kept`,
      hint: "Replace “command” by “module”, or remove “mode”.",
    };
  if (mode === "thread" && folder !== undefined)
    return {
      key: "folder",
      reason: "is set, but a thread has no working directory of its own",
      hint: "Remove it, or set “mode: pool”.",
    };
  if (settings !== undefined && module === undefined)
    return {
      key: "settings",
      reason: "is set, but a command does not receive it",
      hint: "Replace “command” by “module”, or set variables in “environment”.",
    };
  return undefined;
}
