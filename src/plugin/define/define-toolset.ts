import type { ConfigOf, DefinedToolset, ObjectSchema } from "../../contracts/definitions.ts";
import type { ToolPlugin } from "../../contracts/tool.ts";
import { issuesText, speaksStandard } from "../registry/standard-schema.ts";
import { functionsKey, marked } from "./mark.ts";

/** A function of a toolset. */
interface ToolsetFunction {
  parameters: unknown;
  execute: ToolPlugin<unknown>["execute"];
}

/**
 * Defines a tool with several functions in one file: `tools: [./tools/notes.ts]`. The functions share one instance per
 * trajectory with its lease and recovery, and the tool's limits and host. Throws TypeError if a function has no `execute`.
 */
export function defineToolset<
  const Schemas extends Record<string, ObjectSchema>,
  const Config extends ObjectSchema | undefined = undefined,
  State = undefined,
>(definition: DefinedToolset<Schemas, Config, ConfigOf<Config>, State>): ToolPlugin<State>;
export function defineToolset({
  functions,
  ...definition
}: { functions: Record<string, ToolsetFunction> } & Omit<
  ToolPlugin<unknown>,
  "functions" | "execute"
>): ToolPlugin<unknown> {
  for (const [name, { execute }] of Object.entries(functions)) {
    if (typeof execute !== "function")
      throw new TypeError(`defineToolset: the function ${name} has no execute`);
  }
  const toolset = {
    ...(definition.create !== undefined && { release() {} }),
    ...definition,
    async execute(...[given, execution, state]: Parameters<ToolsetFunction["execute"]>) {
      const called = Object.hasOwn(functions, execution.function) ? functions[execution.function] : undefined;
      if (called === undefined) throw new Error(`there is no function ${execution.function}`);
      const { parameters } = called;
      if (!speaksStandard(parameters)) return called.execute(given, execution, state);
      const parsed = await parameters["~standard"].validate(given);
      if (parsed.issues !== undefined) return { invalid: issuesText(parsed.issues) };
      return Reflect.apply(called.execute, called, [parsed.value, execution, state]);
    },
  };
  return marked("tool", Object.assign(toolset, { [functionsKey]: functions }));
}
