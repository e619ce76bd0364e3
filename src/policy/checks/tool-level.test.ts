import { expect, test } from "vitest"
import type { ToolPermission } from "../../core/permission.ts"
import { facts, registered } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { toolLevelCheck } from "./tool-level.ts"

const codeFor = (permission: ToolPermission) =>
  lookAtCall(toolLevelCheck, facts({ tool: registered({ effect: "write", permission }) }))[0]?.code

test.each<[ToolPermission, string | undefined]>([
  [{ level: "public" }, undefined],
  [{ level: "moderate" }, "tool_moderate"],
  [{ level: "sensitive" }, "tool_sensitive"],
  [{ level: "public", requireExecutionApproval: true }, "tool_wants_approval"],
  [{ level: "moderate", requireExecutionApproval: true }, "tool_wants_approval"],
  [{ level: "sensitive", requireExecutionApproval: true }, "tool_sensitive"],
  [{ level: "public", requireExecutionApproval: false }, undefined],
  [{ level: "moderate", requireExecutionApproval: false }, undefined],
  [{ level: "sensitive", requireExecutionApproval: false }, "tool_sensitive"],
  [{ level: "public", dangerous: true }, "tool_sensitive"],
  [{ level: "public", requireConfirmation: true, requireExecutionApproval: false }, "tool_sensitive"],
  [{}, "tool_moderate"],
])("%j asks with the code %s", (permission, code) => {
  expect(codeFor(permission)).toBe(code)
})

test("the ask of a level is not binding, and an allow rule is its fix", () => {
  const [ask] = lookAtCall(toolLevelCheck, facts({ tool: registered({ name: "set_env", effect: "write" }) }))
  expect(ask).toMatchObject({
    verdict: "ask",
    check: "level",
    source: "system:set_env@1.0.0",
    params: { tool: "set_env" },
    fix: `qm rules add '{"allow":"set_env","agent":"ada","because":"<why>"}'`,
  })
  expect(ask).not.toHaveProperty("binding")
})

test("a call that only reads with this input is not asked for, unless a person wants to be asked", () => {
  const onlyReads = (input: unknown) => (input as { preview?: boolean }).preview === true
  const count = (permission: ToolPermission, preview: boolean) => {
    const tool = registered({ effect: "write", permission, onlyReads })
    return lookAtCall(toolLevelCheck, facts({ tool, input: { preview } })).length
  }
  expect(count({ level: "sensitive" }, true)).toBe(0)
  expect(count({ level: "sensitive" }, false)).toBe(1)
  expect(count({ level: "sensitive", requireExecutionApproval: true }, true)).toBe(1)
})
