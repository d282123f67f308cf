import { createUniformStream } from "../../src/base/random/uniform-stream.ts";

/** Chance that a number decides. */
export interface Draw {
  /** One of them, each as likely as the others. */
  of<const Choices extends readonly [unknown, ...unknown[]]>(...choices: Choices): Choices[number];
  /** True, so often. */
  isSo(share: number): boolean;
  /** From -½ to ½. */
  noise(length: number): Float32Array<ArrayBuffer>;
}

/** The draws of a number, one after the other. */
export function createDraw(seed: number): Draw {
  const uniform = createUniformStream({ seed, trajectory: "combination", turn: 0 });
  let position = 0;
  const next = () => uniform(position++);
  return {
    of: (...choices) => choices[Math.floor(next() * choices.length)]!,
    isSo: (share) => next() < share,
    noise: (length) => Float32Array.from({ length }, () => next() - 0.5),
  };
}
