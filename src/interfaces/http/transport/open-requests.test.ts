import { expect, onTestFinished, test } from "vitest"
import { until } from "../../../testing/test-app.ts"
import { beginSession, headersFor, serveAppForTest, sessionHeaders } from "../testing.ts"

const org = {
  people: [{ id: "pat" }],
  roles: [{ name: "worker", toolGroups: ["system"] }],
  agents: [{ id: "ada", role: "worker" }, { id: "bob", role: "worker" }],
} // prettier-ignore

test.each(["a token", "a session", "an MCP client"])(
  "the open requests of %s are limited, and others still get in",
  async (who) => {
    const { app, served, ask, token } = await serveAppForTest({ org }, { limits: { requestsPerToken: 3 } })
    const [ada, bob] = [await token("ada"), await token("bob")]
    const mine: Record<string, string> =
      who === "a session" ? await sessionHeaders(app, "pat") : { authorization: `Bearer ${ada}` }
    const streams: AbortController[] = []
    onTestFinished(() => streams.forEach((stream) => stream.abort()))
    const open = async () => {
      const stream = new AbortController()
      streams.push(stream)
      const stands = who === "an MCP client" ? await beginSession(ask, ada) : mine
      const path = who === "an MCP client" ? "/mcp" : "/v1/events"
      const accept = { accept: "text/event-stream" }
      return (
        await fetch(`${served.url}${path}`, {
          headers: { ...(stands as typeof mine), ...accept },
          signal: stream.signal,
        })
      ).status
    }
    const me = async (headers: Record<string, string>) => (await fetch(`${served.url}/v1/me`, { headers })).status
    for (let count = 0; count < 3; count++) expect(await open()).toBe(200)
    const refused = await fetch(`${served.url}/v1/me`, { headers: mine })
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining("too many open requests") })
    if (who !== "a session") expect(await me({ authorization: `bEARER  ${ada} more` })).toBe(429)
    expect(await me(headersFor(bob) as Record<string, string>)).toBe(200)
    streams[0]!.abort()
    await until(async () => (await me(mine)) === 200, "there is room again")
  },
)
