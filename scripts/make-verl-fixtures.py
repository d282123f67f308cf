"""Writes tests/fixtures/verl-parquet: what verl's own preprocessing scripts make of a few rows in GSM8K's form.

Wants a clone of verl and `pip install datasets`:  python scripts/make-verl-fixtures.py path/to/verl
The scripts run as they are; of verl they import verl/utils/hdfs_io.py alone. Made with verl b178a3cd5.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = ["gsm8k", "gsm8k_tool_agent_loop", "gsm8k_multiturn_w_interaction", "gsm8k_multiturn_w_tool"]
CARD = """---
configs:
- config_name: main
  data_files:
  - split: train
    path: train.jsonl
  - split: test
    path: test.jsonl
---
"""


def row(number: int) -> dict[str, str]:
    bags, each = 3 + number, 7 * number % 11 + 2
    name = ["Ada", "Béla", "陈", "Dov"][number % 4]
    total = f"{bags * each + 1:,}"
    return {
        "question": f"{name} has {bags} bags with {each} apples each, and 1 more. How many apples are there?",
        "answer": f"{bags} bags of {each} are {bags}*{each}=<<{bags}*{each}={bags * each}>>{bags * each} apples.\n"
        f"With one more there are {total}.\n#### {total}",
    }


def main(verl: Path) -> None:
    out = Path(__file__).parent.parent / "tests" / "fixtures" / "verl-parquet"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        raw = work / "raw"
        raw.mkdir()
        (raw / "README.md").write_text(CARD)
        for split, numbers in {"train": range(24), "test": range(100, 108)}.items():
            lines = [json.dumps(row(number), ensure_ascii=False) + "\n" for number in numbers]
            (raw / f"{split}.jsonl").write_text("".join(lines))
        utils = work / "modules" / "verl" / "utils"
        utils.mkdir(parents=True)
        shutil.copy(verl / "verl" / "utils" / "hdfs_io.py", utils)
        for script in SCRIPTS:
            command = [sys.executable, verl / "examples" / "data_preprocess" / f"{script}.py"]
            folders = ["--local_dataset_path", raw, "--local_save_dir", work / script]
            subprocess.run([*command, *folders], check=True, env={**os.environ, "PYTHONPATH": work / "modules"})
            shutil.copy(work / script / "test.parquet", out / f"{script}.parquet")


main(Path(sys.argv[1]))
