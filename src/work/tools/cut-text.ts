import type { ObservationLimit } from "../../contracts/plan.ts";

/** Limits in characters: by default, per token, and at most. */
const characterLimits = { plain: 8000, ofToken: 16, most: 300_000 };

/**
 * The characters at which a tool's worker cuts, since it can't count tokens. With a limit on tokens, this is
 * well above it.
 */
function charactersOf({ characters, tokens = 0 }: ObservationLimit): number {
  const { plain, ofToken, most } = characterLimits;
  return characters ?? Math.min(most, Math.max(plain, ofToken * tokens));
}

/**
 * Cuts a text at its end, its start or in its middle to a limit of characters, never within a character. A
 * line reports how many characters were cut.
 */
export function cutText(text: string, limit: ObservationLimit): string {
  const characters = charactersOf(limit);
  const { cut } = limit;
  if (text.length <= characters) return text;
  const before = cut === "start" ? 0 : cut === "end" ? characters : Math.ceil(characters / 2);
  const from = isInside(text, before) ? before - 1 : before;
  const after = text.length - (characters - before);
  const to = isInside(text, after) ? after + 1 : after;
  const lines = [text.slice(0, from), `[${to - from} characters cut]`, text.slice(to)];
  return lines.filter((line) => line !== "").join("\n");
}

/** Whether a position is between the two halves of a character. */
function isInside(text: string, place: number): boolean {
  return (
    place > 0 &&
    place < text.length &&
    /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(place - 1, place + 1))
  );
}
