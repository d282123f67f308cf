import type { JsonObject } from "./json.ts";

/** The decision about a tool call that waited for a person. `arguments` replace those of the call. */
export type Approval =
  | { decision: "approved" | "edited"; arguments: JsonObject }
  | { decision: "answered"; arguments: JsonObject; answer: string }
  | Denial;

/** A decision against a tool call. */
export interface Denial {
  decision: "denied" | "timed-out";
  reason: string;
}
