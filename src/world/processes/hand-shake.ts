import type { ChildProcess } from "node:child_process"
import type { Socket } from "node:net"
import { firstPageOf, lookAround } from "./members.ts"
import { hasMeantMounts, type MeantMounts } from "./mounts.ts"

/**
 * What the first shell in the sandbox does: it asks us on descriptor 5 whether it may go on, and without an answer goes
 * no further. Bubblewrap ends with us, but not when we are killed while it begins; so it asks after its first process
 * has tied itself to ours (the filter is what that takes on next). Nothing of the call is in its environment.
 */
const isTied = "mapfile -t </proc/1/status; [[ ${MAPFILE[*]} == *Seccomp:[[:space:]]2* ]]"
const waitUntilTied = `for ((n = 0; n < 2000; n++)); do ${isTied} && break; read -t 0.001 -u 5; done;`
export const askFirst = `${waitUntilTied} echo >&5; read -u 5 || exit 125;`

/** The command's variables are read from descriptor 6: nobody sees them in the list of processes for long. */
export const becomeCommand = `mapfile -d "" -t variables <&6; exec 5<&- 6<&-; exec /usr/bin/env -i "\${variables[@]}" "$0" --norc -c "$1"`

const notRun =
  "[The workspace was changed while the sandbox was put together, so the command was not run. Run it again.]\n"

/** Lets the shell go on if what was mounted is what was meant; else says that it was not run. */
export function answerOnce(child: ChildProcess, meant: MeantMounts, onRefused: (sentence: string) => void): void {
  // Without descriptors left there is none, and no process either.
  const asking = (child.stdio as ChildProcess["stdio"] | undefined)?.slice(5)[0] as Socket | undefined
  if (asking === undefined) return
  asking.once("data", () => {
    if (insidersOf(child.pid!).some((pid) => hasMeantMounts(pid, meant))) return void asking.end("\n")
    onRefused(notRun)
    asking.end()
  })
  asking.once("error", () => asking.destroy())
}

/** The shell itself, and what started it: of the second not everybody may know what it sees. */
function insidersOf(bubblewrap: number): number[] {
  const [first] = childrenOf(bubblewrap)
  return first === undefined ? [] : [...childrenOf(first), first]
}

function childrenOf(pid: number): number[] {
  try {
    return firstPageOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number)
  } catch {
    // Not every kernel has that list.
    return lookAround().flatMap((one) => (one.parent === pid ? [one.pid] : []))
  }
}
