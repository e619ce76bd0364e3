import type { Guard } from "../../core/guard.ts"
import type { Disk } from "./disk.ts"
import type { CommandList } from "./command-lists.ts"

/**
 * The mode for a command that is on no list: `ask` asks a person, `allowlist` refuses it, `denylist` runs it when it is
 * proved, `sandbox` runs it in the sandbox.
 */
export type ShellMode = "ask" | "allowlist" | "denylist" | "sandbox"

/** The context of the command guard besides the command. */
export interface CommandContext {
  readonly workspace: string
  readonly mode: ShellMode
  readonly paths: Guard["check"]
  readonly allow: CommandList
  readonly deny: CommandList
  readonly deniedNames: readonly string[]
  readonly disk: Disk
  /** Why the mode is `ask` although the configuration says `sandbox`; a sentence for the person who is asked. */
  readonly sandboxMissing?: string
}
