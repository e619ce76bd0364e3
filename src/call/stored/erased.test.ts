import { expect, test } from "vitest"
import { z } from "zod"
import type { ToolSpec } from "../../core/tool.ts"
import { openDatabase } from "../../store/sqlite/database.ts"
import { openTestStore } from "../../store/testing/test-store.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { portsOver } from "../../testing/ports.ts"
import { sweep } from "./abandoned.ts"
import { callTool } from "../call.ts"
import { expectTicket } from "../testing.ts"

/** A confirmed path: the guard asks about it, and quotes it. */
const probing = { agentId: "operator", tool: "probe", input: { path: ".env.hunter2" } }

function probe(permission: NonNullable<ToolSpec<never>["permission"]> = {}) {
  return tool({
    permission,
    input: z.object({ path: z.string() }) as never,
    touches: ({ path }: { path: string }) => [{ kind: "read", what: path }],
    preview: ({ path }: { path: string }) => `It reads ${path}.`,
    execute: () => "done",
  })
}

/** The row of a call in the store. */
async function rowOf(system: { dir: string }, callId: string): Promise<Record<string, unknown>> {
  const database = await openDatabase(`${system.dir}/quartermaster.db`)
  const row = database.prepare("select * from calls where id = ?").get(callId)
  database.close()
  return row as Record<string, unknown>
}

test.each([
  ["ran", { kind: "approve" }, "success"],
  ["was refused", { kind: "reject", reason: "No." }, "execution_rejected"],
] as const)("of a call that %s the row holds neither the input nor what it touched", async (_how, answer, status) => {
  const system = await openTestApp()
  system.registry.register(probe())
  const { callId } = expectTicket(await system.call(probing, { waitMs: 0 }))
  const before = await rowOf(system, callId)
  for (const part of ["input", "asks", "card", "preview"]) expect(before[part], part).toContain("hunter2")
  await system.approvals.answer(callId, answer, "ann")
  expect(await system.resume(callId)).toMatchObject({ status })
  const row = await rowOf(system, callId)
  expect(row["state"]).toBe("ended")
  expect(JSON.stringify(row)).not.toContain("hunter2")
})

test("of a call that nobody answered the row holds neither the input nor what it touched", async () => {
  let now = Date.now()
  const ports = await portsOver(await openTestStore(), { now: () => now })
  ports.tools.register(probe({ level: "sensitive" }))
  const { callId } = expectTicket(await callTool(probing, ports, { waitMs: 0 }))
  expect(JSON.stringify(await ports.calls.get(callId))).toContain("hunter2")
  now += 120_000
  await sweep(ports)
  const row = await ports.calls.get(callId)
  expect(row).toMatchObject({ state: "ended", result: { code: "approval_expired" } })
  expect(JSON.stringify(row)).not.toContain("hunter2")
})
