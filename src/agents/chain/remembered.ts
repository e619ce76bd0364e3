import type { Conversation } from "../../model/conversation.ts"
import type { ToolChainOptions } from "./tool-chain.ts"

/** What is plain data, so that another process goes on with the same limits. Callbacks end with their process. */
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
  "userId",
  "allowedPaths",
] as const satisfies readonly (keyof ToolChainOptions)[]

type Remembered = Pick<ToolChainOptions, (typeof remembered)[number]>

/** What a conversation remembers of the options of its last run. */
export function settingsOf(options: ToolChainOptions, wakes: boolean): { wakes: boolean; options: Remembered } {
  const given = remembered.filter((name) => options[name] !== undefined).map((name) => [name, options[name]])
  return { wakes, options: Object.fromEntries(given) as Remembered }
}

/** The model and options of a stored conversation. */
export function rememberedOf({ settings }: Pick<Conversation, "settings">): { model?: string; options: Remembered } {
  const { model, options = {} } = Object(settings) as { model?: string; options?: Remembered }
  return { ...(model !== undefined && { model }), options }
}
