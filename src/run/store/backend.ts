import type { Files } from "./tree.ts";

/**
 * A part of a listing, sorted by path. A server may sort a name before all longer ones that begin with it.
 * `next`: where the next part begins, for `page` alone to understand; absent at the end.
 */
export interface Page {
  paths: string[];
  next?: string;
}

/**
 * The storage under a store: objects by path, with the guarantees of an object store and no more. Paths separate
 * names by `/`, but no folders exist in them. A failed operation may still have taken effect. An object that can't
 * be written for now throws DISK_FULL or STORE_NOT_WRITABLE, and one that can't be read for now STORE_NOT_READABLE;
 * callers wait and retry. An unreadable object is never absent.
 */
export interface Backend {
  /**
   * Stores an object, whole or not at all. Returns false if the path is taken, even by this very object from an
   * attempt whose answer was lost. With `flush` it survives a power failure once this returns.
   */
  put(path: string, content: Uint8Array, options: { flush: boolean }): Promise<boolean>;
  /**
   * The current object; undefined if there is none. `isListed` means that a listing contains it, so it usually
   * exists.
   */
  get(path: string, options?: { isListed: boolean }): Promise<Uint8Array | undefined>;
  /** Its size in bytes; undefined if there is none. */
  size(path: string): Promise<number | undefined>;
  /** Its size and SHA-256, read now; undefined if there is none. */
  digest(path: string): Promise<{ size: number; sha256: string } | undefined>;
  /** Removes the object if it exists. */
  remove(path: string): Promise<void>;
  /** Objects whose path begins with `prefix`. Recent changes may be missing here, but only here. */
  page(prefix: string, after?: string): Promise<Page>;
  /**
   * Lets `write` fill a local folder, and stores its files below `prefix`, flushed. If it throws, none of them stay.
   */
  fill(prefix: string, write: (folder: string) => Promise<void>): Promise<Files>;
  /**
   * Runs `work` on a local folder with the files below `prefix`, after reading them and comparing them with `files`.
   * With `isUnread` it compares only their sizes, because `work` does not read them. Throws FileBroken.
   */
  inFolder<Result>(
    prefix: string,
    files: Files,
    work: (folder: string) => Promise<Result>,
    options?: { isUnread?: boolean },
  ): Promise<Result>;
  /** Deletes leftovers of killed processes next to the objects. Returns their number. */
  sweep(): Promise<number>;
}

/** A file of a tree is missing or differs from its record. */
export class FileBroken extends Error {}
