import { HttpProblem } from "./http-problem.ts";

/** The error object that OpenAI's clients read. */
export interface ProblemBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

interface Details {
  /** The faulty field: `messages[2].content`. */
  param?: string | undefined;
  code?: string | undefined;
}

/** An error in OpenAI's form. Clients retry after 409, 429 and 5xx, and give up after other statuses. */
export class EndpointProblem extends HttpProblem {
  override name = "EndpointProblem";
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, { param, code }: Details = {}) {
    super(status, message);
    this.param = param ?? null;
    this.code = code ?? null;
  }
}

/** An error about a field with an invalid value. */
export function invalid(param: string, wrong: string, code?: string): EndpointProblem {
  return new EndpointProblem(400, `${param} ${wrong}.`, { param, code });
}

/** The body of an error. */
export function problemBody(problem: HttpProblem): ProblemBody {
  const { status, message } = problem;
  const { param, code } = problem instanceof EndpointProblem ? problem : { param: null, code: null };
  return { error: { message, type: typeOf(status), param, code } };
}

function typeOf(status: number): string {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
