import { Readability } from "@mozilla/readability"
import { parseHTML } from "linkedom"
import TurndownService from "turndown"
import { parseUrl } from "../../lib/url.ts"
import type { Page, PagePattern } from "./web-access.ts"

/** From a deeper or larger page only the plain text is taken: recursive code would run out of stack or time. */
const maxDepth = 300
const maxNodes = 150_000

/** The article of a page as Markdown, or the whole page if it has none. Runs in the worker. */
export function readablePage(html: string, url: string): Page {
  const document = parse(html)
  const title = collapse(
    document.querySelector("title")?.textContent ?? document.querySelector("h1")?.textContent ?? "",
  )
  if (isTooLarge(document)) return { title, markdown: plainText(document.body ?? document) }
  for (const element of document.querySelectorAll(unwanted)) element.remove()
  resolveLinks(document, url)
  const article = articleOf(parse(document.toString()))
  const root = article === undefined ? document.body : parse(article).body
  return { title, markdown: markdownOf(root) }
}

/** Finds the matches of a pattern in a page. Runs in the worker. */
export function findInPage(html: string, { each, parts }: PagePattern): Record<string, string>[] {
  return [...parse(html).querySelectorAll(each)].map((element) =>
    Object.fromEntries(
      Object.entries(parts).map(([name, part]) => {
        const [selector = "", attribute] = part.split("@")
        const found = element.querySelector(selector)
        const value = attribute === undefined ? found?.textContent : found?.getAttribute(attribute)
        return [name, collapse(value ?? "")]
      }),
    ),
  )
}

const unwanted =
  "title, script, style, noscript, template, iframe, object, embed, svg, canvas, form, [hidden], [aria-hidden=true]"

// linkedom's types need those of the browser, so these are the parts we use.
interface Node {
  readonly nodeType: number
  readonly textContent: string | null
  readonly childNodes: Iterable<Node>
}
interface Element extends Node {
  readonly localName: string
  remove(): void
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  querySelector(selector: string): Element | null
  querySelectorAll(selector: string): Iterable<Element>
}
interface Document extends Element {
  readonly body: Element
}

function parse(html: string): Document {
  const whole = /<html[\s>]/i.test(html) ? html : `<html><head></head><body>${html}</body></html>`
  return parseHTML(whole).document as unknown as Document
}

function isTooLarge(document: Document): boolean {
  let count = 0
  const pending: [Node, number][] = [[document, 0]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, depth] = next
    if (depth > maxDepth || ++count > maxNodes) return true
    for (const child of node.childNodes) pending.push([child, depth + 1])
  }
  return false
}

function resolveLinks(document: Document, base: string): void {
  for (const [selector, attribute] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const)
    // prettier-ignore
    for (const element of document.querySelectorAll(selector)) {
      const target = element.getAttribute(attribute)!
      if (/^https?:/.test(resolveUrl(target, base))) element.setAttribute(attribute, resolveUrl(target, base))
      else element.removeAttribute(attribute)
    }
}

function resolveUrl(target: string, base: string): string {
  return parseUrl(target, base)?.href ?? ""
}

/** Undefined if too little of the page would be left to be an article. */
function articleOf(document: Document): string | undefined {
  const all = collapse(document.body.textContent ?? "").length
  const article = new Readability(document as never, { charThreshold: 200 }).parse()
  const length = collapse(article?.textContent ?? "").length
  return article?.content && length >= 200 && length >= all * 0.25 ? article.content : undefined
}

function markdownOf(root: Element): string {
  const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" })
  turndown.addRule("struck", { filter: ["del", "s"], replacement: (text) => `~~${text}~~` })
  turndown.addRule("cell", { filter: ["td", "th"], replacement: (text) => ` ${oneLine(text)} |` })
  turndown.addRule("row", { filter: "tr", replacement: (text, node) => rowOf(text, node as unknown as Row) })
  turndown.addRule("table", {
    filter: "table",
    replacement: (text) => `\n\n${text.replace(/\n{2,}/g, "\n").trim()}\n\n`,
  })
  turndown.addRule("part of a table", { filter: ["thead", "tbody", "tfoot"], replacement: (text) => text })
  turndown.addRule("picture", { filter: "img", replacement: (_, node) => pictureOf(node as unknown as Element) })
  return turndown
    .turndown(root as never)
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
}

interface Row extends Element {
  readonly parentNode: (Element & { readonly parentNode: Element | null }) | null
}

/** Markdown needs a line under the first row of a table. */
function rowOf(text: string, row: Row): string {
  const table = row.parentNode?.localName === "table" ? row.parentNode : row.parentNode?.parentNode
  const cells = [...row.childNodes].filter(({ nodeType }) => nodeType === 1).length
  const line = `\n|${text}`
  return table?.querySelector("tr") === row ? `${line}\n|${" --- |".repeat(cells)}` : line
}

function pictureOf(picture: Element): string {
  const source = picture.getAttribute("src")
  return source === null ? "" : `![${oneLine(picture.getAttribute("alt") ?? "")}](${source})`
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ").replace(/\|/g, "\\|") // prettier-ignore
}

/** Not recursive, so that no page is too deep. */
function plainText(root: Node): string {
  const parts: string[] = []
  const pending: (Node | string)[] = [root]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") parts.push(next)
    else if (next.nodeType === 3) parts.push(next.textContent ?? "")
    else if (!skipped.has((next as Element).localName)) {
      const edge = inline.has((next as Element).localName) ? "" : "\n"
      parts.push(edge)
      pending.push(edge, ...[...next.childNodes].toReversed())
    }
  }
  return parts
    .join("")
    .replace(/[ \t\r\f]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim()
}

const skipped = new Set(["title", "script", "style", "noscript", "template", "svg", "iframe"])
const inline = new Set(["a", "b", "i", "em", "strong", "span", "code", "small", "sub", "sup", "abbr", "u", "mark"])

function collapse(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}
