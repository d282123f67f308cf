import { defined } from "../src/base/records/defined.ts";
import type { CallToolResult } from "../src/contracts/activities.ts";
import type { Approval, Denial } from "../src/contracts/approval.ts";
import type { Call } from "../src/contracts/generated/trajectory.ts";
import type { ToolCall } from "../src/contracts/message.ts";
import type { ToolBinding } from "../src/contracts/trajectory.ts";
import { checkQuestion } from "./tool-activity.ts";
import type { LiveTurn } from "./turn.ts";

/** A call that the policy or the loop wants to make. */
export interface Wanted {
  binding: ToolBinding;
  call: ToolCall;
  /** Its place in the turn, from 0. */
  number: number;
  /** `byLoop` if the loop makes the call for itself. */
  caller: { byLoop?: true };
}

/**
 * Whether a call waits for a person. People have already decided about a copied turn, and recordings contain
 * their answers.
 */
export function needsPerson({ isCopied }: LiveTurn, { approval, person, recordings }: ToolBinding): boolean {
  const isRecorded = person === true && recordings !== undefined;
  return approval !== undefined && !isRecorded && !isCopied;
}

/** Returns the model's mistake in a question, or undefined if a person can answer it. */
export function questionProblem(
  turn: LiveTurn,
  { binding, call, number, caller }: Wanted,
): Promise<CallToolResult | undefined> {
  const { place, queues } = turn.input;
  const request = { place, turn: turn.number, call: number, arguments: call.arguments, ...caller };
  return checkQuestion(binding, request, { queues, holder: undefined, onHolder: () => {} });
}

/** Waits for a person to decide about a call, or to answer it if it is a question. */
export function askPerson(
  turn: LiveTurn,
  { binding: { approval, person }, call, number }: Wanted,
): Promise<Approval> {
  const waiting: Parameters<typeof turn.orders.approval>[0] = defined({
    call: `${turn.number}/${number}`,
    tool: call.name,
    arguments: call.arguments,
    isQuestion: person === true ? true : undefined,
    whom: approval?.whom,
  });
  return turn.orders.approval(waiting, approval?.timeout);
}

/** Whether a person denied a call, or nobody decided in time. */
export function isDenial(approval: Approval): approval is Denial {
  return "reason" in approval;
}

/** Records that a call was denied. The call itself was valid. */
export function denyCall(
  turn: LiveTurn,
  { call, number, caller }: Wanted,
  { decision, reason }: Denial,
): Call {
  const denied = {
    tool: call.name,
    arguments: call.arguments,
    observation: reason,
    approval: decision,
    ...caller,
  };
  turn.trajectory.apply({ type: "refused", call: { turn: turn.number, call: number, ...denied } });
  return { ...denied, valid: true, attempts: 0 };
}
