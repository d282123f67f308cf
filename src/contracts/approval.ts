import type { JsonObject } from "./json.ts";

/** What became of a tool call that needs approval. `arguments` are those to call with. */
export type Approval =
  | { decision: "approved" | "edited"; arguments: JsonObject }
  | { decision: "denied" | "timed-out"; reason: string };
