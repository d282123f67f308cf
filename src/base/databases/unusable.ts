/** The database itself can't be used, whatever the query. `missing` is the package that it needs. */
export class Unusable extends Error {
  readonly missing: string | undefined;

  constructor(reason: string, missing?: string) {
    super(reason);
    this.missing = missing;
  }
}
