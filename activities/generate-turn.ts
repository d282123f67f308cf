import { defined } from "../src/base/records/defined.ts";
import { describeGeneration } from "../src/base/telemetry/gen-ai.ts";
import { instruments } from "../src/base/telemetry/instruments.ts";
import { expressionReader } from "../src/chat/formats/expression.ts";
import type {
  AgentInput,
  EarlierInput,
  GenerateTurnInput,
  GenerateTurnResult,
} from "../src/contracts/generate-turn.ts";
import type { Segment } from "../src/contracts/generated/segment.ts";
import { movedImages } from "../src/contracts/image-tokens.ts";
import type { Message, ToolDefinition } from "../src/contracts/message.ts";
import type { ReadAction } from "../src/contracts/parsed-action.ts";
import type { Generation, GenerationRequest, Policy } from "../src/contracts/policy.ts";
import type { RecordedTurn } from "../src/contracts/recorded-turn.ts";
import type { RecordedRequest } from "../src/contracts/session.ts";
import type { SegmentRef } from "../src/contracts/trajectory.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { type Timed, timed } from "../src/control/temporal/timed.ts";
import type { RunTasks } from "../src/plan/tasks/run-tasks.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { actionSegment } from "../src/run/projections/action-segment.ts";
import { segmentRef } from "../src/run/projections/segment-ref.ts";
import { turnResult } from "../src/run/projections/turn-result.ts";
import { turnKey } from "../src/run/store/keys.ts";
import { readStoredImage } from "../src/run/store/stored-image.ts";
import type { Context } from "../src/run/trajectory/contexts.ts";
import { recordedOnce } from "../src/run/trajectory/journal.ts";
import { recordRefused } from "../src/run/trajectory/turn-journal.ts";
import { newestVersion } from "../src/run/versions/newest-version.ts";
import { completeReading, stopTexts, turnTools } from "../src/work/turns/action-reading.ts";
import { readPrompt, turnMessages } from "../src/work/turns/turn-messages.ts";
import type { PolicyWorker } from "../src/work/workers/policy-worker.ts";

/**
 * Appends the messages since the last action (the prompt, or observations) and generates the next action after them.
 * Each turn of a trajectory is recorded in the journal and generated once. Throws TIME_LIMIT_REACHED, TASK_NOT_FOUND.
 */
export function generateTurn(worker: PolicyWorker, tasks: RunTasks) {
  const tokenCounter = instruments().tokens;
  return async (
    scheduled: GenerateTurnInput | EarlierInput,
    signal: AbortSignal,
    report: Report,
  ): Promise<GenerateTurnResult> => {
    const input = currentInput(scheduled);
    const { place } = input;
    const run = await worker.openRun(place.run);
    const { plan, store } = run;
    const prompt = await readPrompt(input, { run, tasks });
    const journal = await worker.journal(place.run);
    const recorded = await recordedOnce(journal, turnKey(place, input.turn), async (lookAgain) => {
      await recordRefused(store, place, input.refused);
      const started = performance.now();
      const version = await generatingVersion(input, run);
      const policy = await worker.policy(place.run, version, input.policyFolder);
      const { messages, cut } = await turnMessages(input, prompt, policy, { run, tasks, journal });
      const appended = framedSegment(policy, input, messages);
      const before = await worker.contexts.get(store, place, input.head);
      const context = extended(before, appended);
      const request = generationRequest(input, run, version, context);
      await lookAgain(); // another attempt may have recorded the turn while the version was loading
      const { result: generation, seconds: workSeconds } = await generate(policy, request, {
        signal,
        report,
        lookAgain,
        timeLimit: input.timeLimit,
      });
      const action = actionSegment(
        generation,
        { previous: segmentRef(appended), policyVersion: version, before: before.tokens.length },
        input.sampling.temperature,
      );
      const { finishReason, read } = generation;
      const generated = {
        appended,
        action,
        head: segmentRef(action),
        finishReason,
        read: read && completeReading(read, plan.rollout, request.tools),
        cut,
        seconds: (performance.now() - started) / 1000,
        workSeconds,
      };
      worker.contexts.set(generated.head, extended(context, action), input.head);
      tokenCounter.add(appended.tokens.length, { origin: appended.origin });
      tokenCounter.add(action.tokens.length, { origin: "action" });
      describeGeneration({
        conversation: place.id,
        model: plan.policy.name,
        version,
        input: request.tokens.length,
        output: action.tokens.length,
        finishReason,
        temperature: input.sampling.temperature,
      });
      return recordedTurn(input, generated);
    });
    const result = turnResult(recorded);
    const { expression } = plan.rollout;
    const read =
      result.read ?? (expression && expressionReader(expression)(result.action, turnTools(plan, input)));
    return defined({ ...result, prompt, read, answered: otherRequest(input, recorded) });
  };
}

/**
 * The input in this release's form. In 0.4.0 a trajectory had a single conversation, which had made all of
 * its calls.
 */
function currentInput(scheduled: GenerateTurnInput | EarlierInput): GenerateTurnInput {
  if (scheduled.head === null || scheduled.callsSoFar !== undefined) return scheduled;
  return { ...scheduled, callsSoFar: scheduled.callsBefore };
}

/** The version that generates: the trajectory's own, or the newest version published since. */
async function generatingVersion(
  { newest, policyVersion }: Pick<GenerateTurnInput, "newest" | "policyVersion">,
  run: OpenRun,
): Promise<number> {
  return (newest === true ? await newestVersion(run, policyVersion) : undefined) ?? policyVersion;
}

/** The messages as tokens: a prompt, or the text between two actions. */
function framedSegment(policy: Policy, input: GenerateTurnInput, messages: Message[]): Segment {
  const { text, tokens, images } =
    input.head === null
      ? policy.framePrompt(messages, (input.request ?? input).tools)
      : policy.frameObservation(messages, input.callsSoFar);
  const origin = input.head === null ? "prompt" : "observation";
  return defined({ previous: input.head, origin, text, tokens, images });
}

/** A context with the tokens of one more segment. */
function extended({ tokens, images }: Context, segment: Segment): Context {
  return {
    tokens: tokens.concat(segment.tokens),
    images: images.concat(movedImages(segment.images, tokens.length)),
  };
}

/** A generation after a context, within the tokens that the trajectory has left. */
function generationRequest(
  input: GenerateTurnInput,
  { plan, store }: OpenRun,
  version: number,
  { tokens, images }: Context,
): GenerationRequest & { tools: ToolDefinition[] } {
  const { place, turn, seed, sampling, tokenLimit = Number.POSITIVE_INFINITY } = input;
  const tools = input.request?.tools ?? turnTools(plan, input);
  const stop = [...(sampling.stop ?? []), ...stopTexts(plan.rollout, tools)];
  return defined<GenerationRequest & { tools: ToolDefinition[] }>({
    tokens,
    images: images.length === 0 ? undefined : images,
    version,
    sampling: defined({
      ...sampling,
      maxTokens: Math.min(sampling.maxTokens, tokenLimit - tokens.length),
      stop: stop.length === 0 ? undefined : stop,
    }),
    // The key leaves out the run's id, so that the same seed draws the same run.
    key: { seed, trajectory: `${place.stage}/${place.task}/${place.sample}`, turn },
    tools,
    readImage: (sha256) => readStoredImage(store, sha256),
  });
}

interface GenerateOptions {
  signal: AbortSignal;
  report: Report;
  /** Rejects if another attempt has recorded the turn in the meantime. */
  lookAgain: () => Promise<void>;
  /** Milliseconds. */
  timeLimit: number | undefined;
}

/** Generates within the time limit. A request without room for a token gets an empty action. */
async function generate(
  policy: Policy,
  request: GenerationRequest,
  { signal, report, lookAgain, timeLimit }: GenerateOptions,
): Promise<Timed<Generation>> {
  const { maxTokens } = request.sampling;
  if (maxTokens < 1) return { result: noAction, seconds: 0 };
  const superseded = new AbortController();
  const onProgress = throttled((count) => report(`${count} of at most ${maxTokens} tokens`));
  return timed(
    (limited, begin) =>
      policy.generate({
        ...request,
        onProgress,
        signal: AbortSignal.any([limited, superseded.signal]),
        onBegin: () => {
          lookAgain().catch((error) => superseded.abort(error)); // the request may have waited for room
          begin();
        },
      }),
    { what: "generate-turn", signal, limit: timeLimit },
  );
}

/** Milliseconds between two progress reports. Most actions end before the first one. */
const betweenReports = 2000;

/** Calls `tell` at most once in `betweenReports`. */
function throttled(tell: (count: number) => void): (count: number) => void {
  let last = performance.now();
  return (count) => {
    if (performance.now() - last < betweenReports) return;
    last = performance.now();
    tell(count);
  };
}

/** The action of a trajectory that has no room for another token. */
const noAction: Generation = {
  tokens: [],
  logprobs: [],
  temperedLogprobs: [],
  samplingLogprobs: [],
  text: "",
  finishReason: "length",
};

/** A turn that has been generated. */
interface Generated {
  appended: Segment;
  action: Segment;
  head: SegmentRef;
  finishReason: Generation["finishReason"];
  read: ReadAction | undefined;
  /** The number of observations that were cut. */
  cut: number;
  seconds: number;
  workSeconds: number;
}

/** The request that a recorded turn answered, if it is not the one in the input. */
function otherRequest(
  { request: asked }: GenerateTurnInput,
  { request: recorded }: RecordedTurn,
): GenerateTurnResult["answered"] {
  if (asked === undefined || recorded === undefined || recorded.key === asked.key) return undefined;
  const { key, takesCalls } = recorded;
  return defined({ key, takesCalls });
}

/** The turn as the journal keeps it. */
function recordedTurn(
  { callsBefore, said, agent, request }: GenerateTurnInput,
  { appended, action, head, finishReason, read, cut, seconds, workSeconds }: Generated,
): RecordedTurn {
  const isFirst = appended.origin === "prompt";
  const added = appended.tokens.length;
  return defined({
    callsBefore,
    appended,
    action,
    finishReason,
    head,
    tokens: {
      prompt: isFirst ? added : 0,
      action: action.tokens.length,
      observation: isFirst ? 0 : added,
    },
    cutObservations: cut === 0 ? undefined : cut,
    read,
    seconds,
    workSeconds,
    said,
    agent,
    request: request === undefined ? undefined : recordedRequest(request),
  });
}

/**
 * The part of an agent's request that is recorded with its turn. The first turn of a conversation also
 * records the tools.
 */
function recordedRequest({
  key,
  follows,
  messages,
  tools,
  takesCalls,
}: AgentInput["request"]): RecordedRequest {
  return defined({
    key,
    follows,
    messages,
    tools: follows === null ? tools : undefined,
    takesCalls,
  });
}
