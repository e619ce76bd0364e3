import { expect, test } from "vitest"
import { openCommandApp } from "./testing/command.ts"

test("of very long output the beginning and the end come back, and all of it is an artifact", async () => {
  const { system, call } = await openCommandApp()
  const result = await call("run_command", {
    command: "echo first; yes 0123456789 | head -c 22000000; echo; echo last",
  })
  const { stdout, dropped, artifactRef } = result.result as { stdout: string; dropped: number; artifactRef: string }
  expect(stdout.startsWith("first\n0123456789\n")).toBe(true)
  expect(stdout.endsWith("\nlast\n")).toBe(true)
  expect(dropped).toBeGreaterThan(1_000_000)
  const kept = await system.call({ agentId: "dev", tool: "get_artifact", input: { ref: artifactRef } })
  expect((kept.result as { content: string }).content.length).toBe(22_000_012)
})
