import { expect, test } from "vitest"
import type { PendingItem } from "../../core/approval.ts"
import { silentLogger } from "../../core/logger.ts"
import type { QuartermasterOptions } from "../../app/quartermaster.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { callbackAdapter } from "./callback.ts"
import { samplePendingItem } from "./testing.ts"
import { waitingLine } from "./waiting-line.ts"

const here = "npx qm -C /srv/app approvals"

test.each<[Partial<PendingItem>, string, string]>([
  [{}, "/srv/app/.quartermaster", `ann wants to call probe. Answer with: ${here} approve c1`],
  [{ revision: 2 }, "/srv/app/.quartermaster", `ann wants to call probe. Answer with: ${here} approve c1 --revision 2`],
  [
    { revision: 2, note: "bob approved revision 1. Since then a\nb has changed." },
    "/srv/app/.quartermaster",
    `ann wants to call probe. bob approved revision 1. Since then a\\u{a}b has changed. Answer with: ${here} approve c1 --revision 2`,
  ],
  [
    { kind: "result" },
    "/srv/app/.quartermaster",
    `the result of probe for ann is held. Answer with: ${here} release c1`,
  ],
  [
    { kind: "question", agentId: "an\nn" },
    "/srv/app/.quartermaster",
    `"an\\nn" asks a question with probe. Answer with: ${here} answer c1 "…"`,
  ],
  [{}, "/srv/my data", `ann wants to call probe. Answer with: npx qm --data '/srv/my data' approvals approve c1`],
])("the line for %j in %s names what waits and the command", (more, dataDir, line) => {
  expect(waitingLine(samplePendingItem(more), dataDir, "npx qm")).toBe(`Waiting for a person: ${line}`)
})

/** Makes a call that waits, then a held result, and returns what each way of telling got. */
async function told(options: (lines: string[]) => QuartermasterOptions, unattended: "wait" | "reject" = "wait") {
  const lines: string[] = []
  const app = await openTestApp({ approvals: { unattended } }, { onWaiting: undefined as never, ...options(lines) })
  app.registry.register(
    tool({ permission: { level: "moderate", requireResultApproval: "always" }, execute: () => "ran" }),
  )
  const call = () => app.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 0 })
  const ended = await call()
  if ("state" in ended) {
    await app.approvals.answer(ended.callId, { kind: "approve" }, "ann")
    await call()
  }
  return lines
}

const both = [/ wants to call probe\. .* approvals approve /, / is held\. .* approvals release /].map((pattern) =>
  expect.stringMatching(pattern),
)

test.each<[string, (lines: string[]) => QuartermasterOptions]>([
  ["print", (lines) => ({ print: (text) => lines.push(text) })],
  [
    "logger",
    (lines) => ({ logger: { ...silentLogger, warn: (text) => lines.push(text) }, print: () => expect.fail() }),
  ],
])(
  "a call that waits and nobody is asked about is told once to %s, and so is its held result",
  async (_to, options) => {
    expect(await told(options)).toEqual(both)
  },
)

test("a host that listens itself is told what waits instead", async () => {
  const kinds = await told((lines) => ({ onWaiting: ({ kind }) => lines.push(kind), print: () => expect.fail() }))
  expect(kinds).toEqual(["call", "result"])
})

test("nothing is told where an adapter asks or nobody is waited for", async () => {
  const asks = callbackAdapter({ onExecution: () => true, onResult: () => true })
  expect(await told((lines) => ({ approvals: asks, print: (text) => lines.push(text) }))).toEqual([])
  expect(await told((lines) => ({ print: (text) => lines.push(text) }), "reject")).toEqual([])
})
