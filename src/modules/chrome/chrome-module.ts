import type { Files } from "../../platform/files/file-access.ts"
import type { ModuleRuntime } from "../../platform/module-runtime.ts"
import type { ToolContext } from "../../core/tool.ts"
import type { Action } from "./action.ts"
import { click, clickAt, fill, type, typesSecret } from "./act-on-page.ts"
import { openBrowsers, type Browsers } from "./browsers.ts"
import { definitions } from "./definitions.ts"
import { close, closeTab, launch, listTabs, navigate, newTab } from "./manage-tabs.ts"
import { getText, getUrl, screenshot, snapshot } from "./read-page.ts"
import { Refusal } from "./refusal.ts"
import { evaluate } from "./run-script.ts"
import { readSettings, type ChromeSettings } from "./settings.ts"
import { waitFor } from "./wait-for.ts"
import { fullUrl, touchesOf } from "./web-url.ts"

const actions: Readonly<Record<string, Action<never>>> = {
  chrome_launch: launch,
  chrome_close: close,
  chrome_new_tab: newTab,
  chrome_close_tab: closeTab,
  chrome_list_tabs: listTabs,
  chrome_navigate: navigate,
  chrome_get_url: getUrl,
  chrome_screenshot: screenshot,
  chrome_get_text: getText,
  chrome_snapshot: snapshot,
  chrome_click: click,
  chrome_click_at: clickAt,
  chrome_type: type,
  chrome_fill: fill,
  chrome_evaluate: evaluate,
  chrome_wait_for: waitFor,
}

/** Opens the named page: its address is what the call touches. All other tools touch the page that is in their tab. */
const loading = ["chrome_navigate", "chrome_new_tab"]
const typing = ["chrome_type", "chrome_fill"]
/** Longer than the longest `timeoutMs` that a call can ask for. */
const longestMs = 320_000

interface Given {
  readonly tabId?: string
  readonly url?: string
  readonly selector?: string
}

/**
 * The chrome module: a browser for agents. It uses the module interface only, so that it can be copied as an example:
 * definitions, options, one function for all calls, `init` and `shutdown`.
 */
export function chromeModule() {
  let open: { browsers: Browsers; settings: ChromeSettings; runtime: ModuleRuntime } | undefined

  function optionsOf(name: string) {
    return {
      effect: "network" as const,
      permission: { level: name === "chrome_evaluate" ? ("sensitive" as const) : ("moderate" as const) },
      timeoutMs: longestMs,
      touches({ tabId, url }: Given) {
        if (!loading.includes(name)) {
          const touched = touchesOf(open?.browsers.anyTab(tabId ?? "")?.page.url())
          return name === "chrome_evaluate" ? touched.map((touch) => ({ ...touch, script: true })) : touched
        }
        return url === undefined || url.trim() === "about:blank" ? [] : [{ kind: "host" as const, what: fullUrl(url) }]
      },
      ...(typing.includes(name) ? { secretFields } : {}),
    }
  }

  /** Keeps text that is typed into a password field out of all records. */
  async function secretFields({ tabId = "", selector = "" }: Given): Promise<string[]> {
    const tab = open?.browsers.anyTab(tabId)
    return tab === undefined || (await typesSecret(tab, selector)) ? ["text"] : []
  }

  return {
    name: "chrome",
    version: "1.0.0",
    toolGroupId: "chrome",
    toolGroupDescription: { en: "Chrome browser control tools", zh: "Chrome 浏览器控制工具" },
    toolOptions: Object.fromEntries(Object.keys(actions).map((name) => [name, optionsOf(name)])),

    init(runtime: ModuleRuntime, config: unknown) {
      const settings = readSettings(config)
      open = { runtime, settings, browsers: openBrowsers(runtime, settings) }
    },

    getToolDefinitions: () => definitions,

    /** Never throws for what is expected: a failure is a value with a code and a sentence for the model. */
    async executeToolCall(context: ToolContext, toolName: string, input: unknown) {
      const action = actions[toolName]
      if (action === undefined || open === undefined)
        return { error: "unknown_tool", message: `There is no tool ${toolName}.` }
      const files: Files = open.runtime.files(context)
      try {
        return await action(input as never, { ...open, files, context })
      } catch (error) {
        if (error instanceof Refusal) return { error: error.code, message: error.message, ...error.details }
        throw error
      }
    },

    async shutdown() {
      await open?.browsers.closeAll()
      open = undefined
    },
  }
}
