import { expect, test } from "vitest"
import { runWithApp } from "../../interfaces/cli/testing.ts"
import { societyConversation } from "../../core/society-conversation.ts"
import { dataFolder, tool } from "../../testing/test-app.ts"
import { openTeam, textOf, type Answer } from "./testing/open-team.ts"

type App = Awaited<ReturnType<typeof openTeam>>

/** More rounds than a chain has by default: the society allows more. */
const rounds = 7

const answer: Answer = ({ round }) =>
  round < rounds ? { calls: [{ name: "send", input: { round } }] } : { say: "All is sent." }

/** A cold process on the same data, in which a person has approved what waited. */
async function openTeamAt(dir: string, ran: number[]) {
  const app = await openTeam(answer, { data: { dir }, rules: [] })
  const input = { type: "object", properties: { round: { type: "number" } } } as const
  const execute = ({ round }: { round: number }) => void ran.push(round)
  app.registry.register(tool({ name: "send", effect: "communicate", input: input as never, execute: execute as never }))
  return app
}

async function approve(app: App) {
  for (const { callId } of await app.approvals.list()) await app.approvals.answer(callId, { kind: "approve" }, "ann")
}

const ways: [string, (app: App, id: string) => Promise<unknown>][] = [
  ["app.chain", (app, id) => app.chain("dev", { id }).resume()],
  ["app.conversations", async (app, id) => (await app.conversations.open(id))!.resume()],
  ["qm run --resume", (app, id) => resumeAtTerminal(app, id)],
]

function resumeAtTerminal(app: App, id: string) {
  return runWithApp({}, ["run", "--resume", id, "--wait"], { runtime: { openApp: () => Promise.resolve(app) } })
}

test.each(ways)(
  "a conversation of the society that %s resumes keeps its task, its instructions and its limits",
  async (_name, resume) => {
    const dir = await dataFolder()
    const ran: number[] = []
    const first = await openTeamAt(dir, ran)
    const running = first.society.start()
    await first.society.message({ to: "dev", payload: "Send it.", by: "ada", taskId: "t1" })
    await running.idle()
    await first.close()

    const second = await openTeamAt(dir, ran)
    const id = societyConversation("dev", "t1")
    const answering = setInterval(() => void approve(second).catch(() => {}), 10)
    await resume(second, id).finally(() => clearInterval(answering))
    expect(ran).toEqual(Array.from({ length: rounds }, (_, round) => round))
    const [system] = second.model.requests[0]!.messages
    expect(textOf(system!)).toMatch(/You are agent dev with the role dev\..* You work on task t1\./)
    const later = await openTeamAt(dir, ran)
    expect((await later.conversations.turns(id)).at(-1)).toMatchObject({ kind: "end", body: { status: "completed" } })
    expect((await later.conversations.get(id))!.settings).toMatchObject({ society: true, taskId: "t1" })
  },
)
