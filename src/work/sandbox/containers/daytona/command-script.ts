import type { ClientEnd } from "../run-client.ts";
import type { ExecOptions } from "../running-container.ts";
import { quoted } from "../scripts.ts";

/**
 * Lines that define `sweep`, which kills all processes but the first, those that run this script, and those in
 * `$mine` and their children. Nothing outside the sandbox can signal its processes, so a script inside does.
 */
const sweep = [
  "mine= keep=' 1 ' at=$$",
  'while [ "$at" -gt 1 ]; do keep="$keep$at "; at=$(sed \'s/.*) . //; s/ .*//\' /proc/$at/stat); done',
  "sweep() {",
  "  read -r self rest </proc/self/stat; children=",
  // Only builtins of the shell: there may be no room for another process.
  '  [ -z "$mine" ] || for one in /proc/[0-9]*; do',
  `    read -r stat <$one/stat || continue; parent=\${stat##*) ? }; parent=\${parent%% *}`,
  `    case "$mine " in *" $parent "*) children="$children \${one#/proc/}" ;; esac`,
  "  done",
  "  for round in 1 2 3; do for one in /proc/[0-9]*; do",
  `    one=\${one#/proc/}`,
  '    case "$keep$mine$children $self " in *" $one "*) ;; *) kill -9 "$one" 2>/dev/null ;; esac',
  "  done; done",
  "}",
];

/** A script that ends all programs of a sandbox. */
export const sweepScript = [...sweep, "sweep"].join("\n");

/**
 * A script that runs the file `command` of its folder with the file `in` as input, within limits, and prints what
 * became of it, for `endOf`.
 */
export function commandScript(place: string, { folder = "/", time, output, begins }: ExecOptions): string {
  const errors = output + begins.length;
  return [
    "exec 2>/dev/null", // Daytona mixes it with the output
    ...sweep,
    `cd ${place} && chmod 755 . && mkfifo out.pipe err.pipe || exit 1`,
    `{ head -c ${output + 1} <out.pipe >out; : >out.over; } & mine=" $!"`,
    `{ head -c ${errors + 1} <err.pipe >err; : >err.over; } & mine="$mine $!"`,
    `{ cd ${quoted(folder)} && exec sh ${place}/command; } <in >out.pipe 2>err.pipe & program=$!`,
    `{ left=${Math.ceil(time)}; while [ $left -gt 0 ]; do sleep 1; left=$((left - 1)); done; : >late; sweep; } >/dev/null 2>&1 & timer=$!`,
    "wait $program; code=$?",
    "[ -e late ] && wait $timer", // it may not have killed all
    "kill $timer 2>/dev/null",
    // A program that was left behind may hold the pipes.
    "turns=0; until [ -e out.over ] && [ -e err.over ] || [ $turns -ge 20 ]; do turns=$((turns + 1)); sleep 0.1 2>/dev/null || sleep 1; done",
    `over=; for one in out err; do most=${output}; [ $one = err ] && most=${errors}; [ "$(stat -c %s $one)" -gt $most ] && over=" over"; done`,
    '[ -n "$over" ] && sweep',
    'echo ":code $code$([ -e late ] && echo " late")$over"',
    `head -c ${output} out | base64; echo :; head -c ${errors} err | base64; echo :end`,
    `cd / && rm -rf ${place}`,
  ].join("\n");
}

/** Reads what `commandScript` printed. Undefined if the script did not come to its end. */
export function endOf(printed: string, seconds: number): ClientEnd | undefined {
  const found = /^:code (\d+)( late)?( over)?\n([^:]*):\n([^:]*):end$/m.exec(printed);
  if (found === null) return undefined;
  const [, code, late, over, stdout = "", stderr = ""] = found;
  const end = {
    stdout: Buffer.from(stdout, "base64"),
    stderr: Buffer.from(stderr, "base64"),
    seconds,
    isStuck: false,
  };
  if (late !== undefined) return { ...end, stoppedBy: "time-limit" };
  if (over !== undefined) return { ...end, stoppedBy: "output-limit" };
  return { ...end, exitCode: Number(code) };
}
