import { type JsonObject, type Task, toolKwargs } from "everturn/plugin";
import type { SandboxLimits } from "everturn/sandbox";

/** The limits that a pipeline sets for programs. */
export function limitsOf({ time, memory, processes, output, disk }: JsonObject): SandboxLimits {
  return {
    time: Number(time),
    memory: Number(memory),
    processes: Number(processes),
    output: Number(output),
    disk: Number(disk),
  };
}

/**
 * The files that a task provides in verl's form: `extra_info.tools_kwargs.code.create_kwargs.files`, texts by
 * path.
 */
export function filesOf(task: Task): Record<string, string> {
  const { files } = toolKwargs(task, "code").create_kwargs;
  if (typeof files !== "object" || files === null || Array.isArray(files)) return {};
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, String(text)]));
}
