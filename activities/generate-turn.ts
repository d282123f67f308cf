import { EverturnError } from "../src/base/errors/everturn-error.ts";
import { messageOf } from "../src/base/errors/message-of.ts";
import { describeGeneration } from "../src/base/telemetry/gen-ai.ts";
import { instruments } from "../src/base/telemetry/instruments.ts";
import { expressionReader } from "../src/chat/formats/expression.ts";
import { formatNamed } from "../src/chat/formats/parse-action.ts";
import { promptMessages, withImagesOf } from "../src/chat/images/message-images.ts";
import type { GenerateTurnInput, GenerateTurnResult } from "../src/contracts/activities.ts";
import type { Segment } from "../src/contracts/generated/segment.ts";
import type { Message, ToolDefinition } from "../src/contracts/message.ts";
import type { ReadAction, ReadCall } from "../src/contracts/parsed-action.ts";
import type { Plan } from "../src/contracts/plan.ts";
import type { Generation } from "../src/contracts/policy.ts";
import type { RecordedRequest } from "../src/contracts/session.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { timed } from "../src/control/temporal/timed.ts";
import { toolDefinitions } from "../src/plan/pipeline/resolve/tool-definitions.ts";
import { type RunTasks, taskAt } from "../src/plan/tasks/run-tasks.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { turnKey } from "../src/run/store/keys.ts";
import { actionSegment } from "../src/run/trajectory/action-segment.ts";
import { recordedOnce } from "../src/run/trajectory/journal.ts";
import type { Journal } from "../src/run/trajectory/run-journal.ts";
import { segmentRef } from "../src/run/trajectory/segments.ts";
import { readCalls, recordRefused, resultOf } from "../src/run/trajectory/turn-journal.ts";
import { newestVersion } from "../src/run/versions/newest-version.ts";
import { framedMessages } from "../src/work/agents/framed-messages.ts";
import { cutObservations } from "../src/work/tools/cut-observations.ts";
import type { PolicyWorker } from "../src/work/workers/policy-worker.ts";

/**
 * Appends what came since the last action (the prompt, or observations) and generates the next action after it.
 * Journalled by trajectory and turn: a turn that was finished once is never generated again. Throws TIME_LIMIT_REACHED,
 * TASK_NOT_FOUND.
 */
export function generateTurn(worker: PolicyWorker, tasks: RunTasks) {
  const counted = instruments().tokens;
  return async (
    input: GenerateTurnInput,
    signal: AbortSignal,
    report: Report,
  ): Promise<GenerateTurnResult> => {
    const { place, turn, sampling, seed } = input;
    const run = await worker.openRun(place.run);
    const { store, plan } = run;
    const named = input.source && (await taskAt(run, tasks, input.source, place.task)).prompt;
    const { request: asked } = input;
    const messages = [...(named ?? []), ...(asked ? framedMessages(asked) : []), ...input.messages];
    const journal = await worker.journal(place.run);
    const recorded = await recordedOnce(journal, turnKey(place, turn), async (lookAgain) => {
      await recordRefused(store, place, input.refused);
      const started = performance.now();
      const policyVersion = await versionFor(input, run);
      const policy = await worker.policy(place.run, policyVersion, input.policyFolder);
      const isFirst = input.head === null;
      const shown =
        policy.readsImages === true ? await withImages(input, messages, run, tasks, journal) : messages;
      const read = cutObservations(plan, policy, shown);
      const framed = isFirst
        ? policy.framePrompt(read.messages, asked?.tools ?? input.tools ?? [])
        : policy.frameObservation(read.messages, input.callsSoFar ?? input.callsBefore);
      const before = await worker.contexts.get(store, place, input.head);
      const origin = isFirst ? "prompt" : "observation";
      const appended: Segment = {
        previous: input.head,
        origin,
        text: framed.text,
        tokens: framed.tokens,
      };
      const tokens = before.concat(framed.tokens);
      // Without the run's id: the same seed draws the same run.
      const key = { seed, trajectory: `${place.stage}/${place.task}/${place.sample}`, turn };
      const maxTokens = Math.min(
        sampling.maxTokens,
        (input.tokenLimit ?? Number.POSITIVE_INFINITY) - tokens.length,
      );
      const tools = asked?.tools ?? offeredTools(plan, input.offered);
      const stop = [...(sampling.stop ?? []), ...stopTexts(plan.rollout, tools)];
      await lookAgain(); // the version may have been loaded meanwhile
      const request = {
        tokens,
        version: policyVersion,
        sampling: { ...sampling, maxTokens, ...(stop.length === 0 ? {} : { stop }) },
        key,
        tools,
        readImage: (sha256: string) => imageBytes(store, sha256),
        onProgress: seldom((count) => report(`${count} of at most ${maxTokens} tokens`)),
      };
      const generate = (own: AbortSignal, begin: () => void) => {
        const superseded = new AbortController();
        const onBegin = () => {
          lookAgain().catch((error) => superseded.abort(error)); // room may have been waited for
          begin();
        };
        return policy.generate({ ...request, signal: AbortSignal.any([own, superseded.signal]), onBegin });
      };
      const bound = { what: "generate-turn", signal, limit: input.timeLimit };
      const { result: generation, seconds: workSeconds } =
        maxTokens < 1 ? { result: noAction, seconds: 0 } : await timed(generate, bound);
      const previous = segmentRef(appended);
      const action = actionSegment(
        generation,
        { previous, policyVersion, before: before.length },
        sampling.temperature,
      );
      const head = segmentRef(action);
      worker.contexts.set(head, tokens.concat(action.tokens), input.head);
      const added = framed.tokens.length;
      counted.add(added, { origin });
      counted.add(action.tokens.length, { origin: "action" });
      describeGeneration({
        conversation: place.id,
        model: plan.policy.name,
        version: policyVersion,
        input: tokens.length,
        output: action.tokens.length,
        finishReason: generation.finishReason,
        temperature: sampling.temperature,
      });
      return {
        callsBefore: input.callsBefore,
        appended,
        action,
        finishReason: generation.finishReason,
        head,
        tokens: {
          prompt: isFirst ? added : 0,
          action: action.tokens.length,
          observation: isFirst ? 0 : added,
        },
        ...(read.cut === 0 ? {} : { cutObservations: read.cut }),
        ...(generation.read === undefined ? {} : { read: readApart(generation.read, plan.rollout, tools) }),
        seconds: (performance.now() - started) / 1000,
        workSeconds,
        ...(input.said === undefined ? {} : { said: input.said }),
        ...(input.agent === undefined ? {} : { agent: input.agent }),
        ...(asked === undefined ? {} : { request: recordedRequest(asked) }),
      };
    });
    const result = resultOf(recorded);
    const { expression } = plan.rollout;
    const read =
      result.read ??
      (expression && expressionReader(expression)(result.action, offeredTools(plan, input.offered)));
    return {
      ...result,
      ...(named === undefined ? {} : { prompt: named }),
      ...(read === undefined ? {} : { read }),
    };
  };
}

/** Milliseconds between two reports of how far an action is; most are done before the first. */
const betweenReports = 2000;

/** Passes on what it is told, each so many milliseconds. */
function seldom(tell: (count: number) => void): (count: number) => void {
  let told = performance.now();
  return (count) => {
    if (performance.now() - told < betweenReports) return;
    told = performance.now();
    tell(count);
  };
}

/** The messages with their images: those that the task's prompt shows, or those that tools answered with in the turn before. */
async function withImages(
  { place, turn, callsBefore, answers, request, source, promptOf = source }: GenerateTurnInput,
  messages: Message[],
  run: OpenRun,
  tasks: RunTasks,
  journal: Journal,
): Promise<Message[]> {
  if (promptOf !== undefined) {
    const task = await taskAt(run, tasks, promptOf, place.task);
    const prompt = await promptMessages(task, run.plan.dataset.images, run.store.bytes).catch((error) => {
      const params = { at: place.id, tasks: "its task", reason: messageOf(error) };
      throw new EverturnError("IMAGE_UNUSABLE", params, { cause: error });
    });
    return [...prompt, ...messages.slice(task.prompt.length)];
  }
  if (turn === 1 || request !== undefined) return messages; // an agent's have their own
  const { turn: answered, calls: begun } = answers ?? { turn: turn - 1, calls: callsBefore };
  const calls = await readCalls(journal, place, answered, begun);
  return withImagesOf(
    messages,
    calls.map(({ recorded }) => recorded),
  );
}

async function imageBytes(store: OpenRun["store"], sha256: string): Promise<Uint8Array> {
  const bytes = await store.readBytes(sha256);
  if (bytes !== undefined) return bytes;
  throw new EverturnError("RECORD_CORRUPT", { file: `bytes ${sha256}`, reason: "they are gone, or changed" });
}

/** The functions of a plan that the policy may call in a turn. */
function offeredTools(plan: Plan, offered: GenerateTurnInput["offered"]): ToolDefinition[] {
  const tools = toolDefinitions(plan);
  return offered === undefined ? tools : tools.filter(({ name }) => offered.includes(name));
}

/** What a turn is recorded with of the request that it answers: a row has the tools that it began with. */
function recordedRequest({
  key,
  follows,
  messages,
  tools,
  takesCalls,
}: NonNullable<GenerateTurnInput["request"]>): RecordedRequest {
  return {
    key,
    follows,
    messages,
    ...(follows === null ? { tools } : {}),
    ...(takesCalls === undefined ? {} : { takesCalls }),
  };
}

/** What a policy is told apart. A server that reads no calls in what its model says leaves them there, as the run's format has them. */
function readApart(
  read: ReadAction,
  { format = "hermes", expression }: Plan["rollout"],
  tools: readonly ToolDefinition[],
): ReadAction {
  if (read.calls.length > 0) return read;
  const said =
    expression === undefined
      ? formatNamed(format).parse(read.answer, { tools })
      : expressionReader(expression)(read.answer, tools);
  const reasoning = [read.reasoning, said.reasoning].filter((one) => one !== "").join("\n");
  return { reasoning, answer: said.answer, calls: said.calls.map(withoutId) };
}

/** Calls are numbered later, by the calls of the trajectory. */
function withoutId(call: ReadCall): ReadCall {
  return "name" in call
    ? { name: call.name, arguments: call.arguments }
    : { text: call.text, problem: call.problem };
}

/** The texts that end an action in a run's action format. */
function stopTexts(
  { format = "hermes", expression }: Plan["rollout"],
  tools: readonly ToolDefinition[],
): readonly string[] {
  return expression === undefined ? formatNamed(format).stopTexts(tools) : expression.stop;
}

/** Where the trajectory has no room for a token more. */
const noAction: Generation = {
  tokens: [],
  logprobs: [],
  temperedLogprobs: [],
  samplingLogprobs: [],
  text: "",
  finishReason: "length",
};

/** The version that generates: the trajectory's own, or the newest that has been made since. */
async function versionFor(
  { newest, policyVersion }: Pick<GenerateTurnInput, "newest" | "policyVersion">,
  run: OpenRun,
): Promise<number> {
  return (newest === true ? await newestVersion(run, policyVersion) : undefined) ?? policyVersion;
}
