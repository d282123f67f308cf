import type { Call, Turn } from "../../contracts/generated/trajectory.ts";
import type { Shown } from "../../contracts/trajectory.ts";
import { cut } from "./cut.ts";

/** The number of first turns and of newest turns to keep. The newest are also limited by their bytes. */
const bounds = { first: 3, newest: 12, newestBytes: 8_000 };

/** The approximate limit on the bytes of one turn's texts. */
const turnBytes = 2_400;
const callsShown = 50;

/** Adds the next turn to `shown`, with its texts cut. Older turns are dropped to make room. */
export function withTurn({ first, newest }: Shown, turn: Turn): Shown {
  const bounded = cutTurn(turn);
  if (newest.length === 0 && first.length < bounds.first) return { first: [...first, bounded], newest };
  const kept = [...newest, bounded].slice(-bounds.newest);
  while (kept.length > 1 && JSON.stringify(kept).length > bounds.newestBytes) kept.shift();
  return { first, newest: kept };
}

/** Cuts a turn's texts at a limit. */
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
