import { randomBytes } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { dirname, extname, join } from "node:path"
import { findBuiltFile } from "../../../lib/package-file.ts"

/** The folder of the built console. */
export function consoleFolder(): string | undefined {
  const page = findBuiltFile("console/index.html")
  return page === undefined ? undefined : dirname(page)
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
}

interface ConsoleFile {
  content: Buffer
  type: string
  isAsset: boolean
}

/** Answers a path of the console. `wantsPage`: the client is a browser that opens an address. */
export type ConsolePages = (path: string, response: ServerResponse, wantsPage: boolean) => boolean

/**
 * Serves the built console. All files are read once and found by name in a map, so that no path of a request ever reaches
 * the disk. Returns false for a path that is none of its files.
 */
export async function openConsole(folder: string): Promise<ConsolePages> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = new Map<string, ConsoleFile>()
  for (const entry of names) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const name = `/${file.slice(folder.length).replace(/^\/+/, "")}`
    const type = types[extname(name)]
    if (type !== undefined)
      files.set(name, { content: await readFile(file), type, isAsset: name.startsWith("/assets/") })
  }
  const page = files.get("/index.html")?.content.toString("utf8") ?? ""
  return (path, response, wantsPage) => {
    const file = path === "/index.html" ? undefined : files.get(path)
    if (file !== undefined) {
      response.writeHead(200, {
        ...securityHeaders(),
        "content-type": file.type,
        "content-length": file.content.length,
        // The names of assets contain a hash of their content.
        "cache-control": file.isAsset ? "public, max-age=31536000, immutable" : "no-cache",
      })
      response.end(file.content)
      return true
    }
    if (!wantsPage || !isPage(path)) return false
    const nonce = randomBytes(16).toString("base64")
    const html = page.replaceAll("__QM_NONCE__", nonce)
    response.writeHead(200, {
      ...securityHeaders(nonce),
      "content-type": "text/html; charset=utf-8",
      "content-length": Buffer.byteLength(html),
      "cache-control": "no-store",
    })
    response.end(html)
    return true
  }
}

/** Pages of the console are all paths without a file name that are not the API's. */
function isPage(path: string): boolean {
  return !/^\/(v1|mcp|assets|openapi\.json|metrics|healthz|readyz)(\/|$)/.test(path) && !/\.[a-z0-9]+$/i.test(path)
}

function securityHeaders(nonce?: string): Record<string, string> {
  const style = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      `style-src ${style}`,
      "img-src 'self' blob: data:",
      "font-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  }
}
