import { fork } from "node:child_process";
import { ownModule } from "../../base/processes/own-module.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { ResolvedTool } from "../../contracts/plan.ts";
import type { ToolCase } from "./cases.ts";
import { killChild } from "./kill-child.ts";
import { Broken } from "./promise.ts";
import { creationOf, type ToolSubject, withTool } from "./tool-subject.ts";

/** The instructions for a process that will be killed: create an instance and make this call. */
export interface HolderStart {
  resolved: ResolvedTool;
  name: string;
  task: Task;
  first: ToolCase | undefined;
  /** The function to call. */
  called: string;
}

/** Its messages: a handle that the instance holds, and that it is ready to be killed, or why it never will be. */
export type HolderSaid = { handle: JsonValue } | { ready: true } | { failed: string };

/**
 * Lets a process create an instance and make a call, and kills it (SIGKILL). Returns the handles that the instance
 * provided until then. If it provides none in this process, returns none without starting the other one.
 */
export async function holdElsewhere(subject: ToolSubject): Promise<JsonValue[]> {
  if (!(await holdsAnything(subject))) return [];
  const { resolved, name, task, cases } = subject;
  const handles: JsonValue[] = [];
  const child = fork(ownModule("src/control/conformance/holder-process"), {
    execArgv: [],
    serialization: "advanced",
  });
  const ready = Promise.withResolvers<void>();
  child.on("message", (said: HolderSaid) => {
    if ("handle" in said) handles.push(said.handle);
    else if ("ready" in said) ready.resolve();
    else ready.reject(new Broken(`making an instance failed: ${said.failed}`, "Correct it."));
  });
  // After its messages, because its exit may be reported first.
  child.on("close", () =>
    ready.reject(new Broken("it ended the process of its worker", "Leave the process alone.")),
  );
  const [first] = cases;
  const called = first === undefined ? "" : subject.functionOf(first);
  child.send({ resolved, name, task, first, called } satisfies HolderStart);
  try {
    await ready.promise;
    return handles;
  } finally {
    await killChild(child);
  }
}

async function holdsAnything(subject: ToolSubject): Promise<boolean> {
  return withTool(subject, async ({ tool, call }) => {
    let holds = false;
    const state = await tool.plugin.create?.(
      creationOf(subject, "check/held", () => {
        holds = true;
      }),
    );
    const [first] = subject.cases;
    if (first !== undefined) await call(first, { instance: "check/held", state });
    await tool.plugin.release?.(state);
    return holds;
  });
}
