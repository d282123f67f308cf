"""Writes tests/fixtures/vision: random tiny vision-language models as transformers runs them, for tests of src/engine/vision.

Of each model: its config.json, weights by their names on disk, preprocessed images of noise and their features, the
logits of ragged sequences (each run by itself), greedy continuations, the gradients of the mean cross entropy of the
sequences' marked tokens, and the weights after two updates by AdamW. In the last three, image tokens have no probability.
Needs the packages of scripts/requirements-fixtures.txt (and safetensors, which transformers brings).
Run from the repository's root: python scripts/make-vision-fixtures.py
"""

import json
import tempfile
from pathlib import Path

import torch
from fixture_models import SHAPE, spread_weights
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForImageTextToText

FOLDER = Path("tests/fixtures/vision")
VOCABULARY = 41
IMAGE_TOKEN = 40
ROPE = {"rope_type": "default", "rope_theta": 1000.0}
TEXT = SHAPE | dict(
    vocab_size=VOCABULARY, head_dim=6, max_position_embeddings=128, rope_parameters=ROPE, pad_token_id=None
)
SIGLIP = dict(
    hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=2, image_size=16, patch_size=4
)
TILES = dict(image_token_id=IMAGE_TOKEN, scale_factor=2, text_config=TEXT | dict(model_type="llama"))
# For decoders whose operators need heads of a multiple of 16.
LARGER_HEADS = TILES["text_config"] | dict(head_dim=16, num_attention_heads=2, num_key_value_heads=1)
MODELS = {
    "smolvlm": dict(model_type="smolvlm", vision_config=SIGLIP, tie_word_embeddings=False, **TILES),
    "idefics3": dict(
        model_type="idefics3",
        vision_config=SIGLIP | dict(num_hidden_layers=1),
        tie_word_embeddings=True,
        **(TILES | dict(text_config=LARGER_HEADS)),
    ),
    "qwen2_5_vl": dict(
        model_type="qwen2_5_vl",
        image_token_id=IMAGE_TOKEN,
        tie_word_embeddings=False,
        text_config=TEXT
        | dict(
            model_type="qwen2_5_vl_text",
            head_dim=8,
            num_attention_heads=2,
            num_key_value_heads=1,
            rope_parameters=ROPE | dict(mrope_section=[2, 1, 1]),
        ),
        vision_config=dict(
            depth=2,
            hidden_size=16,
            intermediate_size=20,
            num_heads=2,
            patch_size=2,
            window_size=8,
            out_hidden_size=SHAPE["hidden_size"],
            fullatt_block_indexes=[1],
        ),
    ),
}


def random_model(seed, settings):
    torch.manual_seed(seed)
    config = AutoConfig.for_model(**settings)
    config.text_config.tie_word_embeddings = settings["tie_word_embeddings"]
    model = AutoModelForImageTextToText.from_config(config, attn_implementation="eager")
    spread_weights(model, lambda name, parameter: "norm" in name and not name.endswith("bias"))
    model.generation_config.eos_token_id = None
    return model.eval()


def tiled_image(tiles):
    return {"kind": "tiles", "pixels": torch.randn(tiles, 3, 16, 16), "tokens": 4 * tiles}


def image_in_patches(height, width):
    return {
        "kind": "patches",
        "pixels": torch.randn(height * width, 3 * 2 * 2 * 2),
        "grid": [1, height, width],
        "tokens": height * width // 4,
    }


def inputs_of(images):
    """What transformers' models take for images."""
    if not images:
        return {}
    pixels = torch.cat([image["pixels"] for image in images])
    if images[0]["kind"] == "tiles":
        return {"pixel_values": pixels[None]}
    return {"pixel_values": pixels, "image_grid_thw": torch.tensor([image["grid"] for image in images])}


def random_sequences(images):
    """Prompt, action, observation, action: with an image in the prompt, none, and one more in the observation."""

    def text(length):
        return torch.randint(IMAGE_TOKEN, (length,)).tolist()

    def image(number):
        tokens = images[number]["tokens"]
        if images[number]["kind"] == "patches" or tokens == 4:
            return [IMAGE_TOKEN] * tokens
        # A token between the first two tiles, as the processors write them.
        return [*[IMAGE_TOKEN] * 4, *text(1), *[IMAGE_TOKEN] * (tokens - 4)]

    layouts = [
        [(0, text(2)), (0, image(0)), (0, text(1)), (1, text(4))],
        [(0, text(4)), (1, text(3))],
        [(0, text(1)), (0, image(0)), (0, text(2)), (1, text(3)), (0, image(1)), (0, text(1)), (1, text(2))],
    ]
    for layout, placed in zip(layouts, [[0], [], [0, 1]]):
        tokens = [token for _, part in layout for token in part]
        mask = [marked for marked, part in layout for _ in part]
        starts = [sum(len(part) for _, part in layout[:at]) for at, (_, part) in enumerate(layout) if IMAGE_TOKEN in part]
        yield {
            "tokens": tokens,
            "mask": mask,
            "images": [{"image": number, "start": start} for number, start in zip(placed, starts)],
        }


def names_on_disk(model):
    """The names of parameters in checkpoints, by those in the model."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        stored = load_file(Path(folder) / "model.safetensors")
    by_content = {(tensor.shape, tensor.sum().item()): name for name, tensor in stored.items()}
    return {
        name: by_content[(parameter.shape, parameter.detach().clone().sum().item())]
        for name, parameter in model.named_parameters()
    }


def logits_of(model, images, sequence):
    """The inputs for the images of a sequence, and its logits."""
    tokens = torch.tensor(sequence["tokens"])
    seen = inputs_of([images[placed["image"]] for placed in sequence["images"]])
    if images[0]["kind"] == "patches" and seen:
        seen["mm_token_type_ids"] = (tokens[None] == IMAGE_TOKEN).int()
    return seen, model(tokens[None], **seen).logits[0]


def losses_of(logits, sequence):
    """The cross entropies of the marked tokens of a sequence. A policy writes no image tokens."""
    tokens = torch.tensor(sequence["tokens"])
    at = torch.tensor([place for place, marked in enumerate(sequence["mask"]) if marked])
    written = logits.masked_fill(torch.arange(VOCABULARY) == IMAGE_TOKEN, -torch.inf)
    return -torch.log_softmax(written[at - 1], -1).gather(-1, tokens[at, None])


def update(model, images, sequences, count=2):
    """Updates all weights by AdamW, with gradients clipped to a norm of 1. Only matrices decay."""
    groups = [
        {"params": [value for value in model.parameters() if (value.dim() > 1) == decays], "weight_decay": decay}
        for decays, decay in [(True, 0.1), (False, 0.0)]
    ]
    optimizer = torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.95), eps=1e-8)
    for _ in range(count):
        optimizer.zero_grad()
        torch.cat([losses_of(logits_of(model, images, one)[1], one) for one in sequences]).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def write(seed, name, settings):
    model = random_model(seed, settings)
    is_tiled = "scale_factor" in settings
    images = [tiled_image(3), tiled_image(1)] if is_tiled else [image_in_patches(6, 4), image_in_patches(4, 4)]
    sequences = list(random_sequences(images))
    stored = names_on_disk(model)
    tensors = {stored[key]: value.detach().clone() for key, value in model.named_parameters()}
    for index, image in enumerate(images):
        tensors[f"pixels.{index}"] = image["pixels"]
        features = model.model.get_image_features(**inputs_of([image])).pooler_output
        tensors[f"features.{index}"] = torch.cat(tuple(features)).detach().reshape(image["tokens"], -1).clone()
    losses = []
    for index, sequence in enumerate(sequences):
        tokens = torch.tensor(sequence["tokens"])
        seen, logits = logits_of(model, images, sequence)
        tensors[f"logits.{index}"] = logits.detach().clone()
        losses.append(losses_of(logits, sequence))
        greedy = model.generate(
            tokens[None], **seen, do_sample=False, max_new_tokens=64, pad_token_id=0, suppress_tokens=[IMAGE_TOKEN]
        )
        sequence["greedy"] = greedy[0, len(tokens) :].tolist()
    loss = torch.cat(losses).mean()
    loss.backward()
    for key, value in model.named_parameters():
        if value.grad is not None:
            tensors[f"gradient.{stored[key]}"] = value.grad.clone()
    update(model, images, sequences)
    for key, value in model.named_parameters():
        tensors[f"after.{stored[key]}"] = value.detach().clone()
    save_file(tensors, FOLDER / f"{name}.safetensors", {"format": "pt"})
    summary = {
        "config": model.config.to_dict(),
        "images": [{key: value for key, value in image.items() if key != "pixels"} for image in images],
        "sequences": sequences,
        "loss": loss.item(),
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(summary, default=str) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed, (name, settings) in enumerate(MODELS.items()):
        write(seed, name, settings)
