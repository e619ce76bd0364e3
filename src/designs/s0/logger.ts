import { silentLogger, type Logger } from "../../core/logger.ts"

/** A module's logger. Each method may be missing. */
export interface ModuleLogger extends Partial<Logger> {
  debug?(message: string, details?: unknown): void
}

/** A logger that logs nothing. */
export function createNoopModuleLogger(): Logger & { debug(message: string, details?: unknown): void } {
  return { ...silentLogger, debug() {} }
}

/** The logger with the methods that it lacks. */
export function completeLogger(given: ModuleLogger): Logger {
  const bound = (name: keyof Logger) => {
    const method = given[name] as ((...said: unknown[]) => void) | undefined
    return (...said: unknown[]) => method?.apply(given, said)
  }
  return {
    info: bound("info"),
    warn: bound("warn"),
    error: bound("error"),
    logToolCall: bound("logToolCall"),
    logToolResult: bound("logToolResult"),
  }
}
