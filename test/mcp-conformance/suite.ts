import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createServer, request, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished, test } from "vitest"
import { parse } from "yaml"
import { temporaryFolder } from "../../src/testing/test-app.ts"

const packages = fileURLToPath(new URL("../../.ci/mcp/node_modules/@modelcontextprotocol/", import.meta.url))
const isInstalled = existsSync(join(packages, "conformance"))
const install = "npm ci --prefix .ci/mcp --ignore-scripts"
if (!isInstalled)
  console.warn(`Third-party programs are not tested, because they are not installed. Install them with: ${install}`)

/** A test that needs third-party programs. Without them it is skipped; in CI it fails. */
export function testWithThirdParty(title: string, run: () => Promise<void>): void {
  test.runIf(isInstalled || process.env["CI"] !== undefined)(title, async () => {
    if (!isInstalled) throw new Error(`This test must run in CI, but the programs are not installed. Run: ${install}`)
    await run()
  })
}

/** A file of one of the packages in .ci/mcp. */
export function packageFile(...path: string[]): string {
  return join(packages, ...path)
}

/** Our own server with everything that the suite tests. */
export const fixture = fileURLToPath(new URL("fixture/server.mjs", import.meta.url))

export const revisions = ["2025-11-25", "2026-07-28"] as const
export type Revision = (typeof revisions)[number]

export interface Check {
  id: string
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  errorMessage?: string
}

/** The checks of each scenario that is scored for the revision, and of the others. */
export interface SuiteResults {
  scored: Record<string, Check[]>
  notScored: Record<string, Check[]>
}

/** Runs all server scenarios against a URL. */
export async function runServerSuite(url: string, revision: Revision): Promise<SuiteResults> {
  const folder = temporaryFolder()
  await runSuite(folder, ["server", "--url", url, "--requirements", revision])
  return resultsIn(folder, "server", revision)
}

/**
 * Runs all client scenarios with the client that a command starts. The suite would start all of them at once, each with
 * a time limit, so two are run at a time here. A client that exits with an error has failed.
 */
export async function runClientSuite(command: string, revision: Revision): Promise<SuiteResults> {
  const folder = temporaryFolder()
  const { scored, notScored } = scenariosOf("client", revision)
  const waiting = [...scored, ...notScored]
  const verdicts = new Map<string, Check>()
  const runNext = async (): Promise<void> => {
    const scenario = waiting.shift()
    if (scenario === undefined) return
    const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision, "--force"]
    const { code, output } = await runSuite(folder, args)
    const verdict = { id: "verdict of the suite", errorMessage: output.slice(-2000) }
    verdicts.set(scenario, { ...verdict, status: code === 0 ? "SUCCESS" : "FAILURE" })
    return runNext()
  }
  await Promise.all([runNext(), runNext()])
  const results = resultsIn(folder, "client", revision)
  for (const checksByScenario of [results.scored, results.notScored]) {
    // A scenario without checks did not run, and is reported as such.
    for (const [scenario, checks] of Object.entries(checksByScenario))
      if (checks.length > 0) checks.push(verdicts.get(scenario)!)
  }
  return results
}

async function runSuite(folder: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const hook = fileURLToPath(new URL("glob-sync.mjs", import.meta.url))
  const suite = packageFile("conformance/dist/index.js")
  const child = spawn(process.execPath, ["--import", hook, suite, ...args, "-o", folder], { cwd: folder })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve))
  return { code, output }
}

/** The scenarios with failed checks, each with the suite's messages, and those that did not run. */
export function failures(checks: Record<string, Check[]>): Record<string, string[]> {
  const failed = Object.entries(checks).map(([scenario, found]) => {
    const bad = found.filter(({ status }) => status === "FAILURE").map(sentenceOf)
    return [scenario, found.length === 0 ? ["It did not run."] : bad] as const
  })
  return Object.fromEntries(failed.filter(([, sentences]) => sentences.length > 0))
}

/** The suite's warnings. */
export function warnings(checks: Record<string, Check[]>): string[] {
  return Object.values(checks).flatMap((found) => found.filter(({ status }) => status === "WARNING").map(sentenceOf))
}

function sentenceOf({ id, errorMessage }: Check): string {
  return `${id}: ${errorMessage ?? "no message"}`
}

/** The scenarios that are scored for a revision, and those that are not, from the suite's own list. */
function scenariosOf(leg: "server" | "client", revision: Revision): { scored: string[]; notScored: string[] } {
  const required = parse(readFileSync(packageFile("conformance/requirements", `${revision}.yaml`), "utf8")) as {
    server: string[]
    client: string[]
    not_scored: { scenario: string; leg: string }[]
  }
  const others = required.not_scored.filter((entry) => entry.leg === leg)
  return { scored: required[leg], notScored: others.map(({ scenario }) => scenario) }
}

/** The suite writes a folder for each scenario, named by leg, scenario and time. */
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

/** Starts our fixture over HTTP, without an app in front of it. */
export async function startFixture(): Promise<string> {
  const child = spawn(process.execPath, [fixture, "--http"], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", (line: string) => resolve(line.trim()))
    child.on("error", reject).on("exit", (code) => reject(new Error(`The fixture ended with ${code}.`)))
  })
}

/** A proxy on loopback that adds a token to every request, because the suite cannot send one. */
export async function addTokenProxy(target: URL, token: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const headers = [...incoming.rawHeaders, "Authorization", `Bearer ${token}`]
    const { hostname, port, pathname } = target
    const forwarded = request({
      hostname,
      port,
      path: pathname,
      method: incoming.method ?? "POST",
      headers,
      setHost: false,
    })
    forwarded.on("response", (response: IncomingMessage) => {
      outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders)
      response.pipe(outgoing)
    })
    forwarded.on("error", () => outgoing.destroy())
    outgoing.on("close", () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`
}
