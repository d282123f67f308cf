/** What a grammar allows a sequence to become, token by token. */
export interface TokenConstraint {
  /** A bit for each token, 32 to a number, lowest first: 1 where it may come next. */
  allowed(): Promise<Int32Array>;
  /** Goes on with a token. */
  accept(token: number): void;
  dispose(): void;
}
