import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { openTestApp, temporaryFolder, until } from "../../testing/test-app.ts"
import { hasChromium, openChrome } from "./testing.ts"
import { endLeftBrowsers, makeBrowserFolder } from "./browser-folder.ts"

const running = (folder: string) =>
  execFileSync("ps", ["-eo", "args="], { encoding: "utf8", maxBuffer: 1 << 26 }).includes(folder)

describe.skipIf(!hasChromium)("the life of a browser", () => {
  test("it ends when it is idle, when the module is unloaded, and its folder with it", async () => {
    const chrome = await openChrome({ idleMinutes: 0.005 })
    onTestFinished(() => chrome.close())
    const folder = join(chrome.dir, "modules", "chrome")
    const { browserId } = await chrome.ok("chrome_launch", {})
    await until(() => readdirSync(folder).length === 0, "the idle browser was closed")
    expect(running(folder)).toBe(false)
    const gone = await chrome.call("chrome_new_tab", { browserId })
    expect(gone).toMatchObject({ metadata: { toolCode: "browser_not_found" } })
    await chrome.ok("chrome_launch", {})
    await chrome.app.plugins.manager.unloadPlugin("chrome")
    expect([readdirSync(folder), running(folder)]).toEqual([[], false])
  })

  test("when the process that drives it ends, the browser is gone and everything else goes on", async () => {
    const chrome = await openChrome()
    onTestFinished(() => chrome.close())
    const { browserId } = await chrome.ok("chrome_launch", {})
    const lines = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8", maxBuffer: 1 << 26 }).split("\n")
    const drivers = lines.map((line) => line.trim().split(/\s+/)).filter((words) => words.includes("run-driver"))
    const own = drivers.filter(([, parent]) => Number(parent) === process.pid)
    expect(own).toHaveLength(1)
    process.kill(Number(own[0]![0]), "SIGKILL")
    const folder = join(chrome.dir, "modules", "chrome")
    await until(() => readdirSync(folder).length === 0, "the browser was tidied up")
    const gone = await chrome.call("chrome_new_tab", { browserId })
    expect(gone).toMatchObject({ metadata: { toolCode: "browser_not_found" } })
    await chrome.ok("chrome_launch", {})
  })

  test("the built command line starts one too", () => {
    const folder = temporaryFolder()
    writeFileSync(
      join(folder, "quartermaster.yml"),
      "modules: [chrome]\nrules: [{ allow: chrome_launch, because: A test. }]\n",
    )
    const env = { PATH: process.env["PATH"], HOME: folder }
    const run = (...words: string[]) =>
      execFileSync(process.execPath, [join(process.cwd(), "dist/qm.js"), ...words], {
        cwd: folder,
        env,
        encoding: "utf8",
      })
    run("trust", "--yes")
    expect(run("call", "chrome_launch")).toContain("browserId")
  })
})

test("a browser that a killed process left is ended at the next start, and one that is in use is not", async () => {
  const dir = temporaryFolder()
  const folder = join(dir, "modules", "chrome")
  const left = join(folder, "browser-left")
  mkdirSync(join(left, "profile"), { recursive: true })
  writeFileSync(join(left, "launched-by.json"), JSON.stringify({ pid: 4_000_000, born: "1" }))
  // It stands for the browser: any process with that profile in its command line.
  const wait = "setInterval(() => {}, 1000)"
  const stand = spawn(process.execPath, ["-e", wait, "--", `--user-data-dir=${join(left, "profile")}`], {
    stdio: "ignore",
  })
  onTestFinished(() => void stand.kill("SIGKILL"))
  const ended = new Promise((resolve) => stand.once("exit", (_code, signal) => resolve(signal)))
  const used = makeBrowserFolder(folder, "browser-used")
  await until(() => running(join(left, "profile")), "the process was seen")
  await openTestApp({ data: { dir }, modules: ["chrome"] }, { home: temporaryFolder() })
  expect(await ended).toBe("SIGKILL")
  expect([existsSync(left), existsSync(used.profile)]).toEqual([false, true])
  expect(endLeftBrowsers(folder)).toBe(0)
})
