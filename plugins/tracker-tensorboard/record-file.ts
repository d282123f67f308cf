/** Frames a record for TensorFlow's files: its length, that length's checksum, its bytes, their checksum. */
export function framed(bytes: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, masked(length), bytes, masked(bytes)]);
}

function masked(bytes: Buffer): Buffer {
  const sum = crc32c(bytes);
  const mixed = (((sum >>> 15) | (sum << 17)) + 0xa282ead8) >>> 0;
  const written = Buffer.alloc(4);
  written.writeUInt32LE(mixed);
  return written;
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0x82f63b78 : rest >>> 1;
  return rest;
});

/** CRC-32C (Castagnoli), which Node's zlib does not provide. */
function crc32c(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (table[(sum ^ byte) & 0xff] ?? 0);
  return (sum ^ 0xffffffff) >>> 0;
}
