import type { JsonObject, JsonValue, Task } from "everturn/plugin";
import type { SandboxLimits } from "everturn/sandbox";

/** What a pipeline lets programs use. */
export function limitsOf({ time, memory, processes, output, disk }: JsonObject): SandboxLimits {
  return {
    time: Number(time),
    memory: Number(memory),
    processes: Number(processes),
    output: Number(output),
    disk: Number(disk),
  };
}

/** The files that a task brings, as verl's rows say it: `extra_info.tools_kwargs.code.create_kwargs.files`, texts by path. */
export function filesOf({ extra_info }: Task): Record<string, string> {
  const files = ["code", "create_kwargs", "files"].reduce<JsonValue | undefined>(
    (value, key) => (isObject(value) ? value[key] : undefined),
    extra_info?.tools_kwargs,
  );
  if (!isObject(files)) return {};
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, String(text)]));
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
