import { expect, test } from "vitest"
import { playedModel } from "../../../../agents/testing/played-model.ts"
import { plainStyle } from "../../../../lib/terminal-style.ts"
import { openTestApp } from "../../../../testing/test-app.ts"
import { slashActions } from "./slash-actions.ts"

test("/why shows the checks that passed with --all, as it says", async () => {
  const app = await openTestApp({}, { models: { played: playedModel(() => ({ say: "Hi." })) } })
  const useModel = () => Promise.resolve(undefined)
  const context = { app, agentId: "operator", conversationId: "c", model: "played", columns: 200, paint: plainStyle }
  const why = async (...words: string[]) => (await slashActions.why({ ...context, useModel }, words)).join("\n")
  expect(await why("sleep", "duration=1")).toMatch(/other checks passed; --all shows them\./)
  const all = await why("sleep", "duration=1", "--all")
  expect(all).toContain("pass  ")
  expect(all).not.toContain("--all")
})

test.each([
  ["without a price", undefined, "cost unknown: the model has no price."],
  ["that is free", { input: 0, output: 0 }, "cost $0.00."],
  ["with a price", { input: 1000, output: 0 }, "cost $0.0100."],
])("/cost says what a model %s has cost", async (_what, price, expected) => {
  const app = await openTestApp({}, { models: { played: playedModel(() => ({ say: "Hi." }), { price }) } })
  const { id } = await app.chain("operator", { durable: true }).run("Hello.")
  const context = { app, agentId: "operator", conversationId: id, model: "played", columns: 80 }
  const [row] = await slashActions.cost(
    { ...context, paint: plainStyle, useModel: () => Promise.resolve(undefined) },
    [],
  )
  expect(row).toBe(`1 answer, 0 calls, 10 tokens in, 5 out, ${expected}`)
})
