import type { Locator } from "playwright-core"
import { limited, type Action, type Work } from "./action.ts"
import { elementRefusal, notFound } from "./element-refusal.ts"
import { report } from "./report.ts"
import { cleanSelector, locate, referenceIn } from "./selector.ts"
import type { Tab } from "./tab.ts"

interface OnElement {
  tabId: string
  selector: string
  timeoutMs: number
}

/** Does something with the first element that the selector means, and reports what happened. */
async function onElement(
  { tabId, selector: given, timeoutMs }: OnElement,
  work: Work,
  act: (element: Locator, tab: Tab, timeout: number) => Promise<unknown>,
) {
  const tab = work.browsers.tab(work.context, tabId)
  const clean = cleanSelector(given)
  try {
    await limited(act(locate(tab.page, clean.selector), tab, timeoutMs), timeoutMs + 2000)
  } catch (error) {
    throw await elementRefusal(error, tab, clean.selector, timeoutMs)
  }
  return { ok: true, ...clean, url: tab.page.url(), ...(await report(tab, work)) }
}

type DialogAnswer = "accept" | "dismiss"

export const click: Action<OnElement & { waitForSelector: boolean; dialog?: DialogAnswer }> = (input, work) =>
  onElement(input, work, async (elements, tab, timeout) => {
    const { selector } = cleanSelector(input.selector)
    if (!input.waitForSelector && (await elements.count()) === 0) throw notFound(selector, 0)
    const visible = referenceIn(selector) === undefined ? elements.filter({ visible: true }).first() : elements
    await answering(tab, input.dialog, () => visible.click({ timeout, signal: work.context.signal }))
  })

interface Point {
  tabId: string
  x: number
  y: number
  button: "left" | "right" | "middle"
  clickCount: number
  dialog?: DialogAnswer
}

export const clickAt: Action<Point> = async ({ tabId, x, y, button, clickCount, dialog }, work) => {
  const tab = work.browsers.tab(work.context, tabId)
  try {
    await answering(tab, dialog, () => limited(tab.page.mouse.click(x, y, { button, clickCount }), 10_000))
  } catch (error) {
    throw await elementRefusal(error, tab, "body", 10_000)
  }
  return { ok: true, x, y, url: tab.page.url(), ...(await report(tab, work)) }
}

async function answering(tab: Tab, answer: DialogAnswer | undefined, act: () => Promise<unknown>): Promise<void> {
  tab.acceptsDialogs = answer === "accept"
  try {
    await act()
  } finally {
    tab.acceptsDialogs = false
  }
}

type Typed = OnElement & { text: string }

export const type: Action<Typed> = (input, work) =>
  onElement(input, work, async (elements, _tab, timeout) => {
    const element = elements.first()
    await maskPassword(element, input.text, work, timeout)
    await element.focus({ timeout, signal: work.context.signal })
    await element.evaluate(caretToEnd)
    await element.pressSequentially(input.text, { timeout, signal: work.context.signal })
  })

export const fill: Action<Typed> = (input, work) =>
  onElement(input, work, async (elements, _tab, timeout) => {
    const element = elements.first()
    await maskPassword(element, input.text, work, timeout)
    const how = { timeout, signal: work.context.signal }
    const tag = await element.evaluate((node) => node.nodeName, undefined, how)
    await (tag === "SELECT" ? element.selectOption(input.text, how) : element.fill(input.text, how))
  })

/** A password that a page shows or returns later is in no record either. */
async function maskPassword(element: Locator, text: string, { runtime }: Work, timeout: number): Promise<void> {
  if (await element.evaluate(isSecretField, undefined, { timeout })) runtime.mask(text)
}

/** Reports whether what is typed there is secret. A field that is not there yet may be one. */
export async function typesSecret(tab: Tab, given: string): Promise<boolean> {
  const elements = locate(tab.page, cleanSelector(given).selector)
  const found = await limited(
    elements.evaluateAll((nodes) => nodes.length),
    1000,
  )
  return found === 0 || limited(elements.first().evaluate(isSecretField, undefined, { timeout: 1000 }), 1000)
}

/**
 * Runs in the page: password fields, and fields for codes and cards. A label means its field. What is typed at anything
 * else goes to the field that has the focus, which may be a secret one.
 */
function isSecretField(node: unknown): boolean {
  type Field = Record<"nodeName" | "type" | "autocomplete" | "name" | "id", string | undefined>
  type Label = { control?: Field | null }
  const given = node as Field & { closest(selector: string): Label | null; isContentEditable?: boolean }
  const isOne = ({ nodeName }: Field) => /^(?:INPUT|TEXTAREA|SELECT)$/.test(nodeName ?? "")
  const field = isOne(given) ? given : (given.closest("label")?.control ?? given)
  const isField = isOne(field) || given.isContentEditable === true
  const { type, autocomplete, name, id } = field
  const kind = autocomplete ?? ""
  return (
    !isField ||
    type === "password" ||
    /password|one-time-code|^cc-/.test(kind) ||
    /passw|pwd|cvv|cvc|otp/i.test(`${name} ${id}`)
  )
}

/** Runs in the page. */
function caretToEnd(node: unknown): void {
  const field = node as {
    value?: string
    setSelectionRange?(from: number, to: number): void
    isContentEditable?: boolean
  }
  const end = field.value?.length ?? 0
  try {
    field.setSelectionRange?.(end, end)
  } catch {
    // Fields for numbers and mail addresses have no caret that can be set.
  }
}
