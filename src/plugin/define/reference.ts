/**
 * A module that a pipeline names as a plugin: `./tools/length.ts`, or one of its exports,
 * `./tools/math.ts#add`.
 */
export interface FileReference {
  readonly path: string;
  /** The name of the export. Default: "default". */
  readonly name: string;
}

/** Parses a reference to a module. Undefined if it is a plugin's name or folder. */
export function fileReference(reference: string): FileReference | undefined {
  const [, path, name = "default"] =
    /^(\.{0,2}\/.*\.[cm]?[jt]s)(?:#([\p{ID_Start}$_][\p{ID_Continue}$]*))?$/u.exec(reference) ?? [];
  return path === undefined ? undefined : { path, name };
}
