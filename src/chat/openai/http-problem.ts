/** A request that is answered with an error: its status, and what is wrong with it. */
export class HttpProblem extends Error {
  override name = "HttpProblem";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
