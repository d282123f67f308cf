import type { FedBindings } from "../../onnx/fed-bindings.ts";
import {
  type BoundBlockRunner,
  type BoundRunnerOptions,
  createBoundBlockRunner,
} from "./bound-block-runner.ts";
import type { CachedDecoder } from "./cached-decoder.ts";

/** What a decoder whose keys and values are bound is made of. */
export interface BoundDecoderOptions
  extends BoundRunnerOptions,
    Pick<CachedDecoder, "capacityStep" | "reads" | "close"> {
  /** Bindings of the session, anew at each call. */
  readonly bindings: () => FedBindings;
  /** Whether several new tokens of several rows can be read only where nothing came before. */
  readonly readsRowByRow: boolean;
}

/** A decoder whose attention writes keys and values where they are kept, for the ways of a graph and of a memory. */
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
