import { fork } from "node:child_process";
import { ownModule } from "../../base/processes/own-module.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { killChild } from "./kill-child.ts";
import { Broken } from "./promise.ts";

/** What a process is asked about a plugin. */
export interface Question {
  plugin: ResolvedPlugin;
  asked: JsonObject;
}

/** What it says. */
export type Said = { answer: JsonValue } | { broken: { seen: string; advice: string } };

/** A process that has not answered by then hangs, ms. */
const patience = 120_000;

/**
 * Has a process of its own do with a plugin what its kind's probe does (`probes/`), and kills it (SIGKILL) when it has
 * answered. Throws Broken.
 */
export async function elsewhere(plugin: ResolvedPlugin, asked: JsonObject = {}): Promise<JsonValue> {
  const child = fork(ownModule("src/control/conformance/probe-process"), {
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const heard = Promise.withResolvers<Said>();
  const late = setTimeout(() => {
    const advice = "Let go of what is waited for; nothing else answers it.";
    heard.reject(new Broken(`it did nothing for ${patience / 1000} s`, advice));
  }, patience);
  child.on("message", (said: Said) => heard.resolve(said));
  // After what it has said: its exit alone may be heard of before.
  child.on("close", (code) => {
    const waits = "it awaited something that never came";
    const seen = code === 0 ? waits : `it ended the process of its worker, with exit code ${code}`;
    heard.reject(new Broken(seen, "Await only what the contract gives, and leave out process.exit()."));
  });
  child.send({ plugin, asked } satisfies Question);
  try {
    const said = await heard.promise;
    if ("broken" in said) throw new Broken(said.broken.seen, said.broken.advice);
    return said.answer;
  } finally {
    clearTimeout(late);
    await killChild(child);
  }
}
