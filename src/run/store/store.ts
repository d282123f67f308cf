import type { Page } from "./backend.ts";
import type { Key, Prefix, TreeKey } from "./key.ts";
import type { Files, Tree } from "./tree.ts";

/**
 * The durable state of a run. It has the guarantees of an object store with conditional writes, and no more: it
 * can't rename, times and folders have no meaning, and a listing may lag behind changes.
 *
 * A read treats an unreadable object (truncated, changed, or not Everturn's) as absent and reports it to
 * `onCorrupt`. The next write replaces it, and `scan` finds all of them. A temporary failure (no space, no answer)
 * is different: writes and reads wait for it (`patiently`), then throw DISK_FULL, STORE_NOT_WRITABLE or
 * STORE_NOT_READABLE.
 */
export interface Store {
  /**
   * Writes a record unless there is one, and returns the current one: of racing writers one wins, and all return its
   * value, or `value` itself if it is equal. With `flush` it survives a power failure once this returns. `value`
   * must be JSON. Throws DISK_FULL and STORE_NOT_WRITABLE after waiting for ten minutes, or without `waits` for at
   * most a second.
   */
  record<Value>(
    key: Key<Value>,
    value: Value,
    options?: { flush?: boolean; waits?: boolean },
  ): Promise<Value>;
  /** The current record; undefined if there is no readable one. */
  read<Value>(key: Key<Value>): Promise<Value | undefined>;
  /** Whether a record was written there, readable or not. */
  has(key: Key<unknown>): Promise<boolean>;
  /** Stores bytes under their own SHA-256, and returns that. Throws the same errors as `record`. */
  bytes(content: Uint8Array): Promise<string>;
  /** The bytes with a SHA-256, verified; undefined if there are none. */
  readBytes(sha256: string): Promise<Uint8Array | undefined>;
  /**
   * Lets `write` fill a local folder and stores its files, under this attempt's own name and permanently, before the
   * record that names them, which is the commit. Of racing attempts the first to commit wins and all return its
   * record (with `value`'s own object if it is this attempt's). The others' files are removed. A tree whose files
   * don't match its record is replaced. Everything is flushed. After a wait for disk space, `write` runs again.
   * Throws the same errors as `record`.
   */
  tree<Value>(
    key: TreeKey<Value>,
    write: (folder: string) => Promise<void>,
    value: () => Value,
  ): Promise<Tree<Value>>;
  /** The current tree; undefined if none is complete. */
  readTree<Value>(key: TreeKey<Value>): Promise<Tree<Value> | undefined>;
  /** The newest record of a tree, whether or not its files are complete. */
  treeRecord<Value>(key: TreeKey<Value>): Promise<Tree<Value> | undefined>;
  /**
   * Runs `work` on a part of a tree (a folder in it) in a local folder, which exists until `work` ends and must not
   * be written to. Before that it reads the files, once per process, and compares them with the tree's record, or
   * only their sizes with `isUnread`. Undefined if the part was freed or does not match its record; the next
   * `readTree` then knows that.
   */
  inFolder<Result>(
    key: TreeKey<unknown>,
    tree: { attempt: string; files: Files },
    part: string,
    work: (folder: string) => Promise<Result>,
    options?: { isUnread?: boolean },
  ): Promise<{ result: Result } | undefined>;
  /** Explains why a part of a tree is missing: which of its files is wrong, and how. */
  problemOf(key: TreeKey<unknown>, part: string): Promise<string>;
  /** Permanently removes the files of a part of a tree. Its record stays, and still describes them. */
  free(key: TreeKey<unknown>, part: string): Promise<void>;
  /** Whether that has been done, or has begun. */
  isFreed(key: TreeKey<unknown>, part: string): Promise<boolean>;
  /** Whether these bytes were stored, readable or not. */
  hasBytes(sha256: string): Promise<boolean>;
  /** The paths below a place, one part at a time, in order. Each appears once, even if it was replaced. May lag. */
  list(prefix: Prefix, after?: string): Promise<Page>;
  /**
   * Removes a record because of retention. A writer of the same key can't know whether its record survives the
   * removal, so data that is created again needs a key of its own.
   */
  remove(key: Key<unknown>): Promise<void>;
  /** Reads every object below a place once and in order, including files of trees, based on a listing. */
  scan(prefix: Prefix): AsyncIterable<Scanned>;
  /**
   * Removes the leftovers of killed and late writers: partial writes, and trees below `prefix` that were never
   * committed.
   */
  sweep(prefix: Prefix): Promise<{ objects: number; trees: number }>;
}

/** An object that was read. */
export interface Scanned {
  path: string;
  /**
   * The value of a record, parsed on demand; its key determines the type. Absent for bytes and unreadable objects.
   */
  value?: () => ReturnType<typeof JSON.parse>;
  /** Unreadable objects: this one, or files of its tree. */
  corrupt: Corrupt[];
}

/** An unreadable object. */
export interface Corrupt {
  path: string;
  reason: string;
  /** Whether another object has replaced it. */
  isReplaced: boolean;
}
