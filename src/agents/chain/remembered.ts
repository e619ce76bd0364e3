import { posix } from "node:path"
import { isInFolder } from "../../lib/is-in-folder.ts"
import type { Conversation } from "../../core/conversation.ts"
import { isSocietyConversation } from "../../core/society-conversation.ts"
import type { Budget } from "./budget.ts"
import type { ToolChainOptions } from "./chain-options.ts"

/**
 * The options that are plain data, so that another process goes on with the same limits. Callbacks end with their
 * process, and the speaker is given anew each time.
 */
const remembered = [
  "instructions",
  "maxRounds",
  "maxCalls",
  "deadlineMs",
  "maxTokens",
  "maxCost",
  "maxTreeCalls",
  "perAgent",
  "tools",
  "independent",
  "checkToolResults",
  "taskId",
  "allowedPaths",
] as const satisfies readonly (keyof ToolChainOptions)[]

type Remembered = Pick<ToolChainOptions, (typeof remembered)[number]>

/** Returns the options of the last run that a conversation remembers. */
export function settingsOf(options: ToolChainOptions, wakes: boolean): { wakes: boolean; options: Remembered } {
  return { wakes, options: pickRemembered(options) }
}

/** The model and options of a stored conversation. One of the society has the model of its agent's role. */
export function rememberedOf({ id, settings }: Pick<Conversation, "id" | "settings">): {
  model?: string
  wakes?: boolean
  options: Remembered
} {
  const stored = Object(settings) as { model?: string; wakes?: boolean; taskId?: string; options?: Remembered }
  const { model, wakes, taskId, options = {} } = stored
  return {
    ...(model !== undefined && !isSocietyConversation(id) && { model }),
    ...(wakes !== undefined && { wakes }),
    options: pickRemembered({ taskId, ...options }),
  }
}

/** The budget that a conversation was begun with, where that is not the configured one. */
export function treeBudget({ maxTokens, maxCost, maxTreeCalls }: Remembered): Budget {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCost !== undefined && { maxCost }),
    ...(maxTreeCalls !== undefined && { maxCalls: maxTreeCalls }),
  }
}

function pickRemembered(options: ToolChainOptions): Remembered {
  const given = remembered.filter((name) => options[name] !== undefined).map((name) => [name, options[name]])
  return Object.fromEntries(given) as Remembered
}

/** Returns the options of a resumed run: new values override stored ones; limits never increase. */
export function goOnWith(before: ToolChainOptions, given: ToolChainOptions): ToolChainOptions {
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as ToolChainOptions
  const merged = { ...before, ...said }
  if (before.tools !== undefined && given.tools !== undefined)
    merged.tools = given.tools.filter((name) => before.tools!.includes(name))
  if (before.allowedPaths !== undefined && given.allowedPaths !== undefined)
    merged.allowedPaths = commonPaths(before.allowedPaths, given.allowedPaths)
  if (before.checkToolResults === true) merged.checkToolResults = true
  return merged
}

/** The paths of either list that lie within the other one, as far as their texts show it. */
function commonPaths(before: readonly string[], given: readonly string[]): string[] {
  return given.flatMap((path) =>
    before.some((other) => isWithin(path, other)) ? [path] : before.filter((other) => isWithin(other, path)),
  )
}

function isWithin(path: string, other: string): boolean {
  const [inner, outer] = [plain(path), plain(other)]
  if (inner === outer) return true
  if (inner.startsWith("..") || /[*?[]/.test(outer)) return false
  return /^[/~]/.test(inner) === /^[/~]/.test(outer) && isInFolder(inner, outer)
}

/** `docs/`, `docs/**` and `./docs` are the folder `docs`. */
function plain(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/(\*\*)?$/, "")
}
