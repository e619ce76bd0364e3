import type { Guard } from "../../model/guard.ts"
import type { Disk } from "./disk.ts"
import type { CommandList } from "./lists.ts"

/** What neither denied nor allowed lists name: is asked for, is refused, or runs. */
export type ShellMode = "ask" | "allowlist" | "denylist"

/** What the guard for commands knows besides the command. */
export interface House {
  readonly workspace: string
  readonly mode: ShellMode
  readonly paths: Guard["look"]
  readonly allow: CommandList
  readonly deny: CommandList
  readonly deniedNames: readonly string[]
  readonly disk: Disk
}
