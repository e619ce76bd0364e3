/** The operator's log of Quartermaster. Pass one as `options.logger`; the default is silent. */
export interface Logger {
  info(message: string, details?: unknown): void
  warn(message: string, details?: unknown): void
  error(message: string, details?: unknown): void
  logToolCall(toolName: string, args: unknown): void
  logToolResult(toolName: string, result: unknown): void
}

export const silentLogger: Logger = {
  info() {},
  warn() {},
  error() {},
  logToolCall() {},
  logToolResult() {},
}
