import type { ToolResponse } from "everturn/plugin";
import type { Ran, SandboxLimits } from "everturn/sandbox";

/** Describes a program's result to the model: its output, its last value, and what went wrong. */
export function observationOf(ran: Ran, limits: SandboxLimits): ToolResponse {
  const isFinished = ran.outcome === "finished";
  const said = [ran.stdout, ran.stderr, ran.value ?? "", ...problemOf(ran, limits)].filter(
    (part) => part !== "",
  );
  const text = said.map((part) => (part.endsWith("\n") ? part : `${part}\n`)).join("");
  return {
    text: text === "" ? "(It printed nothing.)" : text.trimEnd(),
    error: !isFinished,
    metrics: { failed: isFinished ? 0 : 1 },
  };
}

function problemOf(ran: Ran, { time, memory, processes, output, disk }: SandboxLimits): string[] {
  const problems: Record<Ran["outcome"], string> = {
    finished: "",
    failed: ran.stderr === "" ? `error: it ended with exit code ${ran.exitCode}` : "",
    "time-limit": `error: it ran for longer than ${time} s and was stopped`,
    "memory-limit": `error: it needs more than ${memory} MiB of memory`,
    "output-limit": `error: it printed more than ${output} bytes and was stopped`,
    "process-limit": `error: it needs more than ${processes} processes`,
    "disk-limit": `error: its files need more than ${disk} MiB`,
    ended: "error: it brought its interpreter down",
  };
  const lost = {
    variables: "What earlier programs defined is gone; files are still there.",
    everything: "What earlier programs defined is gone, and their files are, too.",
  };
  return [problems[ran.outcome], ran.lost === undefined ? "" : lost[ran.lost]];
}
