#!/bin/sh
if [ "$(cat /app/answer.txt)" = "$(cat /tests/expected.txt)" ]; then reward=1; else reward=0; fi
echo "$reward" > /logs/verifier/reward.txt
