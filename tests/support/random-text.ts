import { createUniformStream } from "../../src/base/random/uniform-stream.ts";

/** Random numbers that a name fixes. */
export interface Draws {
  /** A whole number from 0 up to `count`, without it. */
  below(count: number): number;
}

/** The draws of a name. */
export function drawsOf(name: string): Draws {
  const uniform = createUniformStream({ seed: 0, trajectory: name, turn: 0 });
  let position = 0;
  return { below: (count) => Math.floor(uniform(position++) * count) };
}

const parts = [
  "",
  " ",
  "  ",
  "\n",
  "\r\n",
  "\t",
  "\0",
  "\u0001",
  "\u007f",
  "\u2028",
  "\ufeff",
  "\u00a0",
  "word",
  "42",
  "٣",
  "e\u0301\u0323\u0330",
  "नि\u200dक्ष",
  "👩‍👩‍👧",
  "🏳️‍🌈",
  "🇨🇭",
  "漢字",
  "ﬁ",
  "Å",
  "\ud800",
  "\udc00",
  "\udbff3\udbff",
  "\ufffd",
  "\u{f0000}0\u{f0000}",
  "\u{f0001}",
  "שלום",
  "\u202eمرحبا\u202c",
  "<think>",
  "</think>",
  "<tool_response>",
  "</tool_call>",
  "[INST]",
  "<0x0A>",
  "▁",
  '{"a": "\\"}',
  "{{ messages }}",
  "{% endif %}",
  "EVERTURN_ACTION",
  "$&",
  "\\",
  "'",
  "<",
  "&lt;",
  "`",
];

/** A text of odd parts, at times empty or very long; of `control` any token, a part of one, or one inside another. */
export function randomText(draws: Draws, control: readonly string[]): string {
  const kind = draws.below(60);
  if (kind < 6) return "";
  if (kind === 6) return randomPart(draws, control).repeat(2 ** draws.below(13));
  return Array.from({ length: 1 + draws.below(12) }, () => randomPart(draws, control)).join("");
}

function randomPart(draws: Draws, control: readonly string[]): string {
  const part = parts[draws.below(parts.length)] ?? "";
  const kind = draws.below(6);
  if (kind < 3) return part;
  const token = control[draws.below(control.length)] ?? "";
  const at = draws.below(token.length);
  if (kind === 3) return token.slice(0, at);
  return kind === 4 ? `${token.slice(0, at)}${token}${token.slice(at)}` : token;
}
