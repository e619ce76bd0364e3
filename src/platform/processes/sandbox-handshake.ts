import type { ChildProcess } from "node:child_process"
import type { Socket } from "node:net"
import { readFirstPage, runningProcesses } from "./process-table.ts"
import { hasExpectedMounts, type ExpectedMounts } from "./mounts.ts"

/**
 * Run by the first shell in the sandbox: it asks us on descriptor 5 whether to go on, and exits without an answer.
 * Bubblewrap dies with us, except when we are killed while it starts. So the shell asks only after bubblewrap's first
 * process has tied itself to ours; its seccomp filter, installed right after that, shows it.
 */
const isTied = "mapfile -t </proc/1/status; [[ ${MAPFILE[*]} == *Seccomp:[[:space:]]2* ]]"
const waitUntilTied = `for ((n = 0; n < 2000; n++)); do ${isTied} && break; read -t 0.001 -u 5; done;`
export const handshakeScript = `${waitUntilTied} echo >&5; read -u 5 || exit 125;`

/** Reads the command's variables from descriptor 6, so that they show only briefly in the process list. */
export const execCommandScript = `mapfile -d "" -t variables <&6; exec 5<&- 6<&-; exec /usr/bin/env -i "\${variables[@]}" "$0" --norc -c "$1"`

const notRun =
  "[The workspace was changed while the sandbox was being set up, so the command was not run. Run it again.]\n"

/** Lets the shell go on if the mounts are as expected; otherwise reports that the command was not run. */
export function answerHandshake(
  child: ChildProcess,
  expected: ExpectedMounts,
  onRefused: (sentence: string) => void,
): void {
  // Without free descriptors there is no socket, and no process either.
  const socket = (child.stdio as ChildProcess["stdio"] | undefined)?.slice(5)[0] as Socket | undefined
  if (socket === undefined) return
  socket.once("data", () => {
    if (insidersOf(child.pid!).some((pid) => hasExpectedMounts(pid, expected))) return void socket.end("\n")
    onRefused(notRun)
    socket.end()
  })
  socket.once("error", () => socket.destroy())
}

/** The shell, and the process that started it, whose mounts we may not be allowed to read. */
function insidersOf(bubblewrap: number): number[] {
  const [first] = childrenOf(bubblewrap)
  return first === undefined ? [] : [...childrenOf(first), first]
}

function childrenOf(pid: number): number[] {
  try {
    return readFirstPage(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number)
  } catch {
    // Not every kernel has that file.
    return runningProcesses().flatMap((process) => (process.parent === pid ? [process.pid] : []))
  }
}
