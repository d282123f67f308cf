import type { JsonObject, ToolResponse } from "everturn/plugin";
import type { Ran } from "everturn/sandbox";

/** Describes a command's result to the model: its output, and what went wrong. */
export function observationOf(ran: Ran, { time, memory, processes, output, disk }: JsonObject): ToolResponse {
  const problems: Record<Ran["outcome"], string> = {
    finished: "",
    failed: `(exit code ${ran.exitCode})`,
    "time-limit": `error: it ran for longer than ${time} s and was stopped`,
    "memory-limit": `error: it needs more memory than the container has (by default ${memory} MiB)`,
    "output-limit": `error: it printed more than ${output} bytes and was stopped`,
    "process-limit": `error: it needs more than ${processes} processes`,
    "disk-limit": `error: its files need more than ${disk} MiB`,
    ended: "error: it ended the container, whose files are as before this command",
  };
  const parts = [ran.stdout, ran.stderr, problems[ran.outcome]].map((part) => part.trimEnd());
  const text = parts.filter((part) => part !== "").join("\n");
  return {
    text: text === "" ? "(It printed nothing.)" : text,
    error: ran.outcome !== "finished",
    metrics: { failed: ran.outcome === "finished" ? 0 : 1 },
  };
}
