import type { Files } from "../../platform/files/file-access.ts"
import type { ModuleRuntime } from "../../platform/module-runtime.ts"
import type { ToolContext } from "../../core/tool.ts"
import type { Browsers } from "./browsers.ts"
import { refusal } from "./refusal.ts"
import type { ChromeSettings } from "./settings.ts"

/** The context of a call of one of the tools. */
export interface Work {
  readonly browsers: Browsers
  readonly settings: ChromeSettings
  readonly runtime: ModuleRuntime
  readonly files: Files
  readonly context: Pick<ToolContext, "agent" | "taskId" | "signal" | "artifacts">
}

/** One tool: takes its validated input, returns its result or throws a `Refusal`. */
export type Action<Input> = (input: Input, work: Work) => Promise<Readonly<Record<string, unknown>>>

/** A page whose script never yields answers nothing. This gives up on it. */
export async function limited<T>(work: Promise<T>, milliseconds: number, late = unresponsive): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const giveUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late(milliseconds)), milliseconds)
  })
  try {
    return await Promise.race([work, giveUp])
  } finally {
    clearTimeout(timer)
    // It may fail later, when its tab is closed.
    work.catch(() => {})
  }
}

function unresponsive(milliseconds: number): Error {
  return refusal(
    "tab_unresponsive",
    `The page did not answer within ${milliseconds} ms: a script of it may never end. Close the tab with chrome_close_tab.`,
  )
}
