import { visible } from "../../../base/processes/terminal.ts";
import { counted } from "../../../base/text/format.ts";
import type { LiveStatus, WaitingCall } from "../../../contracts/orders.ts";

/** A line about a live trajectory's state, followed by a line for each waiting call. */
export function statusText(status: LiveStatus): string {
  const { state, turn, tokens, waiting, reason, messages } = status;
  const total = tokens.prompt + tokens.action + tokens.observation;
  const facts = [
    reason === undefined ? state : `${state} (${visible(reason)})`,
    turn === 0 ? "before the first turn" : `turn ${turn}`,
    counted(total, "token"),
    ...(status.willPause === true ? ["will pause after this turn"] : []),
    ...(messages.length === 0 ? [] : [`${counted(messages.length, "message")} for the next action`]),
  ];
  return [facts.join(" · "), ...waiting.map((call) => `  ${callText(call)}`)].join("\n");
}

/** A tool call that waits for a person. */
export function callText({ call, tool, arguments: given, whom }: WaitingCall): string {
  const waits = whom === undefined ? "" : ` (waits for ${visible(whom)})`;
  return `call ${call}: ${visible(`${tool} ${JSON.stringify(given)}`)}${waits}`;
}
