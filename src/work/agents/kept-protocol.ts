import type { DirectReply, DirectRequest } from "../../chat/openai/endpoint-server.ts";
import type { Task } from "../../contracts/generated/task.ts";

/** A trajectory that a kept agent runs. */
export interface KeptSession {
  /** Its number among the sessions of this thread or process. */
  number: number;
  task: Task;
  trajectory: string;
  /** The key of its session at the endpoint. */
  key: string;
}

/** Messages to a kept agent. */
export type ToKept =
  | { type: "run"; session: KeptSession }
  | { type: "abort"; session: number }
  | { type: "ping" }
  | { type: "reply"; id: number; reply: DirectReply };

/** Messages from a kept agent. */
export type FromKept =
  | { type: "loaded" }
  | { type: "unusable"; reason: string }
  | { type: "ended"; session: number; answer: string }
  | { type: "failed"; session: number; reason: string }
  /** Console output, of a session if it is known whose. */
  | { type: "said"; session: number | undefined; text: string }
  /** The thread ends. `session` is the one whose code ended it, if known. */
  | { type: "ending"; session: number | undefined; code: number }
  | { type: "pong" }
  /** A thread's request to the endpoint. */
  | { type: "request"; id: number; request: DirectRequest }
  /** The client no longer waits for the reply. */
  | { type: "left"; id: number };
