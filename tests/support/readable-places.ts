import { readFileSync } from "node:fs";

/** The forms in which a text may be found in a file: UTF-8, UTF-16, hexadecimal, and anywhere in base64. */
function forms(text: string): Record<string, Buffer> {
  const base64 = [0, 1, 2].map((before) => {
    const bytes = Buffer.from("x".repeat(before) + text);
    const encoded = bytes.toString("base64");
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  const utf16 = Buffer.from(text, "utf16le");
  return {
    plain: Buffer.from(text),
    "UTF-16 (little)": utf16,
    "UTF-16 (big)": Buffer.from(utf16).swap16(),
    hexadecimal: Buffer.from(Buffer.from(text).toString("hex")),
    ...Object.fromEntries(base64.map((encoded, before) => [`base64 after ${before}`, Buffer.from(encoded)])),
  };
}

/** The files and forms in which one of `texts` is found, each as `FILE: FORM of TEXT`. */
export function readablePlaces(files: readonly string[], ...texts: string[]): string[] {
  const searched = texts.map((text) => ({ text, forms: Object.entries(forms(text)) }));
  return files.flatMap((file) => {
    const content = readFileSync(file);
    return searched.flatMap(({ text, forms: all }) =>
      all.filter(([, bytes]) => content.includes(bytes)).map(([name]) => `${file}: ${name} of ${text}`),
    );
  });
}
