import fc from "fast-check"
import { expect, test } from "vitest"
import { chainTurns, messagesIn } from "../context/turns.ts"
import { modelOf } from "../testing/played-model.ts"
import { openTestApps } from "../../testing/test-app.ts"
import { newId } from "../../lib/new-id.ts"

const org = { roles: [{ name: "dev" }], agents: ["a", "b", "c"].map((id) => ({ id, role: "dev" })) }

/** A step of the test: somebody writes, the society runs until it is done, or is stopped in the middle. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant("send" as const),
    to: fc.constantFrom("a", "b", "c"),
    by: fc.constantFrom("ada", "eve"),
  }),
  fc.record({ kind: fc.constant("run" as const) }),
  fc.record({ kind: fc.constant("stop" as const) }),
)

test("law: however often the society is stopped in the middle, each message is delivered once and answered once", async () => {
  const { openApp } = await openTestApps()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const task = newId()
      const sent: string[] = []
      for (const each of [...steps, { kind: "run" as const }]) {
        const app = await openApp({ org }, { models: { played: modelOf({ say: "Done." }) } })
        if (each.kind === "send") {
          const { to, by } = each
          sent.push((await app.society.message({ to, by, payload: `message ${sent.length}`, taskId: task })).id)
          continue
        }
        const running = app.society.start()
        if (each.kind === "run") await running.idle()
        await running.stop()
      }
      const app = await openApp({ org }, { models: { played: modelOf({ say: "Done." }) } })
      const delivered: string[] = []
      for (const agentId of ["a", "b", "c"]) {
        const { conversations } = await app.conversations.list({ agentId })
        for (const { id, settings } of conversations) {
          if ((settings as { taskId?: string }).taskId !== task) continue
          const turns = chainTurns(await app.conversations.turns(id))
          delivered.push(...messagesIn(turns).map((message) => message.id))
        }
      }
      expect(delivered.toSorted()).toEqual(sent.toSorted())
      const answers = (await app.org.inbox("user")).filter(({ taskId }) => taskId === task)
      expect(answers.map(({ about }) => about).toSorted()).toEqual(sent.toSorted())
    }),
    { numRuns: 15 },
  )
})
