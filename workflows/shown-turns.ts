import type { Call, Turn } from "../src/contracts/generated/trajectory.ts";
import type { Shown } from "../src/contracts/trajectory.ts";
import { cut } from "./transcript.ts";

/** How many first turns stay, and how many newest ones, as far as these have room. */
const bounds = { first: 3, newest: 12, newestBytes: 8_000 };

/** Bytes that the texts of one turn may have, about. */
const turnBytes = 2_400;
const callsShown = 50;

/** `shown` with the next turn: cut at a bound, older turns left out where there is no room. */
export function withTurn({ first, newest }: Shown, turn: Turn): Shown {
  const bounded = cutTurn(turn);
  if (newest.length === 0 && first.length < bounds.first) return { first: [...first, bounded], newest };
  const kept = [...newest, bounded].slice(-bounds.newest);
  while (kept.length > 1 && JSON.stringify(kept).length > bounds.newestBytes) kept.shift();
  return { first, newest: kept };
}

/** A turn with its texts cut at a bound. */
export function cutTurn({ action, toolCalls }: Turn): Turn {
  const calls = toolCalls.slice(0, callsShown);
  const share = Math.floor(turnBytes / (1 + 2 * calls.length));
  return {
    action: cut(action, Math.max(share, turnBytes / 3)),
    toolCalls: calls.map((call) => cutCall(call, share)),
  };
}

function cutCall(call: Call, share: number): Call {
  const { arguments: given } = call;
  const written = typeof given === "string" ? given : JSON.stringify(given);
  const shortened = cut(written, share);
  return {
    ...call,
    tool: cut(call.tool, 100),
    arguments: shortened === written ? given : shortened,
    observation: cut(call.observation, share),
  };
}
