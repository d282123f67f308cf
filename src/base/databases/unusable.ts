/** The database itself can't be used, for which no query is to blame; `missing` is the package that it needs. */
export class Unusable extends Error {
  readonly missing: string | undefined;

  constructor(reason: string, missing?: string) {
    super(reason);
    this.missing = missing;
  }
}
