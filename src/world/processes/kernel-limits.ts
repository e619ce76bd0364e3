import type { CommandLimits } from "../../model/processes.ts"
import type { OnBytes } from "./command.ts"

/** How the kernel's refusals read where a program tells them, in English: a limit for files was reached, or a disk is full. */
const refusals = { file: /file (size limit exceeded|too large)/i, space: /no space left on device/i } as const
const longestRefusal = 32
/** What a shell says of a program that was ended by SIGXFSZ. */
const endedForFile = 128 + 25

/** Limits that the kernel keeps: it refuses, and the command does what it likes about it. */
export interface KernelEar {
  /** To be given all that the command prints; hands it on. */
  readonly onBytes: OnBytes
  /** What to say about limits when the command has ended; nothing when it seems to have reached none. */
  notice(exitCode: number): string
}

/** Listens for what a command says about limits that the kernel keeps. */
export function listenForLimits(onBytes: OnBytes, { fileMb, tmpMb }: CommandLimits, isSandbox: boolean): KernelEar {
  const heard = { file: false, space: false }
  let end = ""
  return {
    onBytes(stream, bytes, text) {
      onBytes(stream, bytes, text)
      if (stream !== "stderr" || text === "") return
      const said = end + text
      heard.file ||= refusals.file.test(said)
      heard.space ||= refusals.space.test(said)
      end = said.slice(-longestRefusal)
    },
    notice(exitCode) {
      const sentences: string[] = []
      if (heard.file || exitCode === endedForFile) {
        sentences.push(
          `No file may become larger than ${fileMb} MB here. Write less, or ask a person to raise tools.shell.limits.fileMb.`,
        )
      }
      if (heard.space && isSandbox) {
        sentences.push(
          `In the sandbox /tmp, /var/tmp, /dev/shm and the home folder have ${tmpMb} MB each. If one of them is full, write into the workspace, or ask a person to raise tools.shell.limits.tmpMb.`,
        )
      }
      return sentences.length === 0 ? "" : `[${sentences.join(" ")}]\n`
    },
  }
}
