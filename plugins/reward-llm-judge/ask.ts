import type { JsonObject } from "everturn/plugin";
import type { Points } from "./request.ts";

/** A judge's points, or its refusal to judge. */
export type Judgement = { points: number; reason: string } | { refused: string };

/** The maximum bytes of an answer. */
const longest = 1024 * 1024;

/**
 * Asks the judge. Throws the errors of `fetch`, and an error if the answer is an error or does not have the
 * requested form.
 */
export async function judgement(
  { url, key }: { url: string; key: string | undefined },
  asked: JsonObject,
  points: Points,
  signal: AbortSignal,
): Promise<Judgement> {
  const response = await fetch(`${url.replace(/\/+$/, "")}/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(asked),
    signal,
  });
  const text = (await response.text()).slice(0, longest);
  if (!response.ok) throw new Error(`the judge answered ${response.status}: ${text.slice(0, 200)}`);
  const choice = Object(parsed(text, "the judge's answer"))?.choices?.[0];
  const { content, refusal } = Object(choice?.message);
  if (typeof refusal === "string" && refusal !== "") return { refused: refusal.slice(0, 200) };
  if (choice?.finish_reason === "content_filter") return { refused: "its content filter" };
  if (typeof content !== "string") throw new Error("the judge's answer has no message");
  if (choice.finish_reason === "length") throw new Error("the judge's answer was cut: raise maxTokens");
  return judged(content, points);
}

/**
 * Reads the judgement in a message: a single JSON object with nothing around it, and with a whole number of
 * points in the range. An object within other text does not count, so that a judge which quotes the policy
 * gives it no points.
 */
export function judged(content: string, { from, to }: Points): Judgement {
  const answer = parsed(content, "the judge's judgement");
  const { points, reason } = Object(answer);
  if (Array.isArray(answer) || !Number.isInteger(points) || points < from || points > to) {
    throw new Error(`the judge gave no points from ${from} to ${to}: ${content.slice(0, 200)}`);
  }
  return { points, reason: typeof reason === "string" ? reason : "" };
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${what} is not JSON: ${text.slice(0, 200)}`);
  }
}
