"""Writes tests/unit/engine/tokens/fixtures/configurations.json.gz: random tokenizers, and what Python's `tokenizers` makes of texts.

Needs tokenizers 0.23. `small_map` is SentencePiece's compilation of a dozen rules, such as FF21 -> 41 and 65 301 -> E9.

    python scripts/make-tokenizer-cases.py tests/unit/engine/tokens/fixtures/configurations.json.gz
"""

import gzip
import json
import random
import sys

from tokenizers import Tokenizer

rng = random.Random(60)
pick = rng.choice

words = ["hello", "Hello", "world", "naïve", "café", "e\u0301", "Straße", "don't", "we've", "ΌΣΟΣ", "42", "3.14", "²½", "١٢", "日本語", "漢字", "שלום", "مرحبا", "👩‍👩‍👧", "😀", "a_b", "x-y", "...", "!?", "«q»", "$5", "\u200b", "\u200d", "<s>", "<tag>", "tag", "\x07", "\ufeff", "İ", "ﬁ", "\u0301", "ǆ", "𠀀", "Ａ", "①", "カ\u3099", "Γ\u033e", "a", "b", "ab", "▁x", "_"]
added_words = ["<s>", "<tag>", "<|im_end|>", "tag", "a_b"]
gaps = [" ", " ", " ", "  ", "\n", "\t", "", "\u00a0", "\u3000", "\r\n", "-", "\u2028"]


def text():
    return "".join(pick(words) + pick(gaps) for _ in range(rng.randrange(1, 7)))


def pattern():
    return pick([{"String": " "}, {"String": "a"}, {"String": "-"}, {"Regex": r"\s+"}, {"Regex": r"\d"}, {"Regex": r"\p{L}+"}, {"Regex": r"\w+|[^\w\s]+"}, {"Regex": r"[aeo]"}, {"Regex": r"'s|'t|'ve| ?\p{L}+| ?\p{N}+|\s+(?!\S)|\s+"}, {"Regex": r"(?i:'s|'t)|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+"}, {"String": "."}, {"Regex": r"(a|b)"}, {"Regex": r"\s*"}, {"Regex": r"(?=[A-Z])"}, {"Regex": r"l*"}])


small_map = "AAQAAACAAQBhgAEAEQAAgGIFAACCCQAAZTgDABMAAIDMOAIAgQUAABUAAICgBQAAAQAAgKkFAAAMAACAlfgDAKRQAgDglAIApPQCAL4FAAAKAACAiwUAAAAAAICgBQAAAwAAgIKoAgCrgAMA4wwCAIJ4AgCZBQAAGAAAgA4AAICBBQAAgPwCAKEJAACs8AIACAAAgJ9kAgCYDAIAgAUAAAUAAIApAAAAKAAAACsAAAAqAAAALQAAACwAAAAvAAAALgAAADEAAACRHAIAvMgCADIAAAA1AAAANAAAADcAAAA2AAAAOQAAADgAAAA7AAAAOgAAAD0AAAA8AAAAPwAAAD4AAABBAAAAQAAAAEMAAABCAAAARQAAAEQAAABHAAAARgAAAEkAAABIAAAASwAAAEoAAABNAAAATAAAAE8AAABOAAAAUQAAAFAAAABTAAAAUgAAAFUAAABUAAAAVwAAAFYAAABZAAAAWAAAAFsAAABaAAAAXQAAAFwAAABfAAAAXgAAAGEAAABgAAAAYwAAAGIAAABlAAAAZAAAAGcAAABmAAAAaQAAAGgAAABrAAAAagAAAG0AAABsAAAAbwAAAG4AAABxAAAAcAAAAHMAAAByAAAAdQAAAHQAAAB3AAAAdgAAAHkAAAB4AAAAewAAAHoAAAB9AAAAfAAAAH8AAAB+AAAA4KwAAIAAAADiiAAA42QAAIUAAACEAAAAhwAAAIYAAACJAAAAiAAAAIsAAACKAAAAjQAAAIwAAACPAAAA7wQAAPCsAACQAAAAkwAAAJIAAACVAAAAlAAAAJcAAACWAAAAmQAAAJgAAACbAAAAmgAAAJ0AAACcAAAAnwAAAJ4AAAChAAAAoAAAAMIgAADDGAAApQAAAKQAAACnAAAApgAAAKkAAACoAAAAqwAAAKoAAACtAAAAzKwAAK8AAACuAAAAsQAAALAAAACzAAAAsgAAALUAAAC0AAAAtwAAALYAAAC5AAAAuAAAALsAAAC6AAAAvQAAALwAAAC/AAAAvgAAAMEAAADAAAAAwwAAAMIAAADFAAAAxAAAAMcAAADGAAAAyQAAAMgAAADLAAAAygAAAM0AAADMAAAAzwAAAM4AAADRAAAA0AAAANMAAADSAAAA1QAAANQAAADXAAAA1gAAANkAAADYAAAA2wAAANoAAADdAAAA3AAAAN8AAADeAAAA4QAAAOAAAADjAAAA4gAAAOUAAADkAAAA5wAAAOYAAADpAAAA6AAAAOsAAADqAAAA7QAAAOwAAADvAAAA7gAAAPEAAADwAAAA8wAAAPIAAAD1AAAA9AAAAPcAAAD2AAAA+QAAAPgAAAD7AAAA+gAAAP0AAAD8AAAA/wAAAP4AAAAAIAAxADopAEEAYQBlAGZpAHgAegDDqQDjgqwA"

behaviors = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def normalizer(depth=1):
    kind = rng.randrange(16)
    if kind > 13:
        return {"type": "BertNormalizer", "clean_text": pick([True, False]), "handle_chinese_chars": pick([True, False]), "strip_accents": pick([True, False, None]), "lowercase": pick([True, False])}
    if kind > 11:
        return {"type": "Precompiled", "precompiled_charsmap": small_map}
    if kind < 3:
        return None
    if kind < 5:
        return {"type": pick(["NFC", "NFD", "NFKC", "NFKD"])}
    if kind == 5:
        return {"type": "Lowercase"}
    if kind == 6:
        return {"type": "Strip", "strip_left": pick([True, False]), "strip_right": pick([True, False])}
    if kind == 7:
        return {"type": "StripAccents"}
    if kind == 8:
        return {"type": "Replace", "pattern": pattern(), "content": pick(["", "_", "▁"])}
    if kind == 9:
        return {"type": "Prepend", "prepend": "▁"}
    if depth == 0:
        return {"type": "NFC"}
    return {"type": "Sequence", "normalizers": [one for one in (normalizer(0) for _ in range(2)) if one]}


def pre_tokenizer(depth=1):
    kind = rng.randrange(16)
    if kind == 0:
        return None
    if kind < 3:
        return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": pick(["always", "never", "first"]), "split": pick([True, False])}
    if kind < 7:
        return {"type": "Split", "pattern": pattern(), "behavior": pick(behaviors), "invert": pick([True, False])}
    if kind == 7:
        return {"type": "Whitespace"}
    if kind == 8:
        return {"type": "WhitespaceSplit"}
    if kind == 9:
        return {"type": "Punctuation", "behavior": pick(behaviors)}
    if kind == 10:
        return {"type": "Digits", "individual_digits": pick([True, False])}
    if kind < 13:
        return byte_level()
    if kind == 13:
        return {"type": "BertPreTokenizer"}
    if depth == 0:
        return {"type": "Whitespace"}
    first, second = pre_tokenizer(0), pre_tokenizer(0)
    parts = [one for one in (first, second) if one and one["type"] != "ByteLevel"]
    return {"type": "Sequence", "pretokenizers": parts + ([byte_level()] if rng.random() < 0.4 else [])}


def byte_level():
    return {"type": "ByteLevel", "add_prefix_space": pick([True, False]), "trim_offsets": True, "use_regex": pick([True, False])}


def byte_characters():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    extra = iter(range(256, 1024))
    return [chr(byte) if byte in plain else chr(next(extra)) for byte in range(256)]


def uses_bytes(part):
    return json.dumps(part).find('"ByteLevel"') >= 0


def model(bytewise):
    kind = rng.randrange(5)
    alphabet = sorted(set("".join(words) + " ▁"))
    known = byte_characters() if bytewise else [c for c in alphabet if rng.random() < 0.9]
    if kind < 2 or bytewise:
        vocabulary, merges = dict.fromkeys(["<unk>", *known]), []
        fallback = not bytewise and rng.random() < 0.5
        if fallback:
            vocabulary.update(dict.fromkeys(f"<0x{byte:02X}>" for byte in range(256)))
        for _ in range(40):
            left, right = pick(["h", "e", "he", "l", "o", "w", "▁", "a", "wo", "ll", " ", "Ġ", "d", "▁h", "r"]), pick(["e", "l", "ll", "o", "r", "b", "llo", "w", "ld", "h", "a"])
            if left in vocabulary and right in vocabulary and [left, right] not in merges:
                merges.append([left, right])
                vocabulary[left + right] = None
        ids = {token: number for number, token in enumerate(vocabulary)}
        return {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": pick([True, False]), "byte_fallback": fallback, "ignore_merges": pick([True, False]), "vocab": ids, "merges": merges}
    if kind == 2:
        tokens = ["<unk>", *known, *("##" + c for c in known), "hello", "##llo", "wor", "##ld", "he", "▁he"]
        ids = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
        return {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##", "max_input_chars_per_word": pick([100, 4]), "vocab": ids}
    if kind == 4:
        tokens = dict.fromkeys(["<unk>", *known, *(word for word in rng.sample(words, 30) if word not in added_words)])
        return {"type": "WordLevel", "unk_token": "<unk>", "vocab": {token: number for number, token in enumerate(tokens)}}
    tokens = list(dict.fromkeys(["<unk>", *known, "hello", "he", "llo", "▁he", "▁", "world", "wor", "ld", "ab"]))
    return {"type": "Unigram", "unk_id": 0, "vocab": [[token, -round(rng.random() * 12, 6)] for token in tokens], "byte_fallback": False}


def decoder(bytewise, fallback):
    if bytewise:
        return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    if fallback:
        return {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}] + pick([[], [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]])}
    return pick([{"type": "WordPiece", "prefix": "##", "cleanup": False}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": pick(["always", "never", "first"]), "split": True}, {"type": "Fuse"}])


def added(size):
    tokens = []
    for content in rng.sample(added_words, rng.randrange(3)):
        special = content.startswith("<")
        tokens.append({"id": size + len(tokens), "content": content, "single_word": rng.random() < 0.1, "lstrip": rng.random() < 0.2, "rstrip": rng.random() < 0.2, "normalized": not special, "special": special})
    return tokens


def case():
    splitter = pre_tokenizer()
    bytewise = uses_bytes(splitter)
    made = model(bytewise)
    fallback = made.get("byte_fallback", False)
    config = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added(len(made["vocab"])), "normalizer": normalizer(), "pre_tokenizer": splitter, "post_processor": None, "decoder": decoder(bytewise, fallback), "model": made}
    tokenizer = Tokenizer.from_str(json.dumps(config))
    results = []
    for one in (text() for _ in range(4)):
        ids = tokenizer.encode(one, add_special_tokens=False).ids
        results.append([one, ids, tokenizer.decode(ids, skip_special_tokens=False)])
    if fallback:
        ids = [made["vocab"][f"<0x{byte:02X}>"] for byte in pick([[0xEF, 0xBB, 0xBF, 0x61], [0xE2, 0x82], [0xFF, 0x61], [0xC3, 0xA9, 0xC3], [0xF0, 0x9F, 0x98, 0x80]])]
        results.append([None, ids, tokenizer.decode(ids, skip_special_tokens=False)])
    return {"config": config, "results": results}


def whole_case():
    """A case that Python's library gets through: it panics where added tokens take the same spaces."""
    while True:
        try:
            return case()
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise


cases = [whole_case() for _ in range(1000)]
with gzip.GzipFile(sys.argv[1], "wb", mtime=0) as file:
    file.write(json.dumps(cases).encode())
