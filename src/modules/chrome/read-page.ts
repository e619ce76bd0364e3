import { imageSize } from "image-size"
import { limited, type Action } from "./action.ts"
import { elementRefusal } from "./element-refusal.ts"
import { report } from "./report.ts"
import { cleanSelector, locate } from "./selector.ts"

const readMs = 10_000
/** A page without an end has no picture of all of it. */
const mostHeight = 10_000
/** The largest image that models accept. */
const mostImageBytes = 5 * 1024 * 1024

export const getUrl: Action<{ tabId: string }> = async ({ tabId }, { browsers, context }) => {
  const { page } = browsers.tab(context, tabId)
  return { ok: true, url: page.url(), title: await limited(page.title(), 2000).catch(() => "") }
}

interface Part {
  tabId: string
  selector?: string
  offset: number
  limit: number
}

export const getText: Action<Part> = async ({ tabId, selector, offset, limit }, work) => {
  const tab = work.browsers.tab(work.context, tabId)
  const { page } = tab
  const clean = selector === undefined ? undefined : cleanSelector(selector)
  const range = { from: offset, to: offset + limit }
  try {
    const place = clean === undefined ? page.locator("body") : locate(page, clean.selector).first()
    const reading = place.evaluate(
      (element, { from, to }) => {
        const text = (element as { innerText?: string }).innerText ?? element.textContent ?? ""
        return { text: text.slice(from, to), length: text.length }
      },
      range,
      { timeout: 5000 },
    )
    const { text, length } = await limited(reading, readMs)
    return { ok: true, ...clean, url: page.url(), ...paged(text, length, offset), ...(await report(tab, work)) }
  } catch (error) {
    throw await elementRefusal(error, tab, clean?.selector ?? "body", 5000)
  }
}

export const snapshot: Action<Part> = async ({ tabId, offset, limit }, work) => {
  const tab = work.browsers.tab(work.context, tabId)
  const { page } = tab
  const whole = await limited(page.ariaSnapshot({ mode: "ai", timeout: readMs }), readMs + 500)
  const text = whole.slice(offset, offset + limit)
  const title = await limited(page.title(), 2000).catch(() => "")
  const about = { ok: true, url: page.url(), title }
  const { text: cut, ...rest } = paged(text, whole.length, offset)
  return { ...about, snapshot: cut, ...rest, ...(await report(tab, work)) }
}

/** A part of a long text, cut at the end of a line where there is one near. */
function paged(text: string, length: number, offset: number) {
  if (offset + text.length >= length) return { text, length }
  const lineEnd = text.lastIndexOf("\n") + 1
  const cut = lineEnd > text.length / 2 ? text.slice(0, lineEnd) : text
  return { text: cut, length, truncated: true, nextOffset: offset + cut.length }
}

export const screenshot: Action<{ tabId: string; fullPage: boolean; selector?: string }> = async (
  { tabId, fullPage, selector },
  work,
) => {
  const tab = work.browsers.tab(work.context, tabId)
  const { page } = tab
  const clean = selector === undefined ? undefined : cleanSelector(selector)
  const how = { type: "jpeg", quality: 80, timeout: readMs } as const
  try {
    const whole = fullPage && clean === undefined ? await wholePage() : {}
    const taking =
      clean === undefined ? page.screenshot({ ...how, ...whole }) : locate(page, clean.selector).first().screenshot(how)
    const bytes = await limited(taking, readMs + 2000)
    return { ok: true, ...clean, url: page.url(), ...(await stored(bytes, page.url())), ...(await report(tab, work)) }
  } catch (error) {
    throw await elementRefusal(error, tab, clean?.selector ?? "body", readMs)
  }

  async function wholePage() {
    const measuring = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    const [width, height] = (await limited(measuring, readMs)) as [number, number]
    return { fullPage: true, clip: { x: 0, y: 0, width, height: Math.min(height, mostHeight) } }
  }

  async function stored(bytes: Buffer, url: string) {
    const mimeType = "image/jpeg"
    const { width, height } = imageSize(bytes)
    const size = { width, height }
    const meta = { ...size, url }
    const ref = await work.context.artifacts.put({ type: "screenshot", content: bytes, mimeType, meta })
    const data = bytes.length > mostImageBytes ? {} : { data: bytes.toString("base64") }
    return { images: [ref], ...size, bytes: bytes.length, image: { mimeType, ...size, ...data } }
  }
}
