import { expect, test } from "vitest"
import { silentLogger } from "../core/logger.ts"
import { openTestApp } from "../testing/test-app.ts"

const examples = { match: [{ input: { command: "rm x" } }], miss: [{ input: { command: "ls" } }] }
const rule = { deny: "run_command", touching: "command:rm *", because: "Use delete_file.", examples }

test("a rule with a command as its example is tried as soon as the app is open", async () => {
  const warned: string[] = []
  const logger = { ...silentLogger, warn: (text: string) => void warned.push(text) }
  const app = await openTestApp({ rules: [rule] }, { logger })
  expect(app.rules.flaws()).toEqual([])
  expect((await app.call({ agentId: "operator", tool: "current_time", input: {} })).success).toBe(true)
  expect(warned).toEqual([])
})

test("such a rule can be added and simulated in an app that had none", async () => {
  const app = await openTestApp()
  expect((await app.rules.simulate([rule], {})).flaws).toEqual([])
  const wrong = { ...rule, examples: { match: examples.miss } }
  await expect(app.rules.add(wrong, "ann")).rejects.toThrow("should match the rule")
  expect(await app.rules.add(rule, "ann")).toMatchObject({ verdict: "deny" })
  expect(app.rules.flaws()).toEqual([])
})
