import type { ObservationLimit } from "../contracts/plan.ts";

/**
 * A text within a limit: characters at its end, its start or in its middle are cut, never half of one, and a line says how
 * many where they were.
 */
export function cutText(text: string, { characters, cut }: ObservationLimit): string {
  if (text.length <= characters) return text;
  const before = cut === "start" ? 0 : cut === "end" ? characters : Math.ceil(characters / 2);
  const from = isInside(text, before) ? before - 1 : before;
  const after = text.length - (characters - before);
  const to = isInside(text, after) ? after + 1 : after;
  const lines = [text.slice(0, from), `[${to - from} characters cut]`, text.slice(to)];
  return lines.filter((line) => line !== "").join("\n");
}

/** Whether a place in a text is between the two halves of a character. */
function isInside(text: string, place: number): boolean {
  return (
    place > 0 &&
    place < text.length &&
    /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(place - 1, place + 1))
  );
}
