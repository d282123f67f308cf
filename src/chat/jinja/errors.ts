/** A template fails as it would in Python: a syntax error, an undefined value, a wrong type. */
export class JinjaError extends Error {
  override readonly name: string = "JinjaError";
}

/** A template asks for something that this implementation can't do exactly as Python does, so that it refuses. */
export class UnsupportedJinjaError extends JinjaError {
  override readonly name = "UnsupportedJinjaError";
}
