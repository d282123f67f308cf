import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** The server's side of a WebSocket (RFC 6455): texts without fragments. */
export interface ServerSocket {
  send(text: string): void;
  /** Ends the connection with the code 1000. */
  close(): void;
  /** Cuts the connection. */
  drop(): void;
}

/** Accepts the upgrade of a request. */
export function acceptWebSocket(
  { headers }: IncomingMessage,
  stream: Duplex,
  on: { text(text: string): void; closed(): void },
): ServerSocket {
  const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash("sha1").update(key).digest("base64");
  stream.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let rest = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let frame = readFrame(rest); frame !== undefined; frame = readFrame(rest)) {
      rest = rest.subarray(frame.length);
      if (frame.opcode === 1) on.text(frame.payload.toString());
      if (frame.opcode === 8) close();
    }
  });
  stream.once("close", on.closed);
  stream.on("error", () => stream.destroy());

  function close(): void {
    if (!stream.writable) return;
    stream.end(Buffer.from([0x88, 2, 0x03, 0xe8]));
  }

  return {
    send: (text) => {
      if (stream.writable) stream.write(frameOf(Buffer.from(text)));
    },
    close,
    drop: () => stream.destroy(),
  };
}

function frameOf(payload: Buffer): Buffer {
  const { length } = payload;
  const head =
    length < 126 ? Buffer.from([0x81, length]) : Buffer.from([0x81, 126, length >> 8, length & 0xff]);
  return Buffer.concat([head, payload]);
}

/** The first frame of the bytes, which a client masks. Undefined if it is not complete. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; length: number } | undefined {
  if (bytes.length < 6) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  if (short === 127) throw new Error("a frame of this test has less than 65,536 bytes");
  const start = short === 126 ? 4 : 2;
  if (bytes.length < start + 4) return undefined;
  const size = short === 126 ? bytes.readUInt16BE(2) : short;
  const end = start + 4 + size;
  if (bytes.length < end) return undefined;
  const mask = bytes.subarray(start, start + 4);
  const payload = bytes.subarray(start + 4, end).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return { opcode: bytes.readUInt8(0) & 0x0f, payload: Buffer.from(payload), length: end };
}
