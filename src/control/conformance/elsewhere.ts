import { fork } from "node:child_process";
import { ownModule } from "../../base/processes/own-module.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { killChild } from "./kill-child.ts";
import { Broken } from "./promise.ts";

/** A request to a process about a plugin. */
export interface Question {
  plugin: ResolvedPlugin;
  asked: JsonObject;
}

/** The process's reply. */
export type Said = { answer: JsonValue } | { broken: { seen: string; advice: string } };

/** A process that has not replied within this time hangs, in ms. */
const patience = 120_000;

/**
 * Runs the probe of a plugin's kind (`probes/`) in a separate process, and kills it (SIGKILL) after its reply.
 * Throws Broken.
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
  // After its reply, because its exit may be reported first.
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
