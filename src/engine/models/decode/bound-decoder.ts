import type { FedBindings } from "../../onnx/fed-bindings.ts";
import {
  type BoundBlockRunner,
  type BoundRunnerOptions,
  createBoundBlockRunner,
} from "./bound-block-runner.ts";
import type { CachedDecoder } from "./cached-decoder.ts";

/** The parts of a decoder with bound keys and values. */
export interface BoundDecoderOptions
  extends BoundRunnerOptions,
    Pick<CachedDecoder, "capacityStep" | "reads" | "close"> {
  /** Returns bindings of the session, new ones at each call. */
  readonly bindings: () => FedBindings;
  /** Whether a pass can read several new tokens of several rows only at the start of their sequences. */
  readonly readsRowByRow: boolean;
}

/**
 * Creates a decoder whose attention writes keys and values directly into their memory, for any such graph and memory.
 */
export function createBoundDecoder({
  bindings,
  readsRowByRow,
  capacityStep,
  reads,
  close,
  ...options
}: BoundDecoderOptions): CachedDecoder {
  const runners = new Map<string, BoundBlockRunner>();
  return {
    config: options.config,
    capacityStep,
    rowStep: 1,
    isSplitInvariant: false,
    readsBlocksApart: false,
    isSparse: false,
    reads,
    keyValues: options.keyValues,
    async run({ wanted = ["logits"], length, ...block }) {
      const key = wanted.toSorted().join();
      const runner = runners.get(key) ?? createBoundBlockRunner(bindings(), options, wanted);
      runners.set(key, runner);
      const padded = length ?? Math.max(...block.tokens.map((row) => row.length));
      const isRowByRow = readsRowByRow && padded > 1 && block.past.lengths.some((seen) => seen > 0);
      return runner({ ...block, length: padded }, isRowByRow);
    },
    close,
  };
}
