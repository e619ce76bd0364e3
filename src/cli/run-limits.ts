import type { LoadedConfig } from "../config/load.ts"

interface Limits {
  maxRounds: number
  maxCalls: number
}

/** The limits of one run at the command line, where somebody looks on, unless the configuration has others. */
export const runLimits: Limits = { maxRounds: 50, maxCalls: 200 }

/** The limits of a run: given, configured, or those above. */
export function limitsOf(
  { config }: LoadedConfig,
  given: { maxRounds?: number | undefined; maxCalls?: number | undefined } = {},
): Limits {
  return {
    maxRounds: given.maxRounds ?? config.agents?.maxRounds ?? runLimits.maxRounds,
    maxCalls: given.maxCalls ?? config.agents?.maxCalls ?? runLimits.maxCalls,
  }
}
