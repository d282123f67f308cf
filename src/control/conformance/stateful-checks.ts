import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../base/errors/message-of.ts";
import { handledProcess, killProcess } from "../../base/processes/process-handle.ts";
import { isRunning } from "../../base/processes/process-identity.ts";
import { defined } from "../../base/records/defined.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { InstanceState } from "../../plugin/host/plugin-thread.ts";
import type { Answered, Position } from "../../work/tools/recorded-calls.ts";
import { recoverInstance } from "../../work/tools/recover-instance.ts";
import type { ToolCase } from "./cases.ts";
import { holdElsewhere } from "./killed-holder.ts";
import { Broken, type PluginCheck, type PromiseName, pluginCheck } from "./promise.ts";
import {
  answerText,
  begun,
  callText,
  creationOf,
  newKey,
  type RunningTool,
  sequenceOf,
  shortened,
  type ToolSubject,
  withTool,
} from "./tool-subject.ts";

type Recorded = Position & { recorded: Answered };

const instance = "check/1";

/** The promises of a tool with state, in addition to those of every tool. */
export function statefulChecks(subject: ToolSubject): PluginCheck[] {
  const { name, manifest } = subject.resolved;
  const recovery = manifest.tool?.recovery ?? "fail";
  const check = (promise: PromiseName, says: string, look: (subject: ToolSubject) => Promise<void>) =>
    pluginCheck(name, promise, says, () => look(subject));
  return [
    check("release", "an instance can be released at any time, even after a failed call", release),
    check("reap", "reap frees the resources of a killed worker's instance, and can be called twice", reap),
    ...(recovery === "snapshot"
      ? [
          check(
            "snapshot",
            "a snapshot contains the whole state, changes nothing, and can be restored twice",
            repeatedSnapshots,
          ),
        ]
      : []),
    ...(recovery === "replay"
      ? [
          check(
            "replay",
            "repeated calls rebuild the same state and change nothing outside the instance",
            replay,
          ),
        ]
      : []),
    recovery === "fail"
      ? check(
          "death of a worker",
          "after the thread is killed, a new instance returns the same answers",
          newInstance,
        )
      : check(
          "death of a worker",
          "if the thread is killed between two calls, the state is recovered and the next call returns the same answer",
          deaths,
        ),
  ];
}

async function release(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    const { plugin } = called.tool;
    const letGo = async (state: InstanceState | undefined, after: string) => {
      try {
        await plugin.release?.(state);
      } catch (error) {
        const advice = "Release a state in whatever condition it is: a call may have ended halfway.";
        throw new Broken(`release() after ${after} failed: ${messageOf(error)}`, advice, { cause: error });
      }
    };
    await letGo(await called.create(`${instance}/unused`), "create()");
    for (const [index, one] of subject.cases.entries()) {
      const used = `${instance}/${index}`;
      const state = await called.create(used);
      const controller = new AbortController();
      const call = called.call(one, { instance: used, state, signal: controller.signal });
      await begun();
      controller.abort(new Error("the call failed"));
      const outcome = await call.then(
        () => "a call",
        () => "a call that was aborted",
      );
      await letGo(state, outcome);
    }
    const whole = await called.create(`${instance}/whole`);
    for (const one of subject.cases) await called.call(one, { instance: `${instance}/whole`, state: whole });
    await letGo(whole, "all calls");
  });
}

async function reap(subject: ToolSubject): Promise<void> {
  const handles = await holdElsewhere(subject);
  if (handles.length === 0) return; // it holds nothing
  await withTool(subject, async ({ tool }) => {
    const handle = handles.at(-1) ?? null;
    if (tool.plugin.reap === undefined) {
      const advice =
        "Add `reap(handle)`, which frees the instance's resources; for a process, call killProcess.";
      throw new Broken("it calls hold() but has no reap()", advice);
    }
    try {
      for (const time of ["", " again"]) {
        await Promise.resolve(tool.plugin.reap(handle, tool.config)).catch((error: unknown) => {
          const advice = "Expect repeated calls and resources that are already gone: neither is an error.";
          const seen = `reap(${shortened(JSON.stringify(handle))})${time} failed: ${messageOf(error)}`;
          throw new Broken(seen, advice, { cause: error });
        });
      }
      if (await isGone(handle)) return;
      const advice =
        "End the process in reap(): killProcess(handle) from everturn/plugin kills its whole group.";
      throw new Broken("the process that a killed worker left is still running after reap()", advice);
    } finally {
      killProcess(handle);
    }
  });
}

/** Whether the process of a handle ends within five seconds, or the handle names none. */
async function isGone(handle: JsonValue): Promise<boolean> {
  const child = handledProcess(handle);
  if (child === undefined) return true;
  for (let looks = 0; looks < 100 && isRunning(child) !== false; looks++) await sleep(50);
  return isRunning(child) === false;
}

/** Makes the calls on one instance like a worker, and returns what a worker would record. */
async function recordedRun(subject: ToolSubject, called: RunningTool, snapshots: Map<string, Uint8Array>) {
  const { tool, call, create } = called;
  const state = await create(instance);
  const recorded: Recorded[] = [];
  const answers: string[] = [];
  for (const [index, one] of sequenceOf(subject).entries()) {
    const answer = await call(one, { instance, state, key: `${instance}/${index + 1}/0` });
    answers.push(answerText(answer));
    const bytes = tool.recovery === "snapshot" ? await tool.plugin.snapshot?.(state) : undefined;
    const name = `after ${index + 1}`;
    if (bytes !== undefined) snapshots.set(name, bytes);
    const said = {
      tool: subject.functionOf(one),
      arguments: one.arguments,
      observation: answer.text,
      valid: true,
      reward: 0,
    };
    recorded.push({
      turn: index + 1,
      call: 0,
      recorded: defined({
        ...said,
        attempts: 1,
        seconds: 0,
        snapshot: bytes !== undefined ? name : undefined,
      }),
    });
  }
  return { state, recorded, answers };
}

/** The instance after the calls `before`, recovered like a worker would. */
async function recoveredState(
  subject: ToolSubject,
  { tool }: RunningTool,
  before: Recorded[],
  snapshots: Map<string, Uint8Array>,
) {
  try {
    const readBytes = async (name: string) => snapshots.get(name);
    return await recoverInstance(tool, creationOf(subject, instance), before, { readBytes });
  } catch (error) {
    const how = tool.recovery === "snapshot" ? "restore()" : "replaying the recorded calls with isReplay";
    throw new Broken(
      `${how} failed: ${messageOf(error)}`,
      "Rebuild the same state in a worker that has never seen it.",
      { cause: error },
    );
  }
}

async function newInstance(subject: ToolSubject): Promise<void> {
  const run = () => withTool(subject, (called) => recordedRun(subject, called, new Map()));
  const { answers: before } = await run();
  const { answers } = await run();
  for (const [index, one] of sequenceOf(subject).entries()) {
    if (one.varies === true || answers[index] === before[index]) continue;
    const seen = `${callText(one)}, on a new instance after the worker was killed, returned ${shortened(answers[index] ?? "")} instead of ${shortened(before[index] ?? "")}`;
    throw new Broken(
      seen,
      "Keep everything that belongs to a trajectory in its state, and nothing in the module.",
    );
  }
}

async function deaths(subject: ToolSubject): Promise<void> {
  const sequence = sequenceOf(subject);
  const snapshots = new Map<string, Uint8Array>();
  const { recorded, answers } = await withTool(subject, (called) => recordedRun(subject, called, snapshots));
  for (let killed = 1; killed < sequence.length; killed++) {
    await withTool(subject, async (called) => {
      const state = await recoveredState(subject, called, recorded.slice(0, killed), snapshots);
      const after = `after the worker was killed between calls ${killed} and ${killed + 1} of ${sequence.length}`;
      await goOn(called, state, sequence.slice(killed), answers.slice(killed), after);
    });
  }
}

const wholeState: Record<string, string> = {
  snapshot: "Put all state into the snapshot, as bytes, and keep nothing in the module.",
  replay: "Build the state only from the calls: no clock, no random numbers, no state in the module.",
};

async function goOn(
  called: RunningTool,
  state: InstanceState | undefined,
  calls: readonly ToolCase[],
  expected: readonly string[],
  when: string,
) {
  for (const [index, one] of calls.entries()) {
    const answer = answerText(await called.call(one, { instance, state, key: newKey() }));
    if (one.varies === true || answer === expected[index]) continue;
    const before = shortened(expected[index] ?? "");
    throw new Broken(
      `${callText(one)}, ${when}, returned ${shortened(answer)} instead of ${before}`,
      wholeState[called.tool.recovery] ?? "",
    );
  }
}

async function repeatedSnapshots(subject: ToolSubject): Promise<void> {
  const sequence = sequenceOf(subject);
  const kept = new Map<string, Uint8Array>();
  await withTool(subject, async (called) => {
    const plain = await called.create(instance);
    const untouched: string[] = [];
    for (const one of sequence)
      untouched.push(answerText(await called.call(one, { instance, state: plain })));
    const { recorded, answers } = await recordedRun(subject, called, kept);
    for (const [index, one] of sequence.entries()) {
      if (one.varies === true || answers[index] === untouched[index]) continue;
      const seen = `${callText(one)} returned ${shortened(answers[index] ?? "")} after a snapshot, and ${shortened(untouched[index] ?? "")} without one`;
      throw new Broken(seen, "A snapshot is taken after each call, and must not change the state.");
    }
    const [first] = recorded;
    for (const time of ["the first time", "the second time"]) {
      const state = await recoveredState(subject, called, first === undefined ? [] : [first], kept);
      await goOn(
        called,
        state,
        sequence.slice(1),
        answers.slice(1),
        `after a snapshot was restored for ${time}`,
      );
    }
  });
}

async function replay(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    const { recorded, answers } = await recordedRun(subject, called, new Map());
    const before = await subject.effects();
    const state = await recoveredState(subject, called, recorded.slice(0, -1), new Map());
    if ((await subject.effects()) !== before) {
      const advice =
        "Check `isReplay`: a replayed call rebuilds the state and must change nothing outside it.";
      throw new Broken("calls replayed with isReplay repeated their work outside the instance", advice);
    }
    await goOn(
      called,
      state,
      sequenceOf(subject).slice(-1),
      answers.slice(-1),
      "after the earlier calls were replayed",
    );
  });
}
