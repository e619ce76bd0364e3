import type { CommandLimits } from "./process-access.ts"
import type { OutputListener } from "./launch-command.ts"

/** Messages of programs, in English, about a file that reached its size limit or a full disk. */
const refusals = { file: /file (size limit exceeded|too large)/i, space: /no space left on device/i } as const
const longestRefusal = 32
/** The exit code of a program that SIGXFSZ ended. */
const endedForFile = 128 + 25

/** Recognizes limits that the kernel enforces: the kernel refuses, and the command decides what to do. */
export interface KernelLimitDetector {
  /** Takes everything the command prints and passes it on. */
  readonly onBytes: OutputListener
  /** Returns the notice about limits when the command has ended; empty if it seems to have reached none. */
  notice(exitCode: number): string
}

export function detectKernelLimits(
  onBytes: OutputListener,
  { fileMb, tmpMb }: CommandLimits,
  isSandbox: boolean,
): KernelLimitDetector {
  const reported = { file: false, space: false }
  let end = ""
  return {
    onBytes(stream, bytes, text) {
      onBytes(stream, bytes, text)
      if (stream !== "stderr" || text === "") return
      const recent = end + text
      reported.file ||= refusals.file.test(recent)
      reported.space ||= refusals.space.test(recent)
      end = recent.slice(-longestRefusal)
    },
    notice(exitCode) {
      const sentences: string[] = []
      if (reported.file || exitCode === endedForFile) {
        sentences.push(
          `No file may become larger than ${fileMb} MB here. Write less, or ask a person to raise tools.shell.limits.fileMb.`,
        )
      }
      if (reported.space && isSandbox) {
        sentences.push(
          `In the sandbox /tmp, /var/tmp, /dev/shm and the home folder have ${tmpMb} MB each. If one of them is full, write into the workspace, or ask a person to raise tools.shell.limits.tmpMb.`,
        )
      }
      return sentences.length === 0 ? "" : `[${sentences.join(" ")}]\n`
    },
  }
}
