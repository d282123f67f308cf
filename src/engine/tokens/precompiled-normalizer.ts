/** SentencePiece's compiled map of texts to texts: a trie as a double array, and the zero-terminated replacements. */
interface CharacterMap {
  trie: Uint32Array;
  replacements: Buffer;
}

/** Longer graphemes, in bytes of UTF-8, are replaced character by character. */
const longestGrapheme = 5;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const notSimple = /[^\n -~]/;

/**
 * Returns a function that normalizes a text like Precompiled of Python's `tokenizers`: by grapheme, with the map in
 * `precompiled_charsmap` (base64). Throws Error if the map is invalid.
 */
export function precompiledNormalizer(charsmap: unknown): (text: string) => string {
  const map = readMap(charsmap);
  const known = new Map<string, string>();
  const ofCharacter = (character: string) => {
    const before = known.get(character);
    if (before !== undefined) return before;
    const replaced = replacement(map, Buffer.from(character)) ?? character;
    known.set(character, replaced);
    return replaced;
  };
  const ofGrapheme = (grapheme: string) => {
    if (grapheme.length === 1) return ofCharacter(grapheme);
    const bytes = Buffer.from(grapheme);
    const whole = bytes.length > longestGrapheme ? undefined : replacement(map, bytes);
    return whole ?? Array.from(grapheme, ofCharacter).join("");
  };
  return (text) => {
    if (!notSimple.test(text)) return Array.from(text, ofCharacter).join("");
    return Array.from(graphemes.segment(text), ({ segment }) => ofGrapheme(segment)).join("");
  };
}

function readMap(charsmap: unknown): CharacterMap {
  const bytes = Buffer.from(typeof charsmap === "string" ? charsmap : "", "base64");
  const size = bytes.length < 4 ? 0 : bytes.readUInt32LE(0);
  if (size === 0 || size % 4 !== 0 || size + 4 > bytes.length)
    throw new Error("the precompiled_charsmap of Precompiled is damaged");
  const trie = Uint32Array.from({ length: size / 4 }, (_, at) => bytes.readUInt32LE(4 + 4 * at));
  return { trie, replacements: bytes.subarray(4 + size) };
}

/** Returns the replacement of the shortest prefix of a text that the map contains; undefined if it contains none. */
function replacement({ trie, replacements }: CharacterMap, text: Uint8Array): string | undefined {
  let at = offsetOf(trie[0] ?? 0);
  for (const byte of text) {
    at ^= byte;
    const unit = trie[at] ?? 0;
    if (byte === 0 || labelOf(unit) !== byte) return undefined;
    at ^= offsetOf(unit);
    if (!hasLeaf(unit)) continue;
    const start = (trie[at] ?? 0) & 0x7fffffff;
    const end = replacements.indexOf(0, start);
    return replacements.toString("utf8", start, end < 0 ? undefined : end);
  }
  return undefined;
}

const offsetOf = (unit: number) => (unit >>> 10) << ((unit & 0x200) >>> 6);
const labelOf = (unit: number) => (unit & 0x800000ff) >>> 0;
const hasLeaf = (unit: number) => ((unit >>> 8) & 1) === 1;
