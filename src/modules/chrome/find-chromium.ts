import { accessSync, constants, statSync } from "node:fs"
import { delimiter, join } from "node:path"
import { refusal } from "./refusal.ts"

const variables = ["CHROME_PATH", "CHROMIUM_PATH", "PUPPETEER_EXECUTABLE_PATH"]
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
const usualPlaces: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ],
  win32: [
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
  ],
}

/** The machine's Chromium or Chrome: the configured one, else that of a variable, else the first on the PATH. */
export function findChromium(configured: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const named = configured === undefined ? undefined : { path: configured, by: "modules.chrome.executablePath" }
  const fromVariable = variables.map((name) => ({ path: env[name] ?? "", by: name })).find(({ path }) => path !== "")
  const given = named ?? fromVariable
  if (given !== undefined) {
    if (isProgram(given.path)) return given.path
    throw refusal("browser_not_installed", `${given.by} names ${given.path}, which is no program. Correct it.`)
  }
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "")
  const places = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  const found = [...places, ...(usualPlaces[process.platform] ?? [])].find(isProgram)
  if (found !== undefined) return found
  throw refusal(
    "browser_not_installed",
    "There is no Chromium or Chrome on this machine. A person installs one, on Debian or Ubuntu with 'apt-get install chromium', or names it in modules.chrome.executablePath or CHROME_PATH.",
  )
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
