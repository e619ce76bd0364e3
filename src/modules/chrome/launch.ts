import type { ChildProcess } from "node:child_process"
import { createRequire } from "node:module"
import type { BrowserContext } from "playwright-core"
import type { BrowserFolder } from "./browser-folder.ts"
import { findChromium } from "./find-chromium.ts"
import { firstLine, refusal } from "./refusal.ts"
import type { ChromeSettings } from "./settings.ts"

/** The arguments on the browser's looks that models may set. Others could lead around the proxy or run programs. */
const allowedArguments = [
  "--window-size",
  "--lang",
  "--user-agent",
  "--force-dark-mode",
  "--force-device-scale-factor",
  "--hide-scrollbars",
  "--mute-audio",
  "--disable-gpu",
  "--headless",
  "--incognito",
]

/** No traffic but through the proxy: no UDP of WebRTC or QUIC, and no names looked up. */
const closedArguments = [
  "--disable-quic",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-background-networking",
  "--dns-prefetch-disable",
  // The browser itself asks Google for accounts and updates; it does not connect to this port.
  "--gaia-url=http://127.0.0.1:1",
  "--component-updater=url-source=http://127.0.0.1:1",
  "--no-pings",
]

/** A browser, and the process that drives it. */
export interface Launched {
  readonly context: BrowserContext
  stop(): void
  onExit(ended: () => void): void
}

/** Starts the machine's Chromium with a new profile behind the proxy. */
export async function launchChromium(
  folder: BrowserFolder,
  proxyPort: number,
  given: readonly string[],
  settings: ChromeSettings,
): Promise<Launched> {
  const refused = given.find((argument) => !allowedArguments.includes(argument.split("=")[0]!))
  if (refused !== undefined) {
    throw refusal(
      "argument_refused",
      `The argument ${refused} is not accepted. Leave it out; accepted are ${allowedArguments.join(", ")}.`,
    )
  }
  const executablePath = findChromium(settings.executablePath)
  const { chromium, stop, onExit } = await startDriver()
  const windowSize = given.map((argument) => /^--window-size=(\d{2,4}),(\d{2,4})$/.exec(argument)).find(Boolean)
  const viewport =
    windowSize == null ? settings.viewport : { width: Number(windowSize[1]), height: Number(windowSize[2]) }
  try {
    const context = await chromium.launchPersistentContext(folder.profile, {
      executablePath,
      headless: settings.headless,
      chromiumSandbox: settings.sandbox,
      viewport,
      acceptDownloads: settings.downloads !== false,
      downloadsPath: folder.downloads,
      proxy: { server: `socks5://127.0.0.1:${proxyPort}`, bypass: "<-loopback>" },
      args: [...closedArguments, ...given.filter((argument) => !argument.startsWith("--headless")), ...settings.args],
      // With it every script opens windows without a click.
      ignoreDefaultArgs: ["--disable-popup-blocking"],
      env: environment(folder),
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: 30_000,
    })
    return { context, stop, onExit }
  } catch (error) {
    stop()
    throw refusal("launch_failed", launchSentence(error, executablePath))
  }
}

/**
 * Starts Playwright in a process of its own. What a page sends to it has no limit: a text of 600 MB on the page's console ends
 * the process that reads it.
 */
async function startDriver(): Promise<Pick<Launched, "stop" | "onExit"> & Pick<Playwright, "chromium">> {
  const { playwright, stop } = await loadPlaywright().start()
  const { driverProcess } = playwright
  // It prints why it ended, which is nothing that a person at our terminal can use.
  driverProcess.stderr?.removeAllListeners("data").resume()
  return {
    chromium: playwright.chromium,
    stop: () => void stop().catch(() => {}),
    onExit: (ended) => void driverProcess.once("exit", ended),
  }
}

type Playwright = typeof import("playwright-core")

/** The interface for the bindings of other languages. It has no types of its own. */
interface OutOfProcess {
  start(): Promise<{ playwright: Playwright & { driverProcess: ChildProcess }; stop(): Promise<void> }>
}

function loadPlaywright(): OutOfProcess {
  try {
    const load = createRequire(import.meta.url)
    return (load("playwright-core/lib/coreBundle") as { oop: OutOfProcess }).oop
  } catch {
    throw refusal(
      "playwright_missing",
      "The chrome module needs the package playwright-core. A person installs it: npm install playwright-core@1.65.0",
    )
  }
}

/** The browser gets no variables of ours beyond what it needs, and its own folder as home. */
function environment({ profile }: BrowserFolder): Record<string, string> {
  const needed = ["PATH", "LANG", "LC_ALL", "TZ", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"]
  const windows = ["SystemRoot", "TEMP", "TMP", "ProgramFiles", "LOCALAPPDATA"]
  const kept = [...needed, ...windows].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(kept), HOME: profile }
}

function launchSentence(error: unknown, path: string): string {
  const text = error instanceof Error ? error.message : String(error)
  if (/no usable sandbox|sandbox_host_linux|SUID sandbox/i.test(text)) {
    return `${path} cannot use its sandbox on this machine. A person allows user namespaces, or sets 'sandbox: false' for modules.chrome.`
  }
  if (/missing X server|\$DISPLAY/i.test(text)) {
    return `${path} has no display to show its window. A person sets 'headless: true' for modules.chrome.`
  }
  return `${path} could not be started: ${firstLine(error)}`
}
