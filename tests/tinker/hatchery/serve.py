"""serve.py PORT MODEL DTYPE LIVE: Hatchery's published gateway and worker in one process, on the CPU and on loopback.

Hatchery's own launchers for one process forget which checkpoints exist when they end. This one takes the stores that the environment
names (HATCHERY_METADATA_STORE, HATCHERY_JOB_QUEUE, HATCHERY_LOCAL_STORE_PATH), as the gateway and the worker do in processes of their own.
The worker writes what it holds of its models into a folder of its own in LIVE, as it does in /tmp by default.
"""

import asyncio
import os
import sys
import uuid

import torch
import uvicorn
from hatchery.core.config import build_core_config
from hatchery.core.gateway import create_app
from hatchery.core.worker import GPUWorker


async def serve(port: int, model: str, dtype: str, live: str) -> None:
    # Hatchery ignores the seed of an adapter. So the first ones after each start are at least the same.
    torch.manual_seed(1)
    config = build_core_config()
    await config.metadata.initialize()
    await config.queue.initialize()
    worker_id = f"worker-{uuid.uuid4().hex[:8]}"
    os.environ["HATCHERY_WORKER_LOCAL_DIR"] = os.path.join(live, worker_id)
    worker = GPUWorker(
        worker_id=worker_id,
        base_model_name=model,
        config=config,
        device="cpu",
        dtype=getattr(torch, dtype),
        # Beyond its default of 20 models, the worker drops those that were used last.
        max_lora_slots=10_000,
    )
    app = create_app(config=config)
    settings = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", lifespan="off")
    work = asyncio.create_task(worker.run())
    await uvicorn.Server(settings).serve()
    work.cancel()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), *sys.argv[2:5]))
