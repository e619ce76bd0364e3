import { expect, test } from "vitest"
import { dataFolder, deferred } from "../../testing/test-app.ts"
import type { PlayedTurn } from "../testing/played-model.ts"
import { openTeam } from "./testing/open-team.ts"

test("a process leaves alone what another one works on, however often it looks", async () => {
  const dir = await dataFolder()
  const asked = deferred()
  const answer = deferred<PlayedTurn>()
  const first = await openTeam(() => (asked.resolve(), answer.promise), { data: { dir } })
  const second = await openTeam(() => ({ say: "The second answers." }), { data: { dir } })
  first.society.start()
  const { id } = await first.society.message({ to: "dev", payload: "Hello?", by: "ada" })
  await asked.promise
  const other = second.society.start()
  await other.idle()
  await other.idle()
  expect(second.model.requests).toEqual([])
  answer.resolve({ say: "The first answers." })
  expect((await second.society.answer(id))?.payload).toBe("The first answers.")
  expect(await second.org.inbox("user")).toHaveLength(1)
})
