/** An error response to a request: its status and message. */
export class HttpProblem extends Error {
  override name = "HttpProblem";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
