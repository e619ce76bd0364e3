import { expect, test } from "vitest"
import type { Finding } from "../../core/guard.ts"
import { facts, registered } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { guardAllowCheck } from "./guard-allow.ts"
import { guardAskCheck } from "./guard-ask.ts"
import { guardDenyCheck } from "./guard-deny.ts"
import { guardLevelCheck } from "./guard-level.ts"

const finding = (verdict: Finding["verdict"], source: string, more: Partial<Finding> = {}): Finding => ({
  verdict,
  reason: { check: "guard", source, code: `test_${verdict}`, sentence: "It was found." },
  ...more,
})
const findings = [
  finding("deny", "tools.hosts.deny[0]", { code: "host_denied" }),
  finding("deny", "protected paths"),
  finding("ask", "command"),
  finding("allow", "tools.shell.allow[1]"),
]

test("each guard check takes the findings of its verdict; a line of the configuration can be changed", () => {
  const call = facts({ findings })
  expect(lookAtCall(guardDenyCheck, call)).toMatchObject([
    {
      verdict: "deny",
      code: "test_deny",
      ending: "host_denied",
      fix: "Change tools.hosts.deny[0] in the configuration",
    },
    { verdict: "deny", code: "test_deny", fix: undefined },
  ])
  expect(lookAtCall(guardAskCheck, call)).toMatchObject([{ verdict: "ask", code: "test_ask", fix: undefined }])
  expect(lookAtCall(guardAllowCheck, call)).toMatchObject([
    { verdict: "allow", code: "test_allow", fix: "Change tools.shell.allow[1] in the configuration" },
  ])
})

test("an ask that an allow rule may lift asks at the level of the tool, and not as a binding ask", () => {
  const call = facts({ findings: [finding("ask", "tools.shell.mode", { isLiftable: true, sandboxed: true })] })
  expect(lookAtCall(guardLevelCheck, call)).toMatchObject([{ verdict: "ask", code: "test_ask" }])
  expect(lookAtCall(guardAskCheck, call)).toEqual([])
  expect(lookAtCall(guardLevelCheck, facts({ findings }))).toEqual([])
})

test.each([
  [{}, 1],
  [{ requireExecutionApproval: true }, 0],
  [{ requireConfirmation: true }, 0],
])("that bubblewrap holds the call counts unless a person wants to be asked: %j", (permission, count) => {
  const tool = registered({ permission: { level: "sensitive", ...permission } })
  const call = facts({ tool, findings: [finding("allow", "tools.shell.mode", { sandboxed: true })] })
  expect(lookAtCall(guardAllowCheck, call)).toHaveLength(count)
})
