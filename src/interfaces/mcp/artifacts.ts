import type { ReadResourceResult } from "@modelcontextprotocol/server"
import { textPage } from "../../lib/text-page.ts"
import { parseUrl } from "../../lib/url.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { StoredArtifact } from "../../core/tool.ts"
import { badParams, resourceNotFound } from "./errors.ts"

const scheme = "qm://artifact/"
const maxPageCharacters = 100_000
const defaultPageCharacters = 20_000

/** The URI by which clients read an artifact. */
export function artifactUri(id: string): string {
  return `${scheme}${encodeURIComponent(id)}`
}

export function isArtifactUri(uri: string): boolean {
  return uri.startsWith(scheme)
}

/** The resource template that tells clients how to read artifacts. */
export const artifactTemplate = {
  uriTemplate: `${scheme}{id}{?offset,limit}`,
  name: "artifact",
  title: "Artifact",
  description: "What your tools stored: long results, files, images. Text is read in pages of characters.",
} as const

/** Reads one of the agent's artifacts: binary data whole, text in pages. Each page names the URI of the next. */
export async function readArtifact(app: Quartermaster, agentId: string, uri: string): Promise<ReadResourceResult> {
  const url = parseUrl(uri)
  const [id = "", ...more] = (url?.pathname ?? "").slice(1).split("/")
  if (url?.protocol !== "qm:" || url.host !== "artifact" || more.length > 0) throw resourceNotFound(uri)
  const found = await app.artifact(agentId, decoded(id))
  if (found === undefined) throw resourceNotFound(uri)
  return { contents: contentsOf(uri, found, url.searchParams) }
}

function contentsOf(uri: string, found: StoredArtifact, query: URLSearchParams): ReadResourceResult["contents"] {
  const { mimeType } = found
  const bytes = Buffer.from(found.content)
  if (found.isBinary) return [{ uri, mimeType, blob: bytes.toString("base64") }]
  const text = bytes.toString("utf8")
  const offset = readCount(query, "offset", 0, text.length)
  const limit = readCount(query, "limit", defaultPageCharacters, maxPageCharacters)
  const isAll = offset === 0 && text.length <= limit
  if (isAll) return [{ uri, mimeType, text }]
  const { part, end } = textPage(text, offset, limit)
  const next = `${artifactUri(found.id)}?offset=${end}&limit=${limit}`
  const where = `[characters ${offset} to ${end} of ${text.length}${end < text.length ? `; next: ${next}` : "; the end"}]`
  // A part of a JSON document is not valid JSON.
  return [{ uri, mimeType: "text/plain", text: `${part}\n${where}` }]
}

function readCount(query: URLSearchParams, name: string, fallback: number, max: number): number {
  const text = query.get(name)
  if (text === null) return fallback
  if (!/^\d{1,12}$/.test(text) || (name === "limit" && Number(text) === 0)) {
    throw badParams(`'${name}' must be a whole number of characters, not '${text}'.`)
  }
  return Math.min(Number(text), max)
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
