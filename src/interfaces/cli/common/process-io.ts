import { readFileSync, realpathSync } from "node:fs"
import { homedir } from "node:os"
import type { Io } from "./context.ts"
import { typedCommand, type TypedCommand } from "./typed-command.ts"

/** The streams, environment and folders of this process, which was started in `from` with `-C`, if it was. */
export function processIo(from = process.cwd(), typedOptions: readonly string[] = []): Io {
  let typed: TypedCommand | undefined
  return {
    // Opening stdin takes time, and most commands never read it.
    get stdin() {
      return process.stdin
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    home: homeFolder(),
    get program() {
      return { node: process.execPath, script: realpathSync(process.argv[1] ?? "qm") }
    },
    get typed() {
      return (typed ??= typedCommand({ env: this.env, program: this.program, cwd: from }))
    },
    typedOptions,
    isInForeground,
    leave: (code) => process.exit(code),
  }
}

/** An account without a home folder has no configuration of its own and no file that proves who it is. */
function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return "/dev/null"
  }
}

/** Reports whether our process group is the terminal's foreground group. Only Linux tells; elsewhere it is assumed. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return fields[2] === fields[5]
  } catch {
    return true
  }
}
