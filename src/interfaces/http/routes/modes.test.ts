import { expect, test } from "vitest"
import { until } from "../../../testing/test-app.ts"
import { beginSession, serveAppForTest } from "../testing.ts"
import { serving } from "./testing.ts"

test("everybody who answers may begin a plan, only who manages ends it or sets edits, and all are listed", async () => {
  const { signIn } = await serving()
  const { ask: pat } = await signIn("pat", false)
  const { ask: manager } = await signIn("someone", true)
  const set = (who: typeof pat, mode: string) => who("POST", "/v1/agents/ada/mode", { mode, sessionId: "s1" })
  expect(await set(pat, "edits")).toMatchObject({ status: 403, body: { code: "mode_not_yours" } })
  expect(await set(pat, "plan")).toMatchObject({ status: 204 })
  expect((await pat("GET", "/v1/me")).body).toMatchObject({ modes: [{ mode: "plan", agentId: "ada", by: "pat" }] })
  expect(await set(pat, "ask")).toMatchObject({ status: 403, body: { code: "mode_not_yours" } })
  expect(await set(manager, "ask")).toMatchObject({ status: 204 })
  expect(await set(manager, "edits")).toMatchObject({ status: 204 })
  expect((await pat("GET", "/v1/me")).body).toMatchObject({ modes: [{ mode: "edits", sessionId: "s1" }] })
})

test("the mode edits of a client's session ends with the session", async () => {
  const { app, ask, token } = await serveAppForTest()
  const headers = await beginSession(ask, await token("root"))
  await app.setMode({ agentId: "root", sessionId: headers["mcp-session-id"], mode: "edits", by: "ann" })
  expect(app.modes()).toHaveLength(1)
  await ask({ method: "DELETE", headers })
  await until(() => app.modes().length === 0, "the mode ended")
})
