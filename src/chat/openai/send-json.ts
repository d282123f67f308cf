import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { defined } from "../../base/records/defined.ts";
import { problemBody } from "./endpoint-problem.ts";
import type { HttpProblem } from "./http-problem.ts";

/** Answers a request with one JSON body. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(
    status,
    defined<OutgoingHttpHeaders>({
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      connection: status === 413 ? "close" : undefined,
      "retry-after": status === 429 ? "1" : undefined,
    }),
  );
  response.end(text);
}

/** Answers a request with what is wrong. */
export function sendProblem(response: ServerResponse, problem: HttpProblem): void {
  sendJson(response, problem.status, problemBody(problem));
}
