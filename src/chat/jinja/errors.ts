/** An error that the template would also cause in Python: a syntax error, an undefined value, or a wrong type. */
export class JinjaError extends Error {
  override readonly name: string = "JinjaError";
}

/** The template uses a feature that this implementation can't reproduce exactly, so it refuses. */
export class UnsupportedJinjaError extends JinjaError {
  override readonly name = "UnsupportedJinjaError";
}
