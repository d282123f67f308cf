import type { JsonObject } from "./json.ts";

/** What became of a tool call that waited for a person. `arguments` are those to call with. */
export type Approval =
  | { decision: "approved" | "edited"; arguments: JsonObject }
  | { decision: "answered"; arguments: JsonObject; answer: string }
  | { decision: "denied" | "timed-out"; reason: string };
