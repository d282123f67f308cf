import type { ConfigOf, DefinedLoop, ObjectSchema } from "../../contracts/definitions.ts";
import type { AgentLoop } from "../../contracts/loop.ts";
import { marked } from "./mark.ts";

/**
 * Defines an agent loop in one file, as its default export: `loop: ./loops/ask-twice.ts`. The file is bundled into the
 * run's workflow code, so it must not import Node modules.
 */
export function defineLoop<const Config extends ObjectSchema | undefined = undefined>(
  definition: DefinedLoop<Config, ConfigOf<Config>>,
): AgentLoop;
export function defineLoop({ name, ...definition }: { name?: string; turn: AgentLoop }): AgentLoop {
  const loop: AgentLoop = (context) => definition.turn(context);
  // A plain assignment to a function's `name` fails.
  if (name !== undefined) Object.defineProperty(loop, "name", { value: name, enumerable: true });
  return marked("loop", Object.assign(loop, definition));
}
