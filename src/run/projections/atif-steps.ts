import { defined } from "../../base/records/defined.ts";
import type {
  AtifMetrics,
  AtifPart,
  AtifResult,
  AtifStep,
  AtifToolUse,
} from "../../contracts/generated/atif.ts";
import type { Call } from "../../contracts/generated/trajectory.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { Message } from "../../contracts/message.ts";
import type { Detail } from "./trajectory-detail.ts";
import { isReadable, type ReadText, turnParts } from "./trajectory-messages.ts";

/** A step before it is numbered. */
export type AtifBody = Omit<AtifStep, "step_id">;

/** What the steps of a turn are made with. */
export interface StepSettings {
  /** Reads actions like the run. */
  read: ReadText;
  /** Returns the path of an image by its SHA-256. */
  imagePath: (sha256: string) => string;
}

/** The media types of images that ATIF knows. */
const mediaTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** The steps of a prompt. The assistant's messages in it are copied context, because the policy didn't write them. */
export function promptSteps(messages: readonly Message[], { imagePath }: StepSettings): AtifBody[] {
  return messages.map(({ role, content, images = [] }): AtifBody => {
    const message = withImages(content, images, imagePath);
    if (role === "assistant") return { source: "agent", message, is_copied_context: true };
    return { source: role === "system" ? "system" : "user", message };
  });
}

/**
 * The steps of the turn with this number, from 1: what people said before it, the action with the answers to its
 * calls, and a step without a model for calls that the loop made.
 */
export function turnSteps(
  turn: Detail,
  number: number,
  facts: { metrics: AtifMetrics | undefined; isCopied: boolean; extra: AtifStep["extra"] },
  { read, imagePath }: StepSettings,
): AtifBody[] {
  const said = (turn.said ?? []).map(({ role, content }): AtifBody => ({ source: role, message: content }));
  const { text, reasoning, calls } = turnParts(turn, number, read);
  const { metrics, isCopied, extra } = facts;
  const action = defined<AtifBody>({
    source: "agent",
    message: text,
    reasoning_content: reasoning === "" ? undefined : reasoning,
    ...callsAndResults(calls, imagePath),
    metrics,
    is_copied_context: isCopied ? true : undefined,
    llm_call_count: 1,
    extra,
  });
  const made = turn.toolCalls.filter((call) => call.byLoop === true);
  if (made.length === 0) return [...said, action];
  const identified = made.map((call, index) => ({ call, id: `loop_${number}_${index}` }));
  const dispatch = defined<AtifBody>({
    source: "agent",
    message: "",
    ...callsAndResults(identified, imagePath),
    is_copied_context: isCopied ? true : undefined,
    llm_call_count: 0,
  });
  return [...said, action, dispatch];
}

/** Calls with their results. The result of an unreadable call names no call, because ATIF has no place for one. */
function callsAndResults(
  calls: readonly { call: Call; id: string }[],
  imagePath: StepSettings["imagePath"],
): Pick<AtifBody, "tool_calls" | "observation"> {
  if (calls.length === 0) return {};
  const tool_calls = calls.flatMap(({ call, id }): AtifToolUse[] =>
    isReadable(call) ? [{ tool_call_id: id, function_name: call.tool, arguments: call.arguments }] : [],
  );
  const results = calls.map(({ call, id }): AtifResult => {
    const frames = (call.media ?? []).flatMap((one) => one.frames);
    return defined({
      source_call_id: isReadable(call) ? id : undefined,
      content: withImages(call.observation, frames, imagePath),
      extra: callExtra(call),
    });
  });
  return defined({ tool_calls: tool_calls.length === 0 ? undefined : tool_calls, observation: { results } });
}

/** The properties of a call that are out of the ordinary; undefined if none are. */
function callExtra({ valid, invalid, approval, attempts, done }: Call): JsonObject | undefined {
  const extra = defined<JsonObject>({
    valid: valid ? undefined : false,
    attempts: attempts > 1 ? attempts : undefined,
    done: done ? true : undefined,
    invalid,
    approval,
  });
  return Object.keys(extra).length === 0 ? undefined : extra;
}

/** A text, or its parts if there are images: each at its place in the text, else after it. */
function withImages(
  content: string,
  images: readonly { sha256: string; mediaType: string; at?: number }[],
  pathOf: (sha256: string) => string,
): string | AtifPart[] {
  const known = images.filter(({ mediaType }) => mediaTypes.includes(mediaType));
  if (known.length === 0) return content;
  const parts: AtifPart[] = [];
  let from = 0;
  for (const { sha256, mediaType, at = content.length } of known) {
    if (at > from) parts.push({ type: "text", text: content.slice(from, at) });
    parts.push({ type: "image", source: { media_type: mediaType, path: pathOf(sha256) } });
    from = Math.max(from, at);
  }
  return from < content.length ? [...parts, { type: "text", text: content.slice(from) }] : parts;
}
