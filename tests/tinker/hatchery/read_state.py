"""read_state.py FILE.pt FILE.safetensors: writes an adapter or gradients that Hatchery stored as a file that Everturn reads."""

import re
import sys

import torch
from safetensors.torch import save_file


def matrices(stored: dict) -> dict:
    """The matrices by PEFT's names in files. Gradients have the names of parameters, with the adapter's name in them."""
    state = stored.get("state", stored)
    return {re.sub(r"\.sess_[^.]+\.weight$", ".weight", name): value.float().contiguous() for name, value in state.items()}


if __name__ == "__main__":
    save_file(matrices(torch.load(sys.argv[1], map_location="cpu", weights_only=True)), sys.argv[2])
