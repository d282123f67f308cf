/** What Split does with the matches of its pattern: Python's SplitDelimiterBehavior. */
export const splitBehaviors = [
  "Removed",
  "Isolated",
  "Contiguous",
  "MergedWithPrevious",
  "MergedWithNext",
] as const;
export type SplitBehavior = (typeof splitBehaviors)[number];

/** A part of a text, and whether the pattern matches it. */
interface Segment {
  text: string;
  isMatch: boolean;
}

/**
 * Splits a text like Split of Python's `tokenizers` with a global pattern. If inverted, the parts between its matches
 * count as matches.
 */
export function splitPieces(
  text: string,
  pattern: RegExp,
  behavior: SplitBehavior,
  isInverted: boolean,
): string[] {
  const all = segments(text, pattern, isInverted);
  return joinedSegments(all, behavior).filter((piece) => piece !== "");
}

function segments(text: string, pattern: RegExp, isInverted: boolean): Segment[] {
  const found: Segment[] = [];
  let end = 0;
  let isFirst = true;
  for (const { 0: match, index } of text.matchAll(pattern)) {
    if (match === "" && index === end && !isFirst) continue; // Python finds no empty match directly after another
    isFirst = false;
    if (index > end) found.push({ text: text.slice(end, index), isMatch: isInverted });
    found.push({ text: match, isMatch: !isInverted });
    end = index + match.length;
  }
  if (end < text.length) found.push({ text: text.slice(end), isMatch: isInverted });
  return found;
}

function joinedSegments(all: readonly Segment[], behavior: SplitBehavior): string[] {
  switch (behavior) {
    case "Removed":
      return all.filter(({ isMatch }) => !isMatch).map(({ text }) => text);
    case "Isolated":
      return all.map(({ text }) => text);
    case "Contiguous":
      return grouped(all, (segment, before) => segment.isMatch === before.isMatch);
    case "MergedWithPrevious":
      return grouped(all, (segment, before) => segment.isMatch && !before.isMatch);
    case "MergedWithNext": {
      // from the end: a match joins the part after it, unless that is a match
      const pieces: string[] = [];
      let after: Segment | undefined;
      for (const segment of all.toReversed()) {
        if (segment.isMatch && after?.isMatch === false) pieces.push(segment.text + pieces.pop());
        else pieces.push(segment.text);
        after = segment;
      }
      return pieces.reverse();
    }
  }
}

/** Joins segments into pieces. A segment for which `joins` is true becomes part of the previous piece. */
function grouped(all: readonly Segment[], joins: (segment: Segment, before: Segment) => boolean): string[] {
  const pieces: string[] = [];
  let before: Segment | undefined;
  for (const segment of all) {
    if (before !== undefined && joins(segment, before)) pieces.push(pieces.pop() + segment.text);
    else pieces.push(segment.text);
    before = segment;
  }
  return pieces;
}
