import { common, createLowlight } from "lowlight"
import type { Span } from "./marks.ts"

const lowlight = createLowlight(common)

const byEnding: Readonly<Record<string, string>> = {
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  js: "javascript",
  mjs: "javascript",
  jsx: "javascript",
  json: "json",
  py: "python",
  rs: "rust",
  go: "go",
  java: "java",
  rb: "ruby",
  php: "php",
  c: "c",
  h: "c",
  cpp: "cpp",
  cs: "csharp",
  css: "css",
  html: "xml",
  xml: "xml",
  svg: "xml",
  md: "markdown",
  yml: "yaml",
  yaml: "yaml",
  sh: "bash",
  sql: "sql",
}

interface Node {
  readonly type: string
  readonly value?: string
  readonly properties?: { readonly className?: unknown }
  readonly children?: readonly Node[]
}

/** The spans of each line of a file, by its language's grammar. A file of an unknown kind has none. */
export const highlight = (path: string, text: string) => highlightAs(path.split(".").at(-1), text)

/** The same for a language by its name or by the ending of its files. */
export function highlightAs(name = "", text: string): readonly (readonly Span[])[] {
  const known = name.toLowerCase()
  const language = byEnding[known] ?? (lowlight.registered(known) ? known : undefined)
  const lines: Span[][] = text.split("\n").map(() => [])
  if (language === undefined || text.length > 200_000) return lines
  let line = 0
  let column = 0
  const visit = (node: Node, name: string | undefined) => {
    if (node.type === "text") {
      for (const [at, part] of (node.value ?? "").split("\n").entries()) {
        if (at > 0) {
          line++
          column = 0
        }
        if (name !== undefined && part !== "") lines[line]?.push({ from: column, to: column + part.length, name })
        column += part.length
      }
      return
    }
    const own = node.properties?.className
    const next = Array.isArray(own) ? nameOf(String(own[0])) : undefined
    for (const child of node.children ?? []) visit(child, next ?? name)
  }
  visit(lowlight.highlight(language, text) as Node, undefined)
  return lines
}

/** Two colours are enough to read by: words of the language, and what is quoted. */
function nameOf(className: string): string | undefined {
  if (/^hljs-(keyword|built_in|literal|type|name|attr)/.test(className)) return "k-k"
  if (/^hljs-(string|regexp|number|symbol)/.test(className)) return "k-s"
  if (className.startsWith("hljs-comment")) return "k-c"
  return undefined
}
