import { existsSync } from "node:fs"
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core"
import { expect, onTestFinished } from "vitest"
import { serveHttp } from "../../src/interfaces/http/serve.ts"
import type { AppOptions } from "../../src/app/app-options.ts"
import type { Config } from "../../src/config/schema.ts"
import { sampleMaker } from "../../src/org/sample.ts"
import { openTestApp, temporaryFolder } from "../../src/testing/test-app.ts"

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync)

/** Tests that need a browser are skipped where there is none. In CI that is a failure. */
export const hasBrowser = executablePath !== undefined

let launched: Promise<Browser> | undefined

function browser(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox", "--disable-gpu"] })
  return launched
}

export async function closeBrowser(): Promise<void> {
  await (await launched)?.close()
  launched = undefined
}

const organisation: Config = {
  org: {
    people: [
      { id: "pat", name: "Pat Lee", roles: ["lead"] },
      { id: "sue", name: "Sue Ito", roles: ["lead"] },
    ],
    roles: [{ name: "developer", toolGroups: ["workspace", "command", "interaction", "data", "test"] }],
    agents: [{ id: "dev", role: "developer" }],
  },
}

/** A served app with its built console, and browsers that are signed in to it. */
export async function openConsole(config: Config = {}, options: Pick<AppOptions, "models"> = {}) {
  const workspace = temporaryFolder()
  const app = await openTestApp({ ...organisation, ...config }, { ...options, workspace })
  const isSample = () =>
    app.org.listRoles().some(({ createdBy, status }) => createdBy === sampleMaker && status === "active")
  let served = await serveHttp(app, { port: 0, version: "1.2.3", workspace, isSample })
  onTestFinished(() => served.close())
  const { port } = served
  return {
    app,
    url: served.url,
    workspace,
    /** Stops the server, as if its process had ended, and starts it again at the same address. */
    async restart(whileDown: () => Promise<void> = async () => {}) {
      await served.close()
      await whileDown()
      served = await serveHttp(app, { port, version: "1.2.3", workspace })
    },
    async signIn(person = "pat", options: BrowserContextOptions = {}) {
      const { link } = await app.signIn.createLink({ person, isMachineUser: person === "me" })
      return signInWith(`${served.url}/signin#${link}`, options)
    },
    /** A phone that has never been here: no cookie, and no script runs. */
    async phone(options: BrowserContextOptions = {}) {
      const viewport = { width: 390, height: 844 }
      const context = await (
        await browser()
      ).newContext({ viewport, deviceScaleFactor: 2, hasTouch: true, javaScriptEnabled: false, ...options })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      return { page, context, problems: watch(page) }
    },
    /** A browser that nobody has signed in to. */
    async stranger(options: BrowserContextOptions = {}) {
      const context = await (await browser()).newContext({ viewport: { width: 1440, height: 900 }, ...options })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      return { page, context, problems: watch(page) }
    },
    /** A link that answers what waits. */
    async linkTo(callId: string, person = "pat") {
      const { kind, revision } = (await app.approvals.show(callId))!
      const target = { callId, kind, revision, person, isMachineUser: false }
      return `${served.url}/answer/${(await app.answerLinks.create(target, person)).secret}`
    },
    submit: (tool: string, input: unknown, more = {}) =>
      app.call({ agentId: "dev", tool, input, ...more }, { waitMs: 0 }),
  }
}

/** A new browser that signs in with a link. */
export async function signInWith(link: string, options: BrowserContextOptions = {}) {
  const context = await (await browser()).newContext({ viewport: { width: 1440, height: 900 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const problems = watch(page)
  await page.goto(link)
  await page.getByRole("button", { name: /Sign in|登录/ }).click()
  await page.waitForURL((address) => !address.pathname.startsWith("/signin"))
  return { page, context, problems }
}

/** What the browser complains about: errors of scripts, and violations of the content security policy. */
function watch(page: Page): string[] {
  const problems: string[] = []
  page.on("pageerror", (error) => problems.push(error.message))
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource|ERR_CONNECTION/.test(message.text()))
      problems.push(message.text())
  })
  return problems
}

/** Runs a script in the page at the very moment when something matches the selector, however slow the machine is. */
export async function atTheMoment(page: Page, selector: string, script: string): Promise<void> {
  await page.evaluate(`{
    const watcher = new MutationObserver(() => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) return
      watcher.disconnect()
      ${script}
    })
    watcher.observe(document.body, { subtree: true, childList: true, attributes: true })
  }`)
}

/** Whether no answer was sent since the page was opened: a request that would have been sent before has been seen by now. */
export function watchAnswers(page: Page): { none(): Promise<boolean> } {
  let sent = 0
  page.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith("/answer")) sent++
  })
  return {
    async none() {
      await page.evaluate("fetch('/healthz').then((answer) => answer.text())")
      return sent === 0
    },
  }
}

/** The keys of a card sleep for 600 milliseconds after it appeared. */
export async function wakeUp(page: Page): Promise<void> {
  await page.waitForTimeout(700)
}

export async function expectGone(page: Page, callId: string): Promise<void> {
  await expect
    .poll(() => page.locator(`a[data-call="${callId}"]:not([data-gone])`).count(), { timeout: 10_000 })
    .toBe(0)
}
