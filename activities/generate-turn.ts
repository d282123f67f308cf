import type { GenerateTurnInput, GenerateTurnResult } from "../src/contracts/activities.ts";
import type { Generation } from "../src/contracts/policy.ts";
import { toolDefinitions } from "../src/pipeline/tool-definitions.ts";
import { newestPolicy } from "../src/runs/newest-policy.ts";
import type { RunFolder } from "../src/runs/run-folder.ts";
import { instruments } from "../src/telemetry/instruments.ts";
import type { PolicyWorker } from "../src/temporal/policy-worker.ts";
import { timed } from "../src/temporal/timed.ts";
import { actionSegment } from "../src/trajectory/action-segment.ts";
import { once } from "../src/trajectory/journal.ts";
import { recordRefused, turnFile } from "../src/trajectory/turn-journal.ts";

/**
 * Appends what came since the last action (the prompt, or observations) and generates the next action after it.
 * Journalled by trajectory and turn: a turn that was finished once is never generated again. Throws TIME_LIMIT_REACHED.
 */
export function generateTurn(worker: PolicyWorker) {
  const counted = instruments().tokens;
  return async (input: GenerateTurnInput, signal: AbortSignal): Promise<GenerateTurnResult> => {
    const { place, turn, sampling, seed } = input;
    const { folder, store, plan } = await worker.openRun(place.run);
    const journal = folder.trajectory(place);
    return once(turnFile(journal, turn), async (lookAgain) => {
      await recordRefused(journal, input.refused);
      const started = performance.now();
      const policyVersion = await versionFor(input, folder);
      const policy = await worker.policy(place.run, policyVersion, input.policyFolder);
      const isFirst = input.head === null;
      const framed = isFirst
        ? policy.framePrompt(input.messages, input.tools ?? [])
        : policy.frameObservation(input.messages);
      const before = await worker.contexts.get(store, input.head);
      const origin = isFirst ? "prompt" : "observation";
      const added = await store.put({
        previous: input.head,
        origin,
        text: framed.text,
        tokens: framed.tokens,
      });
      const tokens = before.concat(framed.tokens);
      // Without the run's id: the same seed draws the same run.
      const key = { seed, trajectory: `${place.stage}/${place.task}/${place.sample}`, turn };
      const maxTokens = Math.min(
        sampling.maxTokens,
        (input.tokenLimit ?? Number.POSITIVE_INFINITY) - tokens.length,
      );
      lookAgain(); // the version may have been loaded meanwhile
      const request = {
        tokens,
        version: policyVersion,
        sampling: { ...sampling, maxTokens },
        key,
        tools: toolDefinitions(plan),
      };
      const generate = (own: AbortSignal, begin: () => void) => {
        const onBegin = () => {
          lookAgain();
          begin();
        };
        return policy.generate({ ...request, signal: own, onBegin });
      };
      const bound = { what: "generate-turn", signal, limit: input.timeLimit };
      const { result: action, seconds: workSeconds } =
        maxTokens < 1 ? { result: noAction, seconds: 0 } : await timed(generate, bound);
      const head = await store.put(
        actionSegment(action, { previous: added, policyVersion }, sampling.temperature),
      );
      worker.contexts.set(head, tokens.concat(action.tokens), input.head);
      const appended = framed.tokens.length;
      counted.add(appended, { origin });
      counted.add(action.tokens.length, { origin: "action" });
      return {
        action: action.text,
        finishReason: action.finishReason,
        head,
        policyVersion,
        tokens: {
          prompt: isFirst ? appended : 0,
          action: action.tokens.length,
          observation: isFirst ? 0 : appended,
        },
        seconds: (performance.now() - started) / 1000,
        workSeconds,
        ...(input.said === undefined ? {} : { said: input.said }),
      };
    });
  };
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

/** The version that generates: the trajectory's own, or the newest that has been published since. */
async function versionFor(
  { newest, policyVersion }: Pick<GenerateTurnInput, "newest" | "policyVersion">,
  folder: RunFolder,
): Promise<number> {
  if (newest !== true) return policyVersion;
  return Math.max(policyVersion, (await newestPolicy(folder)) ?? policyVersion);
}
