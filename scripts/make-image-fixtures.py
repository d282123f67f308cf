"""Writes tests/fixtures/images/: images of many kinds, and what transformers' image processors make of them.

Each image is opened as `datasets` opens it: by Pillow, upright by its EXIF orientation. The exception is gray with 16 bits,
where Pillow would turn every level above 255 into white: the script takes the higher 8 bits, as Pillow does for colors.
cases.json has, for each processor and image, the token counts and some of the resulting pixels, as levels from 0 to 255.

    pip install -r scripts/requirements-fixtures.txt
    python scripts/make-image-fixtures.py
"""

import base64
import io
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageOps
from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor
from transformers.models.smolvlm.image_processing_smolvlm import SmolVLMImageProcessor
from transformers.models.smolvlm.processing_smolvlm import get_image_prompt_string

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "images"
SAMPLES = 600

# The settings of SmolVLM-256M-Instruct, once with smaller tiles and once without, of Qwen2.5-VL with fewer pixels, and of
# Qwen3-VL.
SMOLVLM = {
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
    "resample": 1,
    "size": {"longest_edge": 2048},
    "max_image_size": {"longest_edge": 512},
}
PROCESSORS = {
    "smolvlm": SMOLVLM,
    "smolvlm-small": {**SMOLVLM, "size": {"longest_edge": 96}, "max_image_size": {"longest_edge": 32}},
    "smolvlm-whole": {**SMOLVLM, "do_image_splitting": False, "size": {"longest_edge": 64}, "max_image_size": {"longest_edge": 64}},
    "qwen2.5-vl": {
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
        "min_pixels": 3136,
        "max_pixels": 100352,
        "patch_size": 14,
        "temporal_patch_size": 2,
        "merge_size": 2,
    },
    "qwen3-vl": {
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "size": {"shortest_edge": 65536, "longest_edge": 16777216},
        "patch_size": 16,
        "temporal_patch_size": 2,
        "merge_size": 2,
    },
}
IMAGE_TOKENS = {"smolvlm": 64, "smolvlm-small": 4, "smolvlm-whole": 16}


def picture(width: int, height: int, seed: int) -> Image.Image:
    """A gradient with sharp shapes and a little noise."""
    random = np.random.default_rng(seed)
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    pixels = np.stack([x, y, (x + y) / 2], axis=-1)
    image = Image.fromarray(pixels.astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(6):
        corner = random.integers(0, [max(1, width), max(1, height)])
        size = random.integers(1, [max(2, width // 2), max(2, height // 2)])
        colour = tuple(int(part) for part in random.integers(0, 256, 3))
        draw.rectangle([*corner.tolist(), *(corner + size).tolist()], fill=colour)
    noise = random.integers(-9, 10, (height, width, 3)) * (random.random((height, width, 1)) < 0.1)
    return Image.fromarray(np.clip(np.array(image).astype(int) + noise, 0, 255).astype(np.uint8))


def with_alpha(image: Image.Image, seed: int) -> Image.Image:
    alpha = picture(*image.size, seed).convert("L")
    image = image.convert("RGBA")
    image.putalpha(alpha)
    return image


def png16(samples: np.ndarray) -> bytes:
    """A PNG with 16 bits per sample, which Pillow does not write in colour."""
    height, width, channels = samples.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in samples)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 16, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def saved(image: Image.Image, form: str, **settings) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **settings)
    return out.getvalue()


def oriented(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def images() -> dict[str, bytes]:
    wide = np.arange(40 * 56 * 4, dtype=np.uint32).reshape(40, 56, 4) * 7919 % 65536
    frames = [picture(50, 37, seed).quantize(32) for seed in (30, 31, 32)]
    glass = with_alpha(picture(45, 31, 9), 10)
    return {
        "odd.png": saved(picture(33, 47, 1), "PNG"),
        "gray.png": saved(picture(60, 41, 2).convert("L"), "PNG"),
        "gray-alpha.png": saved(with_alpha(picture(30, 44, 3), 4).convert("LA"), "PNG"),
        "alpha.png": saved(with_alpha(picture(57, 39, 5), 6), "PNG"),
        "alpha.webp": saved(glass, "WEBP", lossless=True, exact=True),
        "palette.png": saved(picture(64, 48, 7).quantize(40), "PNG"),
        "palette-transparent.png": saved(glass.quantize(24), "PNG"),
        "transparent-colour.png": saved(picture(20, 20, 8).quantize(4).convert("RGB"), "PNG", transparency=picture(20, 20, 8).quantize(4).convert("RGB").getpixel((0, 0))),
        "bilevel.png": saved(picture(51, 35, 11).convert("1"), "PNG"),
        "gray-16.png": png16(wide[:, :, :1]),
        "colour-16.png": png16(wide[:, :, :3]),
        "rotated.jpg": saved(picture(70, 41, 12), "JPEG", quality=90, exif=oriented(6)),
        "mirrored.jpg": saved(picture(41, 59, 13), "JPEG", quality=92, subsampling=0, exif=oriented(5)),
        "turned.webp": saved(picture(43, 28, 14), "WEBP", quality=90, exif=oriented(3)),
        "animated.gif": saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=50, loop=0),
        "animated.webp": saved(picture(36, 52, 15), "WEBP", save_all=True, append_images=[picture(36, 52, 16)], lossless=True),
        "cmyk.jpg": saved(picture(62, 45, 17).convert("CMYK"), "JPEG", quality=95),
        "progressive.jpg": saved(picture(91, 53, 18).convert("L"), "JPEG", quality=85, progressive=True),
        "subsampled.jpg": saved(picture(333, 251, 19), "JPEG", quality=80, subsampling=2),
        "point.png": saved(picture(1, 1, 20), "PNG"),
        "flat.png": saved(picture(400, 3, 21), "PNG"),
        "tall.png": saved(picture(5, 300, 22), "PNG"),
        "large.jpg": saved(picture(2600, 1300, 23), "JPEG", quality=40),
    }


def opened(data: bytes) -> Image.Image:
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    return Image.fromarray((np.array(image) >> 8).astype(np.uint8)) if image.mode == "I;16" else image


def processed(name: str, settings: dict, image: Image.Image) -> dict:
    if name.startswith("smolvlm"):
        made = SmolVLMImageProcessor(**settings)(image, return_row_col_info=True, return_tensors="np")
        pixels = made["pixel_values"][0]
        rows, columns = made["rows"][0][0], made["cols"][0][0]
        text = get_image_prompt_string(rows, columns, IMAGE_TOKENS[name], "<f>", "<i>", "<g>")
        found = {"tiles": len(pixels), "text": text.replace("<i>" * IMAGE_TOKENS[name], "*"), "imageTokens": text.count("<i>")}
    else:
        made = Qwen2VLImageProcessor(**settings)(image, return_tensors="np")
        pixels = made["pixel_values"]
        grid = [int(size) for size in made["image_grid_thw"][0]]
        found = {"grid": grid, "imageTokens": int(np.prod(grid)) // settings["merge_size"] ** 2}
    mean, std = np.array(settings["image_mean"]), np.array(settings["image_std"])
    flat = pixels.astype(np.float64).reshape(-1)
    at = np.arange(SAMPLES, dtype=np.int64) * 7919 % flat.size
    plane = 1 if not name.startswith("smolvlm") else pixels.shape[-1] * pixels.shape[-2]
    if name.startswith("smolvlm"):
        channel = at // plane % 3
    else:
        channel = at % pixels.shape[-1] // (settings["temporal_patch_size"] * settings["patch_size"] ** 2)
    levels = np.rint((flat[at] * std[channel] + mean[channel]) * 255)
    assert levels.min() >= 0 and levels.max() <= 255
    return {**found, "numbers": flat.size, "mean": float(flat.mean()), "levels": base64.b64encode(levels.astype(np.uint8).tobytes()).decode()}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    cases = []
    for name, data in images().items():
        (FOLDER / name).write_bytes(data)
        image = opened(data)
        made = {}
        for processor, settings in PROCESSORS.items():
            made[processor] = processed(processor, settings, image)
        cases.append({"image": name, "width": image.width, "height": image.height, "made": made})
    text = json.dumps({"processors": PROCESSORS, "imageTokens": IMAGE_TOKENS, "samples": SAMPLES, "cases": cases}, indent=1)
    (FOLDER / "cases.json").write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
