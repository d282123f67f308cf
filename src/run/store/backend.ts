import type { Files } from "./tree.ts";

/** A part of a listing, sorted by path. `next`: where the following part begins after; absent at the end. */
export interface Page {
  paths: string[];
  next?: string;
}

/**
 * What a store stands on: objects by path, with the promises of an object store and no more. A path has `/` between its
 * names; none of them is a folder that could be there or not. What fails may have taken effect all the same. What can't
 * be written for now throws DISK_FULL or STORE_NOT_WRITABLE, what can't be read for now STORE_NOT_READABLE, and is waited for: an
 * object that can't be read is never absent.
 */
export interface Backend {
  /**
   * Puts an object, whole or not at all, unless the path is taken: then false, also where it is this very object, put by
   * a try whose answer was lost. With `flush` it survives a power failure once this returns.
   */
  put(path: string, content: Uint8Array, options: { flush: boolean }): Promise<boolean>;
  /** The object that stands now; undefined if there is none. `isListed` says that a listing has it, so that it is there as a rule. */
  get(path: string, options?: { isListed: boolean }): Promise<Uint8Array | undefined>;
  /** Its bytes; undefined if there is none. */
  size(path: string): Promise<number | undefined>;
  /** Its bytes and their SHA-256, read now; undefined if there is none. */
  digest(path: string): Promise<{ size: number; sha256: string } | undefined>;
  /** Removes the object, if it is there. */
  remove(path: string): Promise<void>;
  /** Objects whose path begins with `prefix`. What was put or removed lately may be wrong here, and here alone. */
  page(prefix: string, after?: string): Promise<Page>;
  /** Has `write` fill a local folder, whose files then stand below `prefix`, flushed; or throws, and leaves none. */
  fill(prefix: string, write: (folder: string) => Promise<void>): Promise<Files>;
  /**
   * Works on the files below `prefix` in a local folder, once they were read and are what `files` says; with `isUnread` their sizes
   * are enough, since nothing is read of them. Throws FileBroken.
   */
  inFolder<Result>(
    prefix: string,
    files: Files,
    work: (folder: string) => Promise<Result>,
    options?: { isUnread?: boolean },
  ): Promise<Result>;
  /** Deletes what killed processes left beside the objects; how many things. */
  sweep(): Promise<number>;
}

/** A file of a tree is gone, or not what its record says. */
export class FileBroken extends Error {}
