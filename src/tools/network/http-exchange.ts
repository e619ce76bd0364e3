import { z } from "zod"
import { namesSecret } from "../../model/secret-names.ts"
import type { ToolContext } from "../../model/tool.ts"
import type { Pages, Web } from "../../model/web.ts"

/** What the http tools take and give alike. */
export const url = z
  .string()
  .min(1)
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
  /** The address that answered, after redirects on the same host. */
  url: z.string(),
  /** Where it would lead, to another host; nothing was sent there. */
  redirect: z.string().optional(),
  truncated: z.boolean(),
  /** In bytes. */
  size: z.number(),
  charset: z.string().optional(),
  /** What is no text is kept here, and `body` is empty. */
  artifactRef: z.string().optional(),
  mimeType: z.string().optional(),
  latencyMs: z.number(),
  requestId: z.string(),
})

export interface Exchange {
  readonly url: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: z.infer<typeof body>
  readonly timeoutMs?: number | undefined
}

/** Sends one request and makes the result of its answer. */
export async function exchange(
  { url, method, timeoutMs, ...given }: Exchange,
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

/** The request as an approver sees it; what looks like a secret in its headers is hidden. */
export function requestText({ url, method, ...given }: Exchange): string {
  const { headers, body } = packed(given)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${namesSecret(name) ? "(hidden)" : value}`)
  return [`${method} ${url}`, ...lines, ...(body === undefined ? [] : ["", body])].join("\n")
}

/** What is no text is sent as JSON, and says so unless the caller says otherwise. */
function packed({ headers = {}, body }: Pick<Exchange, "headers" | "body">): {
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
