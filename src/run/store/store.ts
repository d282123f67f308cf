import type { Page } from "./backend.ts";
import type { Key, Prefix, TreeKey } from "./key.ts";
import type { Files, Tree } from "./tree.ts";

/**
 * All that lasts of a run. It promises what an object store with conditional writes does, and no more: no rename, no
 * time, no folder's existence or emptiness means anything, and a listing may lag behind what was put and removed.
 *
 * What can't be read (cut, changed, not ours) counts as absent where it is read, is told to `onCorrupt`, and is replaced
 * by what is put in its place; `scan` finds all of it. What failed for now (no room, no answer) is no such thing:
 * writes and reads wait for it (`patiently`), then throw DISK_FULL, STORE_NOT_WRITABLE, STORE_NOT_READABLE.
 */
export interface Store {
  /**
   * Puts a record unless there is one, and returns what stands: of writers that race one wins, and all return what it
   * wrote; `value` itself if that is what stands. With `flush` it survives a power failure once this returns. `value` is
   * what JSON can say. Throws DISK_FULL, STORE_NOT_WRITABLE, after ten minutes of waiting; without `waits`, after a second at most.
   */
  record<Value>(
    key: Key<Value>,
    value: Value,
    options?: { flush?: boolean; waits?: boolean },
  ): Promise<Value>;
  /** The record that stands; undefined if there is none that can be read. */
  read<Value>(key: Key<Value>): Promise<Value | undefined>;
  /** Whether a record was put there, be it readable or not. */
  has(key: Key<unknown>): Promise<boolean>;
  /** Keeps bytes under their own SHA-256, which it returns. Throws as `record` does. */
  bytes(content: Uint8Array): Promise<string>;
  /** The bytes of a SHA-256, checked against it; undefined if there are none. */
  readBytes(sha256: string): Promise<Uint8Array | undefined>;
  /**
   * Has `write` fill a local folder; its files stand, under this attempt's own name and for good, before the record that
   * names them does: that one is the commit. Of attempts that race the first to commit wins and all return its record
   * (with `value`'s own object if it is this attempt's); the files of the others are removed. A tree whose files are not
   * what its record says is replaced. All is flushed. `write` is called again after a wait for room. Throws as `record` does.
   */
  tree<Value>(
    key: TreeKey<Value>,
    write: (folder: string) => Promise<void>,
    value: () => Value,
  ): Promise<Tree<Value>>;
  /** The tree that stands; undefined if there is none that is whole. */
  readTree<Value>(key: TreeKey<Value>): Promise<Tree<Value> | undefined>;
  /** What the newest record of a tree says, whether its files are whole or not. */
  treeRecord<Value>(key: TreeKey<Value>): Promise<Tree<Value> | undefined>;
  /**
   * Works on a part of a tree (a folder in it) in a local folder, which is there for as long as `work` takes and is not to
   * be written to. Its files are read before that, once in a process, and are what the tree's record says; with `isUnread` only
   * their sizes are looked at. Undefined if it was freed, or is not what its record says, which the next `readTree` knows.
   */
  inFolder<Result>(
    key: TreeKey<unknown>,
    tree: { attempt: string; files: Files },
    part: string,
    work: (folder: string) => Promise<Result>,
    options?: { isUnread?: boolean },
  ): Promise<{ result: Result } | undefined>;
  /** Why there is no such part of a tree, in words: which file of it is wrong, and how. */
  problemOf(key: TreeKey<unknown>, part: string): Promise<string>;
  /** Removes the files of a part of a tree for good. Its record stays, and says what they were. */
  free(key: TreeKey<unknown>, part: string): Promise<void>;
  /** Whether that was done, or has begun. */
  isFreed(key: TreeKey<unknown>, part: string): Promise<boolean>;
  /** Whether bytes were put there, be they readable or not. */
  hasBytes(sha256: string): Promise<boolean>;
  /** The paths of what is below a place, a part at a time, in order; each once, also where it was replaced. May lag. */
  list(prefix: Prefix, after?: string): Promise<Page>;
  /**
   * Removes a record, as retention says. Who puts one there while another removes it can't know whether it stays: what
   * is to be made again gets a place of its own instead.
   */
  remove(key: Key<unknown>): Promise<void>;
  /** Reads everything below a place, each object once and in order, files of trees too. As a listing knows it. */
  scan(prefix: Prefix): AsyncIterable<Scanned>;
  /** Removes what killed and late writers left: what they wrote last, and below `prefix` trees that never were. */
  sweep(prefix: Prefix): Promise<{ objects: number; trees: number }>;
}

/** An object that was read. */
export interface Scanned {
  path: string;
  /** The value of a record, which its key knows the type of, parsed when it is asked for; absent of bytes and what can't be read. */
  value?: () => ReturnType<typeof JSON.parse>;
  /** What can't be read: it, or files of its tree. */
  corrupt: Corrupt[];
}

/** Something that can't be read. */
export interface Corrupt {
  path: string;
  reason: string;
  /** Whether another stands in its place by now. */
  isReplaced: boolean;
}
