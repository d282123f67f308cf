/** Cased letters of Unicode 11: first and last code points. */
const letters =
  "41-5a 61-7a b5 c0-d6 d8-f6 f8-1ba 1bc-1bf 1c4-293 295-2af 370-373 376 377 37b-37d 37f 386 388-38a " +
  "38c 38e-3a1 3a3-3f5 3f7-481 48a-52f 531-556 10a0-10c5 13a0-13f5 13f8-13fd 1c90-1cba 1cbd-1cbf " +
  "1d00-1d2b 1d6b-1d77 1d79-1d9a 1e00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d " +
  "1f5f-1f7d 1f80-1fb4 1fb6-1fbc 1fbe 1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4 " +
  "1ff6-1ffc 2102 2107 210a-2113 2115 2119-211d 2124 2126 2128 212a-212d 212f-2134 2139 213c-213f " +
  "2145-2149 214e 2183 2184 2c00-2c7b 2c7e-2ce4 2ceb-2cee 2cf2 2cf3 a640-a66d a680-a69b a722-a76f " +
  "a771-a787 a78b-a78e ab70-abbf fb00-fb06 fb13-fb17 ff21-ff3a ff41-ff5a 10400-1044f 104b0-104d3 " +
  "104d8-104fb 10c80-10cb2 10cc0-10cf2 118a0-118df 1e900-1e943";

const casedLetters = letters
  .split(" ")
  .map((range) => range.split("-").map((code) => String.fromCodePoint(Number.parseInt(code, 16))))
  .map((ends) => ends.join("-"))
  .join("");

const ideographs = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+";

/** The consecutive splits of the tokenizers of DeepSeek's first models. */
export const deepseekSplits = {
  llm: [
    "[\r\n]",
    `\\s?[${casedLetters}]+`,
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    "\\s+$",
    ideographs,
  ],
  coder: ["[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", ideographs],
} as const;
