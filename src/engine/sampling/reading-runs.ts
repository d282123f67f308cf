/** What a run reads of a prompt. */
export interface NextPart {
  /** Tokens whose keys and values are known. */
  readonly length: number;
  /** The tokens that are read next. */
  readonly next: readonly number[];
  /** Whether these are whole blocks, where that matters. */
  readonly isWhole: boolean;
}

/**
 * Parts of prompts in runs of at most `most` tokens, with what they are padded by: those of which nothing is known first, the
 * longest first.
 */
export function readingRuns<Part extends NextPart>(parts: readonly Part[], most: number): Part[][] {
  const sorted = parts.toSorted(
    (a, b) => Number(isFresh(b)) - Number(isFresh(a)) || b.next.length - a.next.length,
  );
  const runs: Part[][] = [];
  for (const part of sorted) {
    const run = runs.at(-1);
    if (run && goesWith(part, run, most)) run.push(part);
    else runs.push([part]);
  }
  return runs;
}

/**
 * Whether a part goes with those of a run, the first of which is the longest: little may be padded. Those of which
 * something is known stay apart, as their rows may have to be read one by one; so do whole blocks.
 */
function goesWith(part: NextPart, run: readonly NextPart[], most: number): boolean {
  const first = run[0]!;
  return (
    isFresh(first) === isFresh(part) &&
    first.isWhole === part.isWhole &&
    part.next.length >= 0.75 * first.next.length &&
    (run.length + 1) * first.next.length <= most
  );
}

function isFresh({ length }: NextPart): boolean {
  return length === 0;
}
