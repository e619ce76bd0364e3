import type { LoadedConfig } from "../config/load.ts"
import type { Conversation } from "../model/conversation.ts"
import { runLimits } from "../model/run-limits.ts"

/** The limits of a run: given, those the conversation had before, configured, or the usual ones. */
export async function limitsOf(
  { config }: LoadedConfig,
  before: Conversation | undefined,
  given: { maxRounds?: number | undefined; maxCalls?: number | undefined } = {},
): Promise<typeof runLimits> {
  const { rememberedOf } = await import("../agents/chain/remembered.ts")
  const { maxRounds, maxCalls } = before === undefined ? {} : rememberedOf(before).options
  return {
    maxRounds: given.maxRounds ?? maxRounds ?? config.agents?.maxRounds ?? runLimits.maxRounds,
    maxCalls: given.maxCalls ?? maxCalls ?? config.agents?.maxCalls ?? runLimits.maxCalls,
  }
}
