import type { ServerResponse } from "node:http";
import { problemBody } from "./endpoint-problem.ts";
import type { HttpProblem } from "./http-problem.ts";

/** Answers a request with one JSON body. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...(status === 413 ? { connection: "close" } : {}),
    ...(status === 429 ? { "retry-after": "1" } : {}),
  });
  response.end(text);
}

/** Answers a request with what is wrong. */
export function sendProblem(response: ServerResponse, problem: HttpProblem): void {
  sendJson(response, problem.status, problemBody(problem));
}
