import { z } from "zod"
import { isSecretName } from "../../lib/secret-names.ts"
import type { Preview } from "../../core/preview.ts"
import type { ToolContext } from "../../core/tool.ts"
import type { Pages, Web } from "../../platform/web/web-access.ts"

/** Parameters and results that the http tools share. */
export const url = z
  .string()
  .min(1)
  .refine(isAddress, "is not a URL; write the whole address, for example https://docs.example.com/page")
  .describe("The whole address, for example https://docs.example.com/api/items?page=2")
export const headers = z
  .record(z.string(), z.string())
  .optional()
  .describe('For example {"accept": "application/json"}')
export const body = z
  .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .optional()
  .describe("A text, sent as it is; or an object or a list, sent as JSON")

export const output = z.object({
  status: z.number(),
  statusText: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  /** The address that responded, after redirects on the same host. */
  url: z.string(),
  /** The target of a redirect to another host, which was not followed. */
  redirect: z.string().optional(),
  truncated: z.boolean(),
  /** In bytes. */
  size: z.number(),
  charset: z.string().optional(),
  /** Content that is not text is stored as this artifact, and `body` is empty. */
  artifactRef: z.string().optional(),
  mimeType: z.string().optional(),
  latencyMs: z.number(),
  requestId: z.string(),
})

/**
 * Reports whether a text is meant as an address. A single word is none, though it could be a host of the local network.
 */
function isAddress(text: string): boolean {
  return /[.:/]/.test(text) || /^\s*localhost\s*$/i.test(text)
}

export interface HttpExchange {
  readonly url: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: z.infer<typeof body>
  readonly timeoutMs?: number
}

/** Sends one request and makes the tool's result. */
export async function sendHttp(
  { url, method, timeoutMs, ...given }: HttpExchange,
  { web, pages }: { web: Web; pages: Pages },
  { signal, callId, artifacts }: ToolContext,
): Promise<z.infer<typeof output>> {
  const startedAt = performance.now()
  const answer = await web.send({ url, method, timeoutMs, signal, redirects: "same-host", ...packed(given) })
  const { status, statusText, headers, truncated, bytes } = answer
  const latencyMs = Math.round(performance.now() - startedAt)
  const about = {
    status,
    statusText,
    headers,
    url: answer.url,
    truncated,
    size: bytes.length,
    latencyMs,
    requestId: callId,
  }
  const led = answer.redirect === undefined ? about : { ...about, redirect: answer.redirect }
  const decoded = bytes.length === 0 ? { text: "", charset: "utf-8" } : await pages.text(answer)
  if (decoded !== undefined) return { ...led, body: decoded.text, charset: decoded.charset }
  const mimeType = mimeTypeOf(headers)
  const artifactRef = await artifacts.put({ type: "download", content: bytes, mimeType, meta: { url: answer.url } })
  return { ...led, body: "", artifactRef, mimeType }
}

/** The request as an approver sees it. Headers that look like secrets are hidden. */
export function requestPreview({ url, method, ...given }: HttpExchange): Preview {
  const { headers, body } = packed(given)
  const shown = Object.entries(headers).map(([name, value]) => [name, isSecretName(name) ? "(hidden)" : value] as const)
  const request = { kind: "request", method, url, headers: Object.fromEntries(shown) } as const
  return body === undefined ? request : { ...request, body, bytes: Buffer.byteLength(body) }
}

/** A body that is not a text is sent as JSON, with that content type unless the headers name another. */
function packed({ headers = {}, body }: Pick<HttpExchange, "headers" | "body">): {
  headers: Record<string, string>
  body?: string
} {
  if (body === undefined) return { headers: { ...headers } }
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === "content-type")
  const type = typeof body === "string" ? "text/plain;charset=UTF-8" : "application/json"
  return {
    headers: typed ? { ...headers } : { ...headers, "content-type": type },
    body: typeof body === "string" ? body : JSON.stringify(body),
  }
}

export function mimeTypeOf(headers: Readonly<Record<string, string>>): string {
  const [type = ""] = (headers["content-type"] ?? "").split(";")
  return /^[\w.+-]+\/[\w.+-]+$/.test(type.trim()) ? type.trim().toLowerCase() : "application/octet-stream"
}
