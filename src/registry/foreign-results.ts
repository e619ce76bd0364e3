import { failure, type ToolFailure } from "../core/ending.ts"
import { ToolExecuteStatus } from "../core/result.ts"
import type { BaseToolResult } from "./base-tool.ts"

/** The return value of S4's tools. */
export interface ResultLike {
  success: boolean
  result?: unknown
  error?: string
  toolName?: string
  startedAt?: number
  completedAt?: number
  durationMs?: number
}

/** S3: `{ success, data }` or `{ success: false, error }`. */
export function unwrapBaseResult(name: string, returned: BaseToolResult | undefined): unknown {
  const { success, data, error, metadata }: Partial<BaseToolResult> = returned ?? {}
  if (success === true) return data
  if (success === false) throw failed(name, error, metadata === undefined ? {} : { metadata })
  throw new TypeError(
    `${name} returned no result of a BaseTool. Return { success, data } or { success: false, error }.`,
  )
}

/** S4: a whole result. */
export function unwrapResult(name: string, returned: ResultLike | undefined): unknown {
  const { success, result, error }: Partial<ResultLike> = returned ?? {}
  if (success === true) return result
  if (success === false) throw failed(name, error)
  throw new TypeError(`${name} returned no whole result. Return { success, result } or { success: false, error }.`)
}

/** S0: a value, or `{ error: "code", message? }`. */
export function unwrapError(name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("error" in value)) return value
  const { error, message, ...metadata } = value as Record<string, unknown>
  if (typeof error !== "string" || error === "") return value
  throw failed(name, message ?? `${name} failed: ${error}`, { toolCode: error, metadata })
}

const statuses: readonly unknown[] = Object.values(ToolExecuteStatus)
const statusKeys = ["status", "data", "error", "rejectReason"]

/** S1. A value with any other key is not a result but a plain value that happens to have a status. */
export function unwrapStatus(name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  const { status, data, error, rejectReason } = value as Record<string, unknown>
  if (!statuses.includes(status) || !Object.keys(value).every((key) => statusKeys.includes(key))) return value
  if (status === ToolExecuteStatus.SUCCESS) return data
  const metadata = rejectReason === undefined ? {} : { metadata: { rejectReason } }
  if (status === ToolExecuteStatus.ERROR) throw failed(name, error, metadata)
  throw failed(name, rejectReason ?? error, { toolCode: String(status), ...metadata })
}

function failed(name: string, error: unknown, details?: Parameters<typeof failure>[1]): ToolFailure {
  return failure(sentenceOf(error) || `${name} failed without saying why.`, details)
}

function sentenceOf(error: unknown): string {
  if (error instanceof Error) return error.message
  if (typeof error === "string") return error
  return error === undefined || error === null ? "" : JSON.stringify(error)
}
