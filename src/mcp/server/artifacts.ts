import type { ReadResourceResult } from "@modelcontextprotocol/server"
import { readUrl } from "../../model/address.ts"
import type { App } from "../../model/app.ts"
import type { StoredArtifact } from "../../model/tool.ts"
import { badParams, notFound } from "./errors.ts"

const scheme = "qm://artifact/"
/** How many characters one page has at most, and has when nobody says how many. */
const longestPage = 100_000
const page = 20_000

/** By which address an artifact is read. */
export function artifactUri(id: string): string {
  return `${scheme}${encodeURIComponent(id)}`
}

export function isArtifactUri(uri: string): boolean {
  return uri.startsWith(scheme)
}

/** How clients are told that there are artifacts. */
export const artifactTemplate = {
  uriTemplate: `${scheme}{id}{?offset,limit}`,
  name: "artifact",
  title: "Artifact",
  description: "What your tools left: long results, files, pictures. Text is read in pages of characters.",
} as const

/** Reads an artifact of the agent: bytes whole, text by the page, each with where the next one begins. */
export async function readArtifact(app: App, agentId: string, uri: string): Promise<ReadResourceResult> {
  const asked = readUrl(uri)
  const [id = "", ...more] = (asked?.pathname ?? "").slice(1).split("/")
  if (asked?.protocol !== "qm:" || asked.host !== "artifact" || more.length > 0) throw notFound(uri)
  const found = await app.artifact(agentId, decoded(id))
  if (found === undefined) throw notFound(uri)
  return { contents: contentsOf(uri, found, asked.searchParams) }
}

function contentsOf(uri: string, found: StoredArtifact, asked: URLSearchParams): ReadResourceResult["contents"] {
  const { mimeType } = found
  const bytes = Buffer.from(found.content)
  if (found.isBinary) return [{ uri, mimeType, blob: bytes.toString("base64") }]
  const text = bytes.toString("utf8")
  const offset = whole(asked, "offset", 0, text.length)
  const limit = whole(asked, "limit", page, longestPage)
  const isAll = offset === 0 && text.length <= limit
  if (isAll) return [{ uri, mimeType, text }]
  const end = boundary(text, offset + limit)
  const part = text.slice(boundary(text, offset), end)
  const next = `${artifactUri(found.id)}?offset=${end}&limit=${limit}`
  const where = `[characters ${offset} to ${end} of ${text.length}${end < text.length ? `; next: ${next}` : "; the end"}]`
  // A piece of JSON is no JSON.
  return [{ uri, mimeType: "text/plain", text: `${part}\n${where}` }]
}

/** Never in the middle of a surrogate pair. */
function boundary(text: string, at: number): number {
  const before = text.charCodeAt(at - 1)
  return at < text.length && before >= 0xd800 && before <= 0xdbff ? at + 1 : Math.min(at, text.length)
}

function whole(asked: URLSearchParams, name: string, otherwise: number, most: number): number {
  const given = asked.get(name)
  if (given === null) return otherwise
  if (!/^\d{1,12}$/.test(given) || (name === "limit" && Number(given) === 0)) {
    throw badParams(`'${name}' must be a whole number of characters, not '${given}'.`)
  }
  return Math.min(Number(given), most)
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
