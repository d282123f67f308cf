# python benchmarks/tinker/client.py URL STEPS SEQUENCES TOKENS: the loop of benchmarks/tinker.ts with the official SDK. Prints JSON.
import json
import sys
import time

import tinker
from tinker import types

url, steps, sequences, tokens = sys.argv[1], *map(int, sys.argv[2:])
service = tinker.ServiceClient(base_url=url, api_key="tml-benchmark")
model = service.create_lora_training_client(base_model="tiny", rank=8, seed=1)
data = [
    types.Datum(
        model_input=types.ModelInput.from_ints(list(range(1, tokens + 1))),
        loss_fn_inputs={
            "target_tokens": types.TensorData(data=list(range(2, tokens + 2)), dtype="int64", shape=[tokens]),
            "weights": types.TensorData(data=[1.0] * tokens, dtype="float32", shape=[tokens]),
        },
    )
    for _ in range(sequences)
]
adam = types.AdamParams(learning_rate=1e-4)


def step():
    output = model.forward_backward(data, "cross_entropy").result()
    assert len(output.loss_fn_outputs) == sequences
    model.optim_step(adam).result()


for _ in range(5):
    step()
wall, cpu = time.perf_counter(), time.process_time()
for _ in range(steps):
    step()
print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}), flush=True)
