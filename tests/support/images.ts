/** Headers of images, as whole as a reader of headers needs them. */
export function png(width: number, height: number): Uint8Array {
  const bytes = Buffer.alloc(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
  bytes.write("IHDR", 12, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.set([8, 2], 24);
  return new Uint8Array(bytes);
}

export function gif(width: number, height: number): Uint8Array {
  const bytes = Buffer.alloc(13);
  bytes.write("GIF89a", 0, "latin1");
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return new Uint8Array(bytes);
}

export function jpeg(width: number, height: number): Uint8Array {
  const bytes = Buffer.alloc(43);
  bytes.set([0xff, 0xd8, 0xff, 0xe0, 0, 16]);
  bytes.write("JFIF\0", 6, "latin1");
  bytes.set([0xff, 0xc0, 0, 17, 8], 20);
  bytes.writeUInt16BE(height, 25);
  bytes.writeUInt16BE(width, 27);
  bytes.set([0xff, 0xd9], 41);
  return new Uint8Array(bytes);
}

export function webp(width: number, height: number): Uint8Array {
  const bytes = Buffer.alloc(30);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(22, 4);
  bytes.write("WEBPVP8X", 8, "latin1");
  bytes.writeUInt32LE(10, 16);
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return new Uint8Array(bytes);
}
