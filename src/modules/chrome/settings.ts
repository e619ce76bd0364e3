/** The module's configuration: `modules: { chrome: { … } }`. */
export interface ChromeSettings {
  /** The program to start. Default: found by environment variable or on the PATH. */
  readonly executablePath?: string
  /** More arguments for the program. */
  readonly args: readonly string[]
  readonly headless: boolean
  /** Chrome's own sandbox. It cannot be used as root. */
  readonly sandbox: boolean
  readonly viewport: { readonly width: number; readonly height: number }
  /** Limit of browsers that run at once, of all agents together. */
  readonly maxBrowsers: number
  /** Limit of tabs of one browser. Further ones are closed. */
  readonly maxTabs: number
  /** A browser that was not used for this long is closed. */
  readonly idleMinutes: number
  /** The folder in the workspace for downloads; false: nothing is downloaded. */
  readonly downloads: string | false
  readonly maxDownloadMb: number
  /** The hosts for pages: every public https host, or only hosts that a line allows or a call was decided on. */
  readonly reach: "public" | "listed"
}

const isRoot = () => process.getuid?.() === 0
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) > 0
const isPositive = (value: unknown) => typeof value === "number" && value > 0
const isText = (value: unknown) => typeof value === "string" && value !== ""
const isSize = (value: unknown) =>
  typeof value === "object" && value !== null && "width" in value && "height" in value && [value.width, value.height].every(isCount) // prettier-ignore

const fields: Readonly<Record<keyof ChromeSettings, { expects: string; fits(value: unknown): boolean }>> = {
  executablePath: { expects: "the path of Chromium or Chrome", fits: isText },
  args: { expects: "a list of texts", fits: (value) => Array.isArray(value) && value.every(isText) },
  headless: { expects: "true or false", fits: (value) => typeof value === "boolean" },
  sandbox: { expects: "true or false", fits: (value) => typeof value === "boolean" },
  viewport: { expects: "{ width, height } in pixels", fits: isSize },
  maxBrowsers: { expects: "a whole number", fits: isCount },
  maxTabs: { expects: "a whole number", fits: isCount },
  idleMinutes: { expects: "a number of minutes", fits: isPositive },
  downloads: { expects: "a folder in the workspace, or false", fits: (value) => value === false || isText(value) },
  maxDownloadMb: { expects: "a number of megabytes", fits: isPositive },
  reach: { expects: "public or listed", fits: (value) => value === "public" || value === "listed" },
}

/** The settings with their defaults. Throws a sentence that names every mistake. */
export function readSettings(given: unknown): ChromeSettings {
  const written = (given ?? {}) as Readonly<Record<string, unknown>>
  const mistakes = Object.entries(written).flatMap(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name as keyof ChromeSettings] : undefined
    if (field === undefined) return [`there is no setting '${name}' (there are: ${Object.keys(fields).join(", ")})`]
    return field.fits(value) ? [] : [`'${name}' must be ${field.expects}`]
  })
  if (mistakes.length > 0) throw new Error(`The settings of chrome are wrong: ${mistakes.join("; ")}.`)
  return {
    args: [],
    headless: true,
    sandbox: !isRoot(),
    viewport: { width: 1280, height: 720 },
    maxBrowsers: 4,
    maxTabs: 20,
    idleMinutes: 10,
    downloads: "downloads",
    maxDownloadMb: 100,
    reach: "public",
    ...written,
  }
}
