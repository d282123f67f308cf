"""Writes tests/fixtures/atif: trajectories that Harbor's own models build and its writer formats.

Wants `pip install pydantic` and Harbor's wheel, whose other dependencies these modules do not need:
  pip install --no-deps harbor==0.26.0; python scripts/make-atif-fixtures.py
The steps have the shapes in which Harbor's agent Terminus 2 records them: several commands that share one output, an
answer that could not be read, a summary by sub-agents, raw answers, and token ids.
"""

import json
from pathlib import Path

from harbor.models.trajectories import (
    Agent,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    Step,
    SubagentTrajectoryRef,
    ToolCall,
    Trajectory,
)
from harbor.utils.trajectory_utils import format_trajectory_json
from harbor.utils.trajectory_validator import TrajectoryValidator

out = Path(__file__).parent.parent / "tests" / "fixtures" / "atif"
agent = Agent(name="terminus-2", version="2.0.0", model_name="hosted_vllm/small", extra={"parser": "json"})


def command(episode: int, number: int, keystrokes: str) -> ToolCall:
    return ToolCall(
        tool_call_id=f"call_{episode}_{number}",
        function_name="bash_command",
        arguments={"keystrokes": keystrokes, "duration": 0.1},
    )


def observed(content: str, call: str | None = None) -> Observation:
    return Observation(results=[ObservationResult(source_call_id=call, content=content)])


def at(second: int) -> str:
    return f"2026-11-29T12:00:{second:02}+00:00"


terminal = Trajectory(
    schema_version="ATIF-v1.7",
    session_id="0b6f3c1e",
    trajectory_id="0b6f3c1e",
    agent=agent,
    steps=[
        Step(step_id=1, timestamp=at(0), source="user", message="Write the sum of numbers.txt to sum.txt."),
        Step(
            step_id=2,
            timestamp=at(2),
            source="agent",
            message="Analysis: There is a file.\nPlan: Look at it, and count its lines.",
            tool_calls=[command(0, 1, "cat numbers.txt\n"), command(0, 2, "wc -l numbers.txt\n")],
            observation=observed("$ cat numbers.txt\n1\n2\n$ wc -l numbers.txt\n2 numbers.txt"),
            metrics=Metrics(prompt_tokens=700, completion_tokens=60, cost_usd=0.0001),
            llm_call_count=1,
        ),
        Step(
            step_id=3,
            timestamp=at(4),
            source="agent",
            message="I will add them up",
            observation=observed("Previous response had parsing errors:\nERROR: No valid JSON found"),
            metrics=Metrics(prompt_tokens=800, completion_tokens=5),
        ),
        Step(
            step_id=4,
            timestamp=at(5),
            source="system",
            message="Performed context summarization and handoff to continue task.",
            observation=Observation(
                results=[
                    ObservationResult(
                        subagent_trajectory_ref=[SubagentTrajectoryRef(trajectory_id="0b6f3c1e-summary")]
                    )
                ]
            ),
        ),
        Step(
            step_id=5,
            timestamp=at(7),
            source="agent",
            message="Analysis: Two numbers.\nPlan: Add them.",
            reasoning_content="1 + 2 = 3",
            tool_calls=[
                command(2, 1, "echo 3 > sum.txt\n"),
                ToolCall(tool_call_id="call_2_task_complete", function_name="mark_task_complete", arguments={}),
            ],
            observation=observed("$ echo 3 > sum.txt", "call_2_1"),
            metrics=Metrics(prompt_tokens=500, completion_tokens=40),
            llm_call_count=1,
        ),
    ],
    final_metrics=FinalMetrics(total_prompt_tokens=2000, total_completion_tokens=105, total_steps=5),
    subagent_trajectories=[
        Trajectory(
            schema_version="ATIF-v1.7",
            trajectory_id="0b6f3c1e-summary",
            agent=agent,
            steps=[
                Step(step_id=1, source="user", message="Write the sum of numbers.txt.", is_copied_context=True),
                Step(step_id=2, source="agent", message="I will add them up", is_copied_context=True),
                Step(step_id=3, source="user", message="Summarize the work."),
                Step(step_id=4, source="agent", message="numbers.txt holds 1 and 2."),
            ],
        )
    ],
)

first, second = [12, 7, 30], [41, 9, 2]
sampled = Trajectory(
    schema_version="ATIF-v1.8",
    session_id="77aa",
    agent=agent,
    steps=[
        Step(step_id=1, source="user", message="Say hello twice."),
        Step(
            step_id=2,
            source="agent",
            message='{"keystrokes": "echo hello\\n"}',
            observation=observed("hello"),
            metrics=Metrics(
                prompt_tokens=3,
                completion_tokens=3,
                prompt_token_ids=first,
                completion_token_ids=second,
                logprobs=[-0.7346915602684021, -1.1920928955078125e-07, -2.5],
            ),
        ),
        Step(
            step_id=3,
            source="agent",
            message="hello",
            metrics=Metrics(
                prompt_tokens=9,
                completion_tokens=2,
                cached_tokens=6,
                prompt_token_ids=[*first, *second, 50, 51, 52],
                completion_token_ids=[60, 2],
                logprobs=[-0.25, -0.125],
                extra={"routed_experts": [[0, 1]]},
            ),
        ),
    ],
)

out.mkdir(exist_ok=True)
for name, trajectory in {"terminal": terminal, "sampled": sampled}.items():
    path = out / f"{name}.trajectory.json"
    path.write_text(format_trajectory_json(trajectory.to_json_dict()) + "\n")
    validator = TrajectoryValidator()
    assert validator.validate(path), validator.errors
nulls = sampled.to_json_dict(exclude_none=False)
(out / "nulls.trajectory.json").write_text(json.dumps(nulls) + "\n")
