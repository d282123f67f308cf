import type { CutText, TokenLimit } from "../../contracts/policy.ts";
import { anyOf } from "./control-text.ts";
import type { Tokenizer } from "./tokenizer.ts";

/**
 * Cuts a text to a limit of tokens by removing its end, start or middle. A line in its place states how many tokens
 * were removed, and counts towards the limit. The text is encoded by itself, with control tokens as plain text. Cuts
 * are at token and character boundaries. `cut` is 0 if the text fits.
 */
export function cutToTokens(
  { encode, decode, control }: Pick<Tokenizer, "encode" | "decode" | "control">,
  text: string,
  { tokens: most, cut }: TokenLimit,
): CutText {
  const known = anyOf(control.all);
  const encoded = (piece: string) => {
    const found = [...piece.matchAll(known)];
    return encode(
      piece,
      found.map(({ 0: token, index }) => ({ start: index, end: index + token.length })),
    );
  };
  const all = encoded(text.toWellFormed());
  if (all.length <= most) return { text, cut: 0 };
  /** Returns the text with this number of its tokens. */
  const keeping = (count: number) => {
    const before = cut === "start" ? 0 : cut === "end" ? count : Math.ceil(count / 2);
    const lines = [
      decode(all.slice(0, before)).replace(/\ufffd+$/, ""), // bytes of a split character
      `[${all.length - count} tokens cut]`,
      decode(all.slice(all.length - (count - before))).replace(/^\ufffd+/, ""),
    ];
    return lines.filter((line) => line !== "").join("\n");
  };
  let keep = most;
  let part = keeping(keep);
  for (let over = encoded(part).length - most; over > 0 && keep > 0; over = encoded(part).length - most) {
    keep = Math.max(0, keep - over);
    part = keeping(keep);
  }
  return { text: part, cut: all.length - keep };
}
