/** The tokens that a grammar allows next in a sequence. */
export interface TokenConstraint {
  /** Returns one bit per token, 32 per number, lowest first: 1 if the token may come next. */
  allowed(): Promise<Int32Array>;
  /** Continues with a token. */
  accept(token: number): void;
  dispose(): void;
}
