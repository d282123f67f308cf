"""What the tiny models have in common from which fixtures are made."""

import torch

SHAPE = dict(
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=24,
    rms_norm_eps=1e-5,
)


def spread_weights(model, is_norm=lambda name, parameter: parameter.dim() == 1):
    """Random weights large enough for attention, norms and biases to matter; those of norms lie around 1."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3 + (1 if is_norm(name, parameter) else 0))
