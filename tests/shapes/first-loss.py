"""Writes a model of a published shape with random weights, and what transformers says of one batch: see first-loss.ts.

Run from the repository's root: python tests/shapes/first-loss.py qwen2.5-0.5b-instruct FOLDER [LAYERS]
or python tests/shapes/first-loss.py vision/smolvlm-256m-instruct FOLDER [LAYERS]
With LAYERS, of the (language) model's first layers alone: for those that are larger than the memory. --bfloat16 stores
the weights in half the bytes and widens one module's at a time, so that everything is computed in float32.
"""

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

LENGTHS = [(60, 70), (20, 30, 40, 10)]  # prompt, action, observation, action
IMAGE_AT = 5  # in the prompt


def random_weights(model):
    for key, weight in model.named_parameters():
        # Spread so that rows keep their size, attention looks somewhere, and logits differ.
        if weight.dim() == 1:
            weight.add_(torch.randn_like(weight) * 0.1)
        else:
            weight.normal_(0, 0.05 if "embed" in key else weight[0].numel() ** -0.5)


def widened(model):
    """Makes a model in bfloat16 compute in float32."""

    def widen(module, args):
        module.kept = [weight.data for weight in module.parameters(recurse=False)]
        for weight in module.parameters(recurse=False):
            weight.data = weight.data.float()
        return tuple(one.float() if torch.is_tensor(one) and one.is_floating_point() else one for one in args)

    def narrow(module, args, output):
        for weight, data in zip(module.parameters(recurse=False), module.kept):
            weight.data = data

    for module in model.modules():
        if next(module.parameters(recurse=False), None) is not None:
            module.register_forward_pre_hook(widen)
            module.register_forward_hook(narrow)


def random_image(config, settings):
    """An image of noise, whose numbers bfloat16 has too: a tile, or patches in windows that the edges cut."""
    noise = lambda *shape: torch.randn(shape).bfloat16().float()
    vision = config.vision_config
    if "scale_factor" in settings:
        side = vision.image_size
        pixels = noise(1, 3, side, side)
        tokens = (side // vision.patch_size // config.scale_factor) ** 2
        return {"tokens": tokens}, pixels, {"pixel_values": pixels[None]}
    height, width = 20, 28
    pixels = noise(height * width, 3 * vision.temporal_patch_size * vision.patch_size**2)
    grid = [1, height, width]
    tokens = height * width // vision.spatial_merge_size**2
    return {"tokens": tokens, "grid": grid}, pixels, {"pixel_values": pixels, "image_grid_thw": torch.tensor([grid])}


def main(name, folder, layers, in_halves):
    settings = json.loads(Path(f"tests/fixtures/published/{name}.json").read_text())
    if layers:
        settings.get("text_config", settings)["num_hidden_layers"] = layers
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings))
    torch.manual_seed(1)
    config = AutoConfig.for_model(**settings)
    is_vision = "vision_config" in settings
    kind = AutoModelForImageTextToText if is_vision else AutoModelForCausalLM
    dtype = torch.bfloat16 if in_halves else torch.float32
    with torch.no_grad():
        model = kind.from_config(config, dtype=dtype, attn_implementation="eager").eval()
        random_weights(model)
        model.save_pretrained(folder, max_shard_size="2GB")
        if in_halves:
            widened(model)
        image, pixels, seen = random_image(config, settings) if is_vision else ({}, None, {})
        token = settings.get("image_token_id")
        sequences, losses = [], []
        for lengths in LENGTHS:
            mask = [part % 2 for part, length in enumerate(lengths) for _ in range(length)]
            tokens = torch.randint(token or config.vocab_size, (len(mask),))
            shown = is_vision and not sequences
            if shown:
                own = torch.full((image["tokens"],), token)
                tokens = torch.cat([tokens[:IMAGE_AT], own, tokens[IMAGE_AT:]])
                mask[IMAGE_AT:IMAGE_AT] = [0] * len(own)
            inputs = dict(seen) if shown else {}
            if "image_grid_thw" in inputs:
                inputs["mm_token_type_ids"] = (tokens[None] == token).int()
            at = torch.tensor([place for place, marked in enumerate(mask) if marked])
            logits = model(tokens[None], **inputs).logits[0, at - 1].float()
            if is_vision:
                logits[:, token] = -torch.inf  # a policy writes no image tokens
            losses.append(-torch.log_softmax(logits, -1).gather(-1, tokens[at, None])[:, 0])
            sequences.append({"tokens": tokens.tolist(), "mask": mask, "images": [IMAGE_AT] if shown else []})
        if is_vision:
            save_file({"pixels": pixels}, folder / "pixels.safetensors")
        losses = torch.cat(losses)
    summary = {"sequences": sequences, "loss": losses.mean().item(), "losses": losses.tolist(), "image": image}
    (folder / "loss.json").write_text(json.dumps(summary))
    (folder / "config.json").write_text(json.dumps(settings))  # as published, not as save_pretrained writes it


if __name__ == "__main__":
    torch.set_num_threads(2)
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    parser.add_argument("layers", type=int, nargs="?")
    parser.add_argument("--bfloat16", action="store_true")
    asked = parser.parse_args()
    main(asked.name, asked.folder, asked.layers, asked.bfloat16)
