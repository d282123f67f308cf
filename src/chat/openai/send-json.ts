import type { ServerResponse } from "node:http";
import { problemBody } from "./endpoint-problem.ts";
import type { HttpProblem } from "./http-problem.ts";

/** Answers a request with a JSON body. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...statusHeaders(status),
  });
  response.end(text);
}

/** The headers for an error's status: 413 closes the connection, and 429 tells the client when to retry. */
export function statusHeaders(status: number): Record<string, string> {
  if (status === 413) return { connection: "close" };
  return status === 429 ? { "retry-after": "1" } : {};
}

/** Answers a request with an error. */
export function sendProblem(response: ServerResponse, problem: HttpProblem): void {
  sendJson(response, problem.status, problemBody(problem));
}
