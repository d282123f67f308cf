import { type Batch, type BatchOptions, createBatch } from "./batch.ts";
import { bytesAlone } from "./memory-check.ts";
import type { Sequence } from "./sequence.ts";

/**
 * The batches of one version of the weights. Its sequences share one, each with as much room as the longest, where
 * memory is enough for all that wait: a run costs less than two. Else those of like length share one.
 */
export interface Lanes {
  /** How many sequences are in them. */
  size(): number;
  /** Bytes of keys and values that they hold or may come to hold. */
  bytes(): number;
  /** Bytes that their sequences may come to need: less, where memory of earlier ones is kept. */
  needs(): number;
  /**
   * Takes in the first of those that wait, as many as the bytes are enough for, but for those that have nothing to
   * begin; returns how many need wait no more.
   */
  admit(waiting: readonly Sequence[], bytes: number): number;
  /** Whether so many bytes would be enough for one more, did they hold what is needed alone. */
  hasRoom(sequence: Sequence, bytes: number): boolean;
  /** A step of each batch. */
  step(): Promise<void>;
  /** Gives back memory that sequences don't need now. */
  trim(): void;
  /** The same, if no sequence is left. */
  rest(): void;
}

/** Times what a sequence needs alone that it may take in a batch of longer ones, where memory is short. */
const bearable = 4;

/** Empty lanes. */
export function createLanes(options: BatchOptions): Lanes {
  const { config, capacityStep } = options.model;
  let lanes: Batch[] = [createBatch(options)];

  const sum = (of: (lane: Batch) => number) => lanes.reduce((total, lane) => total + of(lane), 0);
  const bytes = () => sum((lane) => lane.bytes());
  const needs = () => sum((lane) => lane.needs());
  const largest = () => lanes.reduce((most, lane) => (lane.size() > most.size() ? lane : most));
  const alone = ({ prompt, room }: Sequence) => bytesAlone(config, capacityStep, prompt.length, room);
  const moreNeeds = (lane: Batch, sequence: Sequence) => lane.needs([sequence]) - lane.needs();

  /** The batch that a sequence goes to; undefined for a new one. */
  const laneFor = (sequence: Sequence): Batch | undefined => {
    const unused = lanes.find((lane) => lane.size() === 0);
    const cheapest = lanes.reduce((best, lane) =>
      moreNeeds(lane, sequence) < moreNeeds(best, sequence) ? lane : best,
    );
    return moreNeeds(cheapest, sequence) <= bearable * alone(sequence) ? cheapest : unused;
  };

  return {
    size: () => sum((lane) => lane.size()),
    bytes,
    needs,
    admit(waiting, limit) {
      const together = largest();
      if (bytes() + together.bytes(waiting) - together.bytes() <= limit) {
        together.join(waiting.filter((sequence) => sequence.begin()));
        return waiting.length;
      }
      for (const [index, sequence] of waiting.entries()) {
        const lane = laneFor(sequence);
        const more = lane ? lane.bytes([sequence]) - lane.bytes() : alone(sequence);
        if (bytes() + more > limit) return index;
        if (!sequence.begin()) continue;
        const joined = lane ?? createBatch(options);
        if (!lane) lanes.push(joined);
        joined.join([sequence]);
      }
      return waiting.length;
    },
    hasRoom(sequence, limit) {
      const lane = laneFor(sequence);
      return needs() + (lane ? moreNeeds(lane, sequence) : alone(sequence)) <= limit;
    },
    async step() {
      for (const lane of lanes) await lane.step();
      if (lanes.length > 1) lanes = lanes.filter((lane) => lane === largest() || lane.size() > 0);
    },
    trim() {
      for (const lane of lanes) lane.trim();
    },
    rest() {
      for (const lane of lanes) lane.rest();
    },
  };
}
