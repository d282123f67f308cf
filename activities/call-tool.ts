import { Context } from "@temporalio/activity";
import { EverturnError } from "../src/base/errors/everturn-error.ts";
import { defined } from "../src/base/records/defined.ts";
import { describeToolCall } from "../src/base/telemetry/gen-ai.ts";
import type { Askable, CallToolInput, CallToolResult, HeldElsewhere } from "../src/contracts/activities.ts";
import type { Task } from "../src/contracts/generated/task.ts";
import type { RecordedCall } from "../src/contracts/recorded-call.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { type Timed, timed } from "../src/control/temporal/timed.ts";
import type { CheckedResponse } from "../src/plugin/host/checked-response.ts";
import type { InstanceState } from "../src/plugin/host/plugin-thread.ts";
import { callKey, failureKey } from "../src/run/store/keys.ts";
import { recordedOnce } from "../src/run/trajectory/journal.ts";
import type { InstanceAnswer } from "../src/work/tools/instances.ts";
import { keepObservation } from "../src/work/tools/kept-observation.ts";
import { functionOf, type OpenTool } from "../src/work/tools/open-tool.ts";
import { isAnswered } from "../src/work/tools/recorded-calls.ts";
import { callService } from "../src/work/tools/service.ts";
import type { ToolWorker } from "../src/work/workers/tool-worker.ts";

/** Rejects if another attempt has recorded the call during a wait. */
type LookAgain = () => Promise<void>;

/**
 * Calls the function `called` of `tool` for a trajectory. Arguments that violate its schema get an
 * observation that describes the problem. The journal records the result by trajectory, turn and call, and a
 * recorded call is never repeated. If another worker holds the tool's state, the call is not made, and the
 * result names the queue of that worker. Throws TOOL_FAILED and TOOL_TIMED_OUT, which Temporal retries, and
 * TOOL_GAVE_UP when the tool's attempts are spent. Also throws TOOL_HOST_DOWN, TOOL_STATE_LOST,
 * TOOL_LEASE_TAKEN, TOOL_NOT_RECORDED and TIME_LIMIT_REACHED.
 */
export function callTool(worker: ToolWorker, tool: string, called = tool) {
  return async (
    input: CallToolInput,
    signal: AbortSignal,
    report: Report,
  ): Promise<CallToolResult | HeldElsewhere | Askable> => {
    const { place, turn, call } = input;
    const { store, plan } = await worker.openRun(place.run);
    const journal = await worker.journal(place.run);
    const name = `${place.id}/${turn}/${call}`;
    const opened = await worker.tool(tool);
    const key = callKey(place, turn, call);
    if (input.isUnasked && (await journal.read(key)) === undefined) {
      const problem = functionOf(opened, called).validate(input.arguments);
      if (problem === undefined) return { isAskable: true };
    }
    return worker.inTurn(name, async () => {
      let isNew = false;
      let made: RecordedCall | undefined;
      let heldBy: string | undefined;
      const leave = (queue: string): never => {
        heldBy = queue;
        throw new Error(`${queue} holds the state of ${tool}.`);
      };
      let recorded: RecordedCall;
      try {
        recorded = await recordedOnce(journal, key, async (lookAgain) => {
          isNew = true;
          made = await answered(lookAgain, leave);
          return made;
        });
      } catch (error) {
        if (heldBy === undefined) throw error;
        return { heldBy };
      }
      // Another worker recorded the call first. Its result counts, and the instance here may be in a
      // different state.
      if (isNew && made !== recorded) await worker.instances.forget(place, opened);
      const { observation, valid, reward, attempts, seconds, invalid, done } = recorded;
      describeToolCall({ conversation: place.id, tool: called, call: `${turn}/${call}`, isValid: valid });
      const result = defined<CallToolResult>({
        observation,
        valid,
        reward,
        attempts,
        seconds,
        invalid,
        done,
      });
      const isHeld = hasState(opened) && isNew && made === recorded && isAnswered(recorded);
      const holder = isHeld ? await worker.ownQueue() : undefined;
      return holder === undefined || holder === Context.current().info.taskQueue
        ? result
        : { ...result, holder };
    });

    /** Whether a call needs an instance of the tool. */
    function hasState({ isStateful }: OpenTool): boolean {
      return isStateful && input.recordings === undefined;
    }

    async function answered(lookAgain: LookAgain, leave: (queue: string) => never): Promise<RecordedCall> {
      const problem = functionOf(opened, called).validate(input.arguments);
      const { approval } = input;
      const said = defined<Pick<RecordedCall, "tool" | "arguments" | "approval" | "byLoop">>({
        tool: called,
        arguments: input.arguments,
        approval,
        byLoop: input.byLoop,
      });
      if (problem !== undefined) {
        return {
          ...said,
          observation: `error: ${problem}`,
          valid: false,
          reward: 0,
          attempts: 1,
          seconds: 0,
        };
      }
      if (input.recordings !== undefined) {
        const asked = {
          place,
          task: taskOf(input),
          turn,
          call,
          tool: called,
          store,
          arguments: input.arguments,
        };
        return worker.recordings(input.recordings)(asked);
      }
      const heldBy = hasState(opened)
        ? await worker.instances.heldBy(place, opened, input.silent)
        : undefined;
      if (heldBy !== undefined) leave(heldBy);
      const { attempt } = Context.current().info;
      const failures = { store, keyOf: (failure: number) => failureKey(place, { turn, call }, failure) };
      const made = await callService(
        opened,
        async () => {
          await lookAgain();
          return executed(lookAgain);
        },
        { failures, attempt, signal, onWait: report },
      );
      const { snapshot } = made.answer;
      const { result: answer, seconds } = made.answer.answer;
      const { invalid, done } = answer;
      return defined({
        ...said,
        ...(await keepObservation(store, answer, { ...plan.rollout.observations, ...opened.observations })),
        valid: invalid === undefined,
        invalid,
        done,
        reward: answer.reward ?? 0,
        attempts: made.attempts,
        seconds,
        metrics: answer.metrics,
        snapshot,
      });
    }

    async function executed(lookAgain: LookAgain): Promise<InstanceAnswer<Timed<CheckedResponse>>> {
      const { plugin, config } = opened;
      const { attempt } = Context.current().info;
      const { own } = functionOf(opened, called);
      const { answer } = input;
      const given = answer === undefined ? {} : { answer };
      const execution = {
        ...given,
        instance: place.id,
        function: own,
        key: name,
        config,
        attempt,
        isReplay: false,
      };
      const bound = { what: called, signal, limit: input.timeLimit };
      const execute = (state?: InstanceState) =>
        timed(
          async (limited) => plugin.execute(input.arguments, { ...execution, signal: limited }, state),
          bound,
        );
      if (!hasState(opened)) return { answer: await execute() };
      const { continues = false, silent } = input;
      const needed = { place, turn, call, task: taskOf(input), tool: opened, continues, silent, signal };
      return worker.instances.use(needed, async (state) => {
        await lookAgain(); // another attempt may have recorded the call while this one waited for the instance
        return execute(state);
      });
    }
  };
}

function taskOf({ task, place }: CallToolInput): Task {
  if (task !== undefined) return task;
  throw new EverturnError("TASK_NOT_FOUND", { task: place.task, place: "the call's input" });
}
