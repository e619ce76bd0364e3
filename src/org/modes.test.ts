import { expect, test } from "vitest"
import { openTestStore } from "../store/testing/test-store.ts"
import { openTestApp, tool } from "../testing/test-app.ts"
import { agentModes, editsMs } from "./modes.ts"

const org = {
  people: [{ id: "pat" }],
  roles: [{ name: "worker", toolGroups: ["workspace", "test"] }],
  agents: [
    { id: "ada", role: "worker" },
    { id: "bob", role: "worker" },
    { id: "below", role: "worker", parent: "ada" },
  ],
}

async function house() {
  const app = await openTestApp({ org } as never, { workspace: (await openTestApp()).dir })
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const decide = async (agentId: string, sessionId: string, name = "write_file") => {
    const input = name === "write_file" ? { path: "a.txt", content: "" } : {}
    return (await app.why({ agentId, tool: name, input, sessionId })).verdict
  }
  return { app, decide }
}

test("the mode edits of one agent is nobody else's, whatever session the other names", async () => {
  const { app, decide } = await house()
  await app.setMode({ agentId: "ada", sessionId: "s1", mode: "edits", by: "ann" })
  expect(await decide("ada", "s1")).toBe("allow")
  expect(await decide("bob", "s1")).toBe("ask")
  expect(await decide("below", "s1")).toBe("ask")
  expect(await decide("ada", "s2")).toBe("ask")
})

test("the mode plan of an agent holds in all its sessions and for its sub-agents, until it is ended", async () => {
  const { app, decide } = await house()
  await app.setMode({ agentId: "ada", sessionId: "s1", mode: "edits", by: "ann" })
  await app.setMode({ agentId: "ada", sessionId: "s1", mode: "plan", by: "ann" })
  for (const session of ["s1", "s2"]) {
    expect(await decide("ada", session, "send")).toBe("deny")
    expect(await decide("below", session, "send")).toBe("deny")
    expect(await decide("bob", session, "send")).toBe("ask")
  }
  await expect(app.setMode({ agentId: "below", sessionId: "s1", mode: "edits", by: "ann" })).rejects.toMatchObject({
    code: "plan_in_force",
    message: expect.stringContaining("qm mode ask --agent ada") as string,
  })
  expect(app.modes()).toMatchObject([{ mode: "plan", agentId: "ada", by: "ann" }])
  await app.setMode({ agentId: "ada", mode: "ask", by: "ann" })
  expect(await decide("below", "s2", "send")).toBe("ask")
  // Permissions from before the plan do not come back.
  expect([await decide("ada", "s1"), app.modes()]).toEqual(["ask", []])
})

test.each([
  ["sets edits in a conversation of others", "edits", "theirs", "mode_not_yours"],
  ["sets edits in a session that is no conversation", "edits", "s1", "mode_not_yours"],
  ["sets edits in their own conversation", "edits", "own", undefined],
  ["begins a plan", "plan", "theirs", undefined],
] as const)("a person without manage %s", async (_what, mode, sessionId, code) => {
  const { modes } = await modesOf({ own: "pat", theirs: "eve" })
  const set = modes.setMode({ agentId: "ada", sessionId, mode, by: "pat", scopes: ["read", "approve"] })
  if (code === undefined) await set
  else await expect(set).rejects.toMatchObject({ code })
})

test.each([
  ["theirs", "mode_not_yours"],
  [undefined, "mode_not_yours"],
  ["own", undefined],
] as const)("who may not manage ends a plan that was begun in %s: %s", async (sessionId, code) => {
  const { modes } = await modesOf({ own: "pat", theirs: "eve" })
  await modes.setMode({ agentId: "ada", sessionId, mode: "plan", by: "ann" })
  const end = (session?: string) =>
    modes.setMode({ agentId: "ada", sessionId: session, mode: "ask", by: "pat", scopes: ["approve"] })
  if (code === undefined) return end()
  await expect(end()).rejects.toMatchObject({ code })
  // The session that counts is where the plan was begun, not the one that the request names.
  await expect(end("own")).rejects.toMatchObject({ code })
  // Setting it again, there, does not make it one's own.
  await modes.setMode({ agentId: "ada", sessionId: "own", mode: "plan", by: "pat", scopes: ["approve"] })
  await expect(end("own")).rejects.toMatchObject({ code })
})

test("the mode edits ends after 8 hours, with its session and with its agent, and a plan does not", async () => {
  const { modes, after, documents } = await modesOf({})
  const edits = (agentId: string, sessionId: string) => modes.setMode({ agentId, sessionId, mode: "edits", by: "ann" })
  for (const session of ["s1", "s2", "s3"]) await edits("ada", session)
  await modes.setMode({ agentId: "bob", mode: "plan", by: "ann" })
  await modes.endSession("s1")
  expect(modes.modes().map(({ sessionId }) => sessionId)).toEqual(["s2", "s3", undefined])
  after(editsMs - 1)
  expect(modes.modeOf(who("ada"), "s2")).toBe("edits")
  await edits("ada", "s3")
  after(1)
  expect([modes.modeOf(who("ada"), "s2"), modes.modeOf(who("ada"), "s3")]).toEqual(["ask", "edits"])
  await modes.endOldModes()
  expect(documents.get("mode", '["ada","s2"]')).toMatchObject({ live: false })
  await modes.endAgents(["ada", "bob"])
  after(100 * editsMs)
  await modes.endOldModes()
  expect(modes.modes()).toMatchObject([{ mode: "plan", agentId: "bob" }])
})

const who = (id: string) => ({ agent: { id }, ancestors: [] }) as never

/** Modes with a clock of the test, and conversations of ada by who began them. */
async function modesOf(startedBy: Record<string, string>) {
  const { documents } = await openTestStore()
  let now = 1_000_000
  const modes = agentModes(documents, {
    view: who,
    conversations: {
      get: (id) => Promise.resolve(startedBy[id] && { id, agentId: "ada", startedBy: startedBy[id] }) as never,
    },
    personSince: () => undefined,
    waitForOthers: () => Promise.resolve(),
    now: () => now,
  })
  return { modes, documents, after: (ms: number) => (now += ms) }
}
