import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure, ToolFailure } from "../../core/ending.ts"
import type { Pages, Web, WebResponse } from "../../platform/web/web-access.ts"
import { mimeTypeOf, url } from "./http-exchange.ts"

/** Reads a page as Markdown. Uses https in place of http; a redirect to another host is reported and not followed. */
export const webFetch = (web: Web, pages: Pages) =>
  defineTool({
    name: "web_fetch",
    group: "network",
    category: "network",
    description:
      "Read a web page: its readable part as Markdown. Plain text, JSON and Markdown come as they are. When the page has moved to another host, redirect says where; call again with that address.",
    effect: "network",
    idempotent: true,
    cache: { ttlMs: 15 * 60_000 },
    input: () => z.object({ url }),
    output: () =>
      z.object({
        url: z.string(),
        status: z.number(),
        title: z.string(),
        content: z.string(),
        /** Empty when the response has no content and no content type. */
        contentType: z.string(),
        charset: z.string().optional(),
        /** In bytes. */
        size: z.number(),
        truncated: z.boolean(),
        redirect: z.string().optional(),
        /** Content that is not text is stored as this artifact, and `content` is empty. */
        artifactRef: z.string().optional(),
      }),
    touches: ({ url }) => [{ kind: "host", what: byHttps(url) }],
    preview: ({ url }) => ({ kind: "request", method: "GET", url: byHttps(url) }),

    async execute({ url }, { signal, artifacts }) {
      const answer = await get(web, url, signal)
      const { status, headers, bytes, truncated, redirect } = answer
      const isBare = bytes.length === 0 && headers["content-type"] === undefined
      const contentType = isBare ? "" : mimeTypeOf(headers)
      const about = { url: answer.url, status, title: "", contentType, size: bytes.length, truncated }
      if (redirect !== undefined) return { ...about, redirect, content: `The page has moved to ${redirect}` }
      if (status >= 400) throw refusal(answer)
      const decoded = await pages.text(answer)
      if (decoded === undefined) {
        const kept = { type: "download", content: bytes, mimeType: contentType, meta: { url: answer.url } }
        return { ...about, content: "", artifactRef: await artifacts.put(kept) }
      }
      const { text, charset } = decoded
      if (!isPage(headers, text)) return { ...about, content: text, charset }
      const { title, markdown } = await pages.markdown(text, answer.url, signal)
      return { ...about, title, content: markdown, charset }
    },
  })

const mostBytes = 5 * 1024 * 1024
const accepted = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5"

async function get(web: Web, url: string, signal: AbortSignal): Promise<WebResponse> {
  const asked = byHttps(url)
  const request = {
    url: asked,
    headers: { accept: accepted },
    maxBytes: mostBytes,
    redirects: "same-host",
    signal,
  } as const
  try {
    return await web.send(request)
  } catch (error) {
    if (asked === url || !(error instanceof ToolFailure) || error.toolCode === "host_denied") throw error
    throw failure(`${error.message} The request used https; http_get can use http.`, {
      ...(error.toolCode === undefined ? {} : { toolCode: error.toolCode }),
      transient: error.transient,
      cause: error,
    })
  }
}

/** The same address with https, for a public name on the default port. */
function byHttps(url: string): string {
  return url.replace(/^http:\/\/(?=[^/?#:@\\\s]+\.[a-z][^/?#:@\\\s.]*\.?([/?#]|$))/i, "https://")
}

function refusal({ status, statusText, url }: WebResponse): Error {
  const { host } = new URL(url)
  const advice = status === 404 || status === 410 ? "Check the address, or search for it." : "Try another address."
  return failure(`${host} answers ${status} ${statusText}`.trim() + `. ${advice}`, {
    toolCode: "http_status",
    transient: [502, 503, 504].includes(status),
    metadata: { status },
  })
}

function isPage(headers: Readonly<Record<string, string>>, text: string): boolean {
  const type = headers["content-type"]
  return type === undefined ? /^\s*<(!doctype html|html)[\s>]/i.test(text) : /html/i.test(type)
}
