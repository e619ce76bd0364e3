import type { JsonSchema } from "../../core/schema.ts"

type Properties = Readonly<Record<string, JsonSchema>>

export interface ChromeDefinition {
  readonly type: "function"
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: "string", description, ...more })
const whole = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: "integer", description, ...more })
const timeout = (usual: number) =>
  whole(`Milliseconds to wait at most; ${usual} when left out`, { minimum: 1, maximum: 300_000, default: usual })

const browserId = text("The browserId of chrome_launch", { minLength: 1 })
const tabId = text("The tabId of chrome_new_tab or chrome_list_tabs", { minLength: 1 })
const url = text("The whole address, for example https://example.com/page", { minLength: 1 })
const selector = text("A CSS selector such as #login, text=Sign in, or a reference of chrome_snapshot such as e12", {
  minLength: 1,
})
const part = text("Only this part of the page: a selector or reference. The whole page when left out", { minLength: 1 })
const dialog = text("What to do with a dialog that this opens; dismiss when left out", { enum: ["accept", "dismiss"] })
const offset = whole("Skip this many characters; nextOffset of the call before", { minimum: 0, default: 0 })
const limit = whole("The most characters to return", { minimum: 100, maximum: 28_000, default: 20_000 })
const waitUntil = text("When the page counts as loaded", {
  enum: ["load", "domcontentloaded", "networkidle0", "networkidle2"],
  default: "load",
})

function tool(name: string, description: string, properties: Properties, required: readonly string[]) {
  const parameters = { type: "object", properties, required: [...required], additionalProperties: false }
  return { type: "function", function: { name, description, parameters } } as const
}

/** The tools in the form of S0, with S0's parameters. */
export const definitions: readonly ChromeDefinition[] = [
  tool(
    "chrome_launch",
    "Start a browser. It has no cookies and no history, and is closed when it is not used for a while. Returns its browserId.",
    { args: { type: "array", items: { type: "string" }, description: "Arguments such as --window-size=1280,720" } },
    [],
  ),
  tool("chrome_close", "Close a browser with all its tabs.", { browserId }, ["browserId"]),
  tool(
    "chrome_new_tab",
    "Open a tab, with a page if url is given. Returns its tabId, which all other tools take.",
    { browserId, url },
    ["browserId"],
  ),
  tool("chrome_close_tab", "Close a tab.", { tabId }, ["tabId"]),
  tool("chrome_list_tabs", "List the tabs of a browser, also those that pages opened.", { browserId }, ["browserId"]),
  tool(
    "chrome_navigate",
    "Load a page in a tab and wait until it is there.",
    { tabId, url, waitUntil, timeoutMs: timeout(30_000) },
    ["tabId", "url"],
  ),
  tool("chrome_get_url", "Get the address and title of the page in a tab.", { tabId }, ["tabId"]),
  tool(
    "chrome_screenshot",
    "Take a picture of what a tab shows. It is stored as an artifact. To act on a page, chrome_snapshot is better.",
    {
      tabId,
      fullPage: { type: "boolean", description: "The whole page and not only what is visible", default: false },
      selector: part,
    },
    ["tabId"],
  ),
  tool(
    "chrome_get_text",
    "Read the visible text of a page or of a part of it. A long text comes in pages.",
    { tabId, selector: part, offset, limit },
    ["tabId"],
  ),
  tool(
    "chrome_snapshot",
    "See a page as a tree of roles, names and values, with references such as e12 that click, type and fill take as selector. Take another one after the page has changed.",
    { tabId, offset, limit },
    ["tabId"],
  ),
  tool(
    "chrome_click",
    "Click an element.",
    {
      tabId,
      selector,
      waitForSelector: { type: "boolean", description: "Wait until the element is there", default: true },
      timeoutMs: timeout(5000),
      dialog,
    },
    ["tabId", "selector"],
  ),
  tool(
    "chrome_click_at",
    "Click at a point of the visible page, in pixels from its top left.",
    {
      tabId,
      x: { type: "number", minimum: 0, description: "From the left" },
      y: { type: "number", minimum: 0, description: "From the top" },
      button: text("Which button of the mouse", { enum: ["left", "right", "middle"], default: "left" }),
      clickCount: whole("2 for a double click", { minimum: 1, maximum: 3, default: 1 }),
      dialog,
    },
    ["tabId", "x", "y"],
  ),
  tool(
    "chrome_type",
    "Type a text into a field, after what is there already.",
    { tabId, selector, text: text("What to type"), timeoutMs: timeout(5000) },
    ["tabId", "selector", "text"],
  ),
  tool(
    "chrome_fill",
    "Replace the content of a field, or choose the option of a list by its name.",
    { tabId, selector, text: text("The new content"), timeoutMs: timeout(5000) },
    ["tabId", "selector", "text"],
  ),
  tool(
    "chrome_evaluate",
    "Run JavaScript in a page and get its result as JSON.",
    {
      tabId,
      script: text("An expression, a function, or statements with return", { minLength: 1, maxLength: 50_000 }),
      timeoutMs: timeout(30_000),
    },
    ["tabId", "script"],
  ),
  tool(
    "chrome_wait_for",
    "Wait until an element is in a state, or until a download is complete.",
    {
      tabId,
      selector,
      state: text("The state to wait for; download needs no selector", {
        enum: ["attached", "detached", "visible", "hidden", "download"],
        default: "visible",
      }),
      timeoutMs: timeout(30_000),
    },
    ["tabId"],
  ),
]
