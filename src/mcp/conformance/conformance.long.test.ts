import { fileURLToPath } from "node:url"
import { expect, onTestFinished } from "vitest"
import { serveHttp } from "../../http/serve.ts"
import { open } from "../../testing/open.ts"
import {
  failures,
  fixture,
  forward,
  revisions,
  runClientSuite,
  runServerSuite,
  startFixture,
  testWithOthers,
  warnings,
  type SuiteResults,
} from "./testing.ts"

/** The house before the fixture, with everything on: a token of a person, rules, limits, the record. */
async function startGateway() {
  const house = await open(
    {
      mcpServers: {
        fixture: {
          command: process.execPath,
          args: [fixture],
          prefix: false,
          sampling: "caller",
          roots: "caller",
        },
      },
      org: {
        people: [{ id: "ann" }],
        roles: [{ name: "caller", toolGroups: ["fixture"] }],
        agents: [{ id: "suite", role: "caller" }],
      },
      rules: [{ allow: "group:fixture", because: "The fixture is ours." }],
    },
    { version: "1.0.0" },
  )
  await house.mcp.ready()
  const { url, close } = await serveHttp(house, { port: 0, version: "1.0.0" })
  onTestFinished(close)
  const { token } = await house.tokens.create({ agentId: "suite", person: "ann" }, "ann")
  return { house, url: await forward(new URL("/mcp", url), token) }
}

for (const revision of revisions) {
  testWithOthers(
    `the fixture alone conforms to ${revision}, so that what fails behind the house is its own`,
    async () => {
      const { scored } = await runServerSuite(await startFixture(), revision)
      expect(failures(scored)).toEqual({})
      expect(warnings(scored)).toEqual([])
    },
  )

  testWithOthers(`a server behind the house conforms to ${revision} as well as alone`, async () => {
    const { house, url } = await startGateway()
    const { scored, notScored } = await runServerSuite(url, revision)
    tell(revision, warnings(scored), notScored)
    expect(failures(scored)).toEqual({})
    await house.settle()
    expect(await house.audit.verify()).toMatchObject({ ok: true })
    expect((await house.audit.stats()).total).toBeGreaterThan(10)
  })

  testWithOthers(`the house itself, as the client of the suite's servers, conforms to ${revision}`, async () => {
    const script = fileURLToPath(new URL("client.mjs", import.meta.url))
    const { scored, notScored } = await runClientSuite(`${process.execPath} ${script}`, revision)
    tell(revision, warnings(scored), notScored)
    expect(failures(scored)).toEqual({})
    expect(warnings(scored)).toEqual([])
  })
}

/** What counts for nothing and is good to know. */
function tell(revision: string, liked: readonly string[], notScored: SuiteResults["notScored"]): void {
  const failed = Object.keys(failures(notScored)).join(", ") || "nothing"
  console.info([`${revision}: of what is not scored ${failed} failed.`, ...liked].join("\n  "))
}
