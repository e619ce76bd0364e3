import type { LoadedConfig } from "../config/load.ts"
import { runLimits } from "../model/run-limits.ts"

/** The limits of a run: given, configured, or the usual ones. */
export function limitsOf(
  { config }: LoadedConfig,
  given: { maxRounds?: number | undefined; maxCalls?: number | undefined } = {},
): typeof runLimits {
  return {
    maxRounds: given.maxRounds ?? config.agents?.maxRounds ?? runLimits.maxRounds,
    maxCalls: given.maxCalls ?? config.agents?.maxCalls ?? runLimits.maxCalls,
  }
}
