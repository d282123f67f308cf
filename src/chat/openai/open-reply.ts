import type { ServerResponse } from "node:http";
import { problemBody } from "./endpoint-problem.ts";
import type { HttpProblem } from "./http-problem.ts";
import type { ModelAnswer, ModelRequest } from "./model-request.ts";
import { sendProblem } from "./send-json.ts";
import { eventText, type ServerEvent } from "./server-event.ts";
import { chatBody, chatEvents } from "./write-chat.ts";
import { responsesBody, responsesEvents } from "./write-responses.ts";

/** A request being answered. */
export interface OpenReply {
  send(answer: ModelAnswer): void;
  /**
   * Sends an error. A client that already has headers takes a clean end for an answer, so it gets the error and then
   * a broken connection.
   */
  fail(problem: HttpProblem): void;
  /** Stops the signs of life. */
  end(): void;
}

/**
 * Sends the answer in the form that the request wants, and signs of life until then: most clients give up after five
 * minutes without a header.
 */
export function openReply(
  request: ModelRequest,
  response: ServerResponse,
  { after, every }: { after: number; every: number },
): OpenReply {
  const type = contentType(request);
  const sign = request.stream ? ": the model is at work\n\n" : " "; // JSON may begin with white space
  const signs: { timer?: NodeJS.Timeout } = {};
  const begin = () => {
    if (!response.headersSent) response.writeHead(200, { "content-type": type, "cache-control": "no-cache" });
  };
  const giveSign = () => {
    if (response.destroyed) return;
    begin();
    response.write(sign);
    signs.timer = setTimeout(giveSign, every).unref();
  };
  signs.timer = setTimeout(giveSign, after).unref();

  return {
    send: (answer) => {
      if (response.destroyed) return;
      const text = replyText(request, answer);
      if (request.stream) begin();
      else if (!response.headersSent)
        response.writeHead(200, { "content-type": type, "content-length": Buffer.byteLength(text) });
      response.end(text);
    },
    fail: (problem) => {
      if (response.destroyed) return;
      if (!response.headersSent) return sendProblem(response, problem);
      if (!request.stream) return void response.destroy();
      response.write(eventText(errorEvent(problem, request.path === "chat")), () => response.destroy());
    },
    end: () => clearTimeout(signs.timer),
  };
}

/** The media type of the answer to a request. */
export function contentType({ stream }: ModelRequest): string {
  return stream ? "text/event-stream; charset=utf-8" : "application/json";
}

/** The text of an answer in the form that the request wants. */
export function replyText(request: ModelRequest, answer: ModelAnswer): string {
  const isChat = request.path === "chat";
  if (!request.stream)
    return JSON.stringify(isChat ? chatBody(answer, request) : responsesBody(answer, request));
  const events = isChat ? chatEvents(answer, request) : responsesEvents(answer, request);
  return events.map(eventText).join("");
}

function errorEvent(problem: HttpProblem, isChat: boolean): ServerEvent {
  const body = problemBody(problem);
  if (isChat) return { data: JSON.stringify(body) };
  const { message, param, code } = body.error;
  const fields = { type: "error", sequence_number: 0, code, message, param, ...body };
  return { event: "error", data: JSON.stringify(fields) };
}
