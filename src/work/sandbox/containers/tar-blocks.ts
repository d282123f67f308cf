const block = 512;

/** Joins tar archives that follow each other into one: `xargs` writes several for many names. */
export function joinedArchives(archives: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at + block <= archives.length; ) {
    const size = archives[at] === 0 ? 0 : sizeOf(archives.subarray(at, at + block));
    const end = at + block * (1 + Math.ceil(size / block));
    if (archives[at] !== 0) parts.push(archives.subarray(at, end));
    at = end;
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

/** The size of an entry's content, from its header: octal digits. */
function sizeOf(header: Buffer): number {
  return Number.parseInt(header.toString("latin1", 124, 136), 8) || 0;
}
