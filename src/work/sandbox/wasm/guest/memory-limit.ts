const page = 65_536;
const memorySection = 5;

/**
 * Changes a WebAssembly module so that its own memory has from `least` to `most` bytes, whatever it requests.
 * Beyond that, it learns that memory is exhausted, as from an operating system. Throws if it has no memory.
 */
export function limitMemory(module: Uint8Array, least: number, most: number): Uint8Array<ArrayBuffer> {
  let at = 8;
  while (at < module.length) {
    const id = module[at];
    const size = readNumber(module, at + 1);
    const end = size.next + size.value;
    if (id !== memorySection) {
      at = end;
      continue;
    }
    const flags = readNumber(module, size.next + 1);
    const initial = readNumber(module, flags.next);
    const [minimum, maximum] = [Math.max(initial.value, Math.ceil(least / page)), Math.floor(most / page)];
    if (maximum < minimum) throw new RangeError(`${minimum * page} bytes are the least that it runs in`);
    const body = [1, flags.value | 1, ...written(minimum), ...written(maximum)];
    const section = [memorySection, ...written(body.length), ...body];
    const limited = new Uint8Array(module.length - (end - at) + section.length);
    limited.set(module.subarray(0, at));
    limited.set(section, at);
    limited.set(module.subarray(end), at + section.length);
    return limited;
  }
  throw new Error("the module has no memory of its own");
}

/** Reads an unsigned number with seven bits per byte (LEB128), and the position after it. */
function readNumber(bytes: Uint8Array, start: number): { value: number; next: number } {
  let value = 0;
  for (let at = start, factor = 1; ; at++, factor *= 128) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return { value, next: at + 1 };
  }
}

function written(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...written(Math.floor(value / 128))];
}
