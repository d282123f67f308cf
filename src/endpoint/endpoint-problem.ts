/** What OpenAI's clients read of an error. */
export interface ProblemBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

interface Details {
  /** The field that is wrong: `messages[2].content`. */
  param?: string | undefined;
  code?: string | undefined;
}

/** A request that is answered with an error. Clients ask again after 409, 429 and 5xx, and give up after the others. */
export class EndpointProblem extends Error {
  override name = "EndpointProblem";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, { param, code }: Details = {}) {
    super(message);
    this.status = status;
    this.param = param ?? null;
    this.code = code ?? null;
  }

  get body(): ProblemBody {
    const { message, param, code } = this;
    return { error: { message, type: typeOf(this.status), param, code } };
  }
}

/** A field that can't be what it is. */
export function invalid(param: string, wrong: string, code?: string): EndpointProblem {
  return new EndpointProblem(400, `${param} ${wrong}.`, { param, code });
}

function typeOf(status: number): string {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
