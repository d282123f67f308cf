import type { ToolDefinition } from "../../contracts/message.ts";
import { escaped } from "./control-text.ts";

/**
 * Returns whether a chat template writes `tools` into a prompt: whether the prompt names at least one of them more
 * often with the tools than without. `prompt` renders a chat with the given tools.
 */
export function showsTools(
  prompt: (tools: ToolDefinition[]) => string,
  tools: readonly ToolDefinition[],
): boolean {
  const [bare, full] = [prompt([]), prompt([...tools])];
  if (bare === full) return false;
  return tools.some(({ name }) => mentions(full, name) > mentions(bare, name));
}

/** How often a text contains a name as a whole word. */
export function mentions(text: string, name: string): number {
  return text.match(new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`, "g"))?.length ?? 0;
}
