import { expect, test } from "vitest"
import { tool } from "../../testing/test-app.ts"
import { playedModel } from "../testing/played-model.ts"
import { openTeam, textOf } from "./testing/open-team.ts"

/** A model of a chat, which writes to tess whenever the person says "Ask". Nobody wakes its conversation. */
const chatModel = () =>
  playedModel(({ messages }) =>
    messages.at(-1)!.role === "user" && textOf(messages.at(-1)!).startsWith("Ask")
      ? { calls: [{ name: "send_message", input: { to: "tess", payload: "Well?" } }] }
      : { say: "Good." },
  )

test("a message to an agent whose chat is over wakes it in its own conversation, and so does not stand still", async () => {
  const app = await openTeam(({ agentId, last }) =>
    agentId === "tess" && last.includes("Is it green?")
      ? { calls: [{ name: "send_message", input: { to: "dev", payload: "Is it?" } }] }
      : { say: `Said ${agentId}.` },
  )
  const chat = app.chain("dev", { durable: true, wakes: false, userId: "ada", model: chatModel() })
  await chat.run("Ask tess.")
  const running = app.society.start()
  await running.idle()
  await chat.resume()
  const { id } = await app.society.message({ to: "tess", payload: "Is it green?", by: "ada" })
  await running.idle()
  const [asked] = await app.org.inbox("dev").then((all) => all.filter(({ kind }) => kind === "message"))
  expect(asked).toMatchObject({ from: "tess", payload: "Is it?" })
  expect(asked!.target).not.toBe(chat.id)
  expect((await app.society.answer(id, { signal: AbortSignal.timeout(1) }))?.payload).toBe("Said tess.")
})

test("an agent that works for a chat writes back into it", async () => {
  const app = await openTeam(({ round }) =>
    round === 0 ? { calls: [{ name: "send_message", input: { to: "dev", payload: "Which?" } }] } : { say: "Green." },
  )
  const chat = app.chain("dev", { durable: true, wakes: false, userId: "ada", model: chatModel() })
  await chat.run("Ask tess.")
  await app.society.start().idle()
  expect(await app.org.inbox("dev")).toMatchObject([{ payload: "Which?", target: chat.id, hops: 2 }])
})

test("what a person says in a chat begins to count hops anew", async () => {
  const app = await openTeam(({ agentId }) => ({ say: `Said ${agentId}.` }))
  const running = app.society.start()
  const chat = app.chain("dev", { durable: true, wakes: false, userId: "ada", model: chatModel() })
  for (const text of ["Ask one.", "Ask two.", "Ask three."]) {
    await chat.run(text)
    await running.idle()
    await chat.resume()
  }
  expect((await app.org.inbox("tess")).map(({ hops }) => hops)).toEqual([1, 1, 1])
})

test("a message that comes in the middle of a run takes no hops from it", async () => {
  const app = await openTeam(({ agentId, last }) => {
    if (agentId === "tess" && last.includes("Go.")) return { calls: [{ name: "send_message", input: { to: "dev", payload: "Work." } }] } // prettier-ignore
    if (agentId === "dev" && last.includes("Work.")) return { calls: [{ name: "hear" }] }
    if (agentId === "dev" && last.includes("Hello from Ada.")) return { calls: [{ name: "send_message", input: { to: "root", payload: "Well?" } }] } // prettier-ignore
    return { say: "Done." }
  })
  const hear = () => app.society.message({ to: "dev", payload: "Hello from Ada.", by: "ada" }).then(() => "heard")
  app.registry.register(tool({ name: "hear", effect: "read", execute: hear }))
  await app.society.message({ to: "tess", payload: "Go.", by: "ada" })
  await app.society.start().idle()
  expect((await app.org.inbox("root")).filter(({ kind }) => kind === "message")).toMatchObject([{ hops: 2 }])
})
