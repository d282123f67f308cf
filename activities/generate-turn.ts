import { join } from "node:path";
import type { GenerateTurnInput, GenerateTurnResult } from "../src/contracts/activities.ts";
import type { Generation } from "../src/contracts/policy.ts";
import { instruments } from "../src/telemetry/instruments.ts";
import type { PolicyWorker } from "../src/temporal/policy-worker.ts";
import { once } from "../src/trajectory/journal.ts";

/**
 * Appends what came since the last action (the prompt, or observations) and generates the next action after it.
 * Journalled by trajectory and turn: a turn that was finished once is never generated again.
 */
export function generateTurn(worker: PolicyWorker) {
  const counted = instruments().tokens;
  return async (input: GenerateTurnInput, signal: AbortSignal): Promise<GenerateTurnResult> => {
    const { place, turn, policyVersion, sampling, seed } = input;
    const { folder, store, plan } = await worker.openRun(place.run);
    const file = join(folder.trajectory(place), `turn-${turn}.json`);
    return once(file, async () => {
      const started = performance.now();
      const policy = await worker.policy(place.run, policyVersion);
      const isFirst = input.head === null;
      const framed = isFirst
        ? policy.framePrompt(input.messages, input.tools ?? [])
        : policy.frameObservation(input.messages);
      const before = await store.chain(input.head);
      const origin = isFirst ? "prompt" : "observation";
      const added = await store.put({
        previous: input.head,
        origin,
        text: framed.text,
        tokens: framed.tokens,
      });
      const tokens = [...before.flatMap((segment) => segment.tokens), ...framed.tokens];
      // Without the run's id: the same seed draws the same run.
      const key = { seed, trajectory: `${place.stage}/${place.task}/${place.sample}`, turn };
      const tools = plan.tools.flatMap(({ manifest }) => manifest.tool ?? []);
      const action = await policy.generate({ tokens, version: policyVersion, sampling, key, tools, signal });
      const head = await store.put({
        previous: added,
        origin: "action",
        text: action.text,
        tokens: action.tokens,
        logprobs: action.logprobs,
        ...(sampling.temperature > 0 && isDrawnElsewhere(action)
          ? { samplingLogprobs: action.samplingLogprobs }
          : {}),
        policyVersion,
      });
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
      };
    });
  };
}

/** Whether an action was drawn from another distribution than the model's own, beyond rounding. */
function isDrawnElsewhere({ logprobs, samplingLogprobs }: Generation): boolean {
  return samplingLogprobs.some((logprob, index) => Math.abs(logprob - (logprobs[index] ?? 0)) > 1e-5);
}
