/** The part of a prompt that a pass reads. */
export interface NextPart {
  /** The number of tokens whose keys and values are known. */
  readonly length: number;
  /** The tokens to read next. */
  readonly next: readonly number[];
  /** Whether these are whole blocks, if that matters. */
  readonly isWhole: boolean;
}

/**
 * Groups parts of prompts into passes of at most `most` tokens, including padding. Prompts without known tokens come
 * first, and longer parts before shorter ones.
 */
export function readingPasses<Part extends NextPart>(parts: readonly Part[], most: number): Part[][] {
  const sorted = parts.toSorted(
    (a, b) => Number(isFresh(b)) - Number(isFresh(a)) || b.next.length - a.next.length,
  );
  const passes: Part[][] = [];
  for (const part of sorted) {
    const pass = passes.at(-1);
    if (pass && goesWith(part, pass, most)) pass.push(part);
    else passes.push([part]);
  }
  return passes;
}

/**
 * Whether a part fits a pass, whose first part is the longest. Parts that would need much padding don't. Prompts with
 * known tokens stay separate, because their rows may have to be read one by one. So do whole blocks.
 */
function goesWith(part: NextPart, pass: readonly NextPart[], most: number): boolean {
  const first = pass[0]!;
  return (
    isFresh(first) === isFresh(part) &&
    first.isWhole === part.isWhole &&
    part.next.length >= 0.75 * first.next.length &&
    (pass.length + 1) * first.next.length <= most
  );
}

function isFresh({ length }: NextPart): boolean {
  return length === 0;
}
