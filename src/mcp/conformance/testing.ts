import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createServer, request, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished, test } from "vitest"
import { parse } from "yaml"
import { temporaryFolder } from "../../testing/open.ts"

const packages = fileURLToPath(new URL("../../../.ci/mcp/node_modules/@modelcontextprotocol/", import.meta.url))
const isInstalled = existsSync(join(packages, "conformance"))
const install = "npm ci --prefix .ci/mcp --ignore-scripts"
if (!isInstalled)
  console.warn(`Programs of others are not tested: they are not installed. Install them with: ${install}`)

/** A test that needs programs nobody here wrote. Without them it is skipped; in CI it fails. */
export function testWithOthers(title: string, run: () => Promise<void>): void {
  test.runIf(isInstalled || process.env["CI"] !== undefined)(title, async () => {
    if (!isInstalled) throw new Error(`In CI this must be tested, and the programs are not installed. Run: ${install}`)
    await run()
  })
}

/** A file of one of the packages in .ci/mcp. */
export function packageFile(...path: string[]): string {
  return join(packages, ...path)
}

/** Our own server with everything the suite looks for. */
export const fixture = fileURLToPath(new URL("fixture/server.mjs", import.meta.url))

export const revisions = ["2025-11-25", "2026-07-28"] as const
export type Revision = (typeof revisions)[number]

export interface Check {
  id: string
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  errorMessage?: string
}

/** What came of the suite: the checks of each scenario that counts for the revision, and of the others. */
export interface SuiteResults {
  scored: Record<string, Check[]>
  notScored: Record<string, Check[]>
}

/** Runs all scenarios for servers against the one at a URL. */
export async function runServerSuite(url: string, revision: Revision): Promise<SuiteResults> {
  const folder = temporaryFolder()
  await runSuite(folder, ["server", "--url", url, "--requirements", revision])
  return resultsIn(folder, "server", revision)
}

/**
 * Runs all scenarios for clients against the one that a command starts. The suite would start all of them at once, each
 * with a limit of time, so here they are run two by two. A client that ends badly has failed, whatever it did before.
 */
export async function runClientSuite(command: string, revision: Revision): Promise<SuiteResults> {
  const folder = temporaryFolder()
  const { scored, notScored } = scenariosOf("client", revision)
  const waiting = [...scored, ...notScored]
  const verdicts = new Map<string, Check>()
  const runNext = async (): Promise<void> => {
    const scenario = waiting.shift()
    if (scenario === undefined) return
    const words = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision, "--force"]
    const { code, output } = await runSuite(folder, words)
    const verdict = { id: "verdict of the suite", errorMessage: output.slice(-2000) }
    verdicts.set(scenario, { ...verdict, status: code === 0 ? "SUCCESS" : "FAILURE" })
    return runNext()
  }
  await Promise.all([runNext(), runNext()])
  const results = resultsIn(folder, "client", revision)
  for (const found of [results.scored, results.notScored]) {
    // What has no checks did not run, and that is what is to be said of it.
    for (const [scenario, checks] of Object.entries(found)) if (checks.length > 0) checks.push(verdicts.get(scenario)!)
  }
  return results
}

async function runSuite(folder: string, words: readonly string[]): Promise<{ code: number | null; output: string }> {
  const hook = fileURLToPath(new URL("glob-sync.mjs", import.meta.url))
  const suite = packageFile("conformance/dist/index.js")
  const child = spawn(process.execPath, ["--import", hook, suite, ...words, "-o", folder], { cwd: folder })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve))
  return { code, output }
}

/** The scenarios with a check that failed, each with what the suite says about it; and those that never ran. */
export function failures(checks: Record<string, Check[]>): Record<string, string[]> {
  const failed = Object.entries(checks).map(([scenario, found]) => {
    const bad = found.filter(({ status }) => status === "FAILURE").map(sentenceOf)
    return [scenario, found.length === 0 ? ["It did not run."] : bad] as const
  })
  return Object.fromEntries(failed.filter(([, sentences]) => sentences.length > 0))
}

/** What the suite would like to see and does not insist on. */
export function warnings(checks: Record<string, Check[]>): string[] {
  return Object.values(checks).flatMap((found) => found.filter(({ status }) => status === "WARNING").map(sentenceOf))
}

function sentenceOf({ id, errorMessage }: Check): string {
  return `${id}: ${errorMessage ?? "no word about why"}`
}

/** Which scenarios a revision demands, and which are run for interest; the suite's own list. */
function scenariosOf(leg: "server" | "client", revision: Revision): { scored: string[]; notScored: string[] } {
  const required = parse(readFileSync(packageFile("conformance/requirements", `${revision}.yaml`), "utf8")) as {
    server: string[]
    client: string[]
    not_scored: { scenario: string; leg: string }[]
  }
  const others = required.not_scored.filter((entry) => entry.leg === leg)
  return { scored: required[leg], notScored: others.map(({ scenario }) => scenario) }
}

/** The suite leaves a folder for each scenario, named by leg, scenario and time. */
function resultsIn(folder: string, leg: "server" | "client", revision: Revision): SuiteResults {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith("checks.json"),
  )
  const checksOf = (scenario: string) => {
    const begin = leg === "server" ? `server-${scenario}-` : `${scenario}-`
    const found = files.filter((file) => file.startsWith(begin) && /^\d{4}-/.test(file.slice(begin.length)))
    return [scenario, found.flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Check[])] as const
  }
  const { scored, notScored } = scenariosOf(leg, revision)
  return {
    scored: Object.fromEntries(scored.map(checksOf)),
    notScored: Object.fromEntries(notScored.map(checksOf)),
  }
}

/** Starts our fixture on HTTP, without a house before it. */
export async function startFixture(): Promise<string> {
  const child = spawn(process.execPath, [fixture, "--http"], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", (line: string) => resolve(line.trim()))
    child.on("error", reject).on("exit", (code) => reject(new Error(`The fixture ended with ${code}.`)))
  })
}

/** A door on the loopback that shows a token for those who cannot, and changes nothing else. */
export async function forward(to: URL, token: string): Promise<string> {
  const server = createServer((asked, answer) => {
    const headers = [...asked.rawHeaders, "Authorization", `Bearer ${token}`]
    const { hostname, port, pathname } = to
    const passed = request({ hostname, port, path: pathname, method: asked.method ?? "POST", headers, setHost: false })
    passed.on("response", (response: IncomingMessage) => {
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders)
      response.pipe(answer)
    })
    passed.on("error", () => answer.destroy())
    answer.on("close", () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${to.pathname}`
}
