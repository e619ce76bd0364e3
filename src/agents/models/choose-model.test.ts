import { expect, test } from "vitest"
import { openTestApp } from "../../testing/test-app.ts"
import { modelOf } from "../testing/played-model.ts"
import { chooseModel } from "./choose-model.ts"
import { openModels } from "./open-models.ts"

const named = (name: string) => ({ ...modelOf({ say: `I am ${name}.` }), name })
const own = Object.fromEntries(["first", "second", "third"].map((name) => [name, named(name)]))
const role = { llmServiceId: "second" }

test.each([
  ["the one that is asked for", { chosen: "third", before: "first", role }, "third"],
  ["a model that is given itself", { chosen: named("mine"), before: "first", role }, "mine"],
  ["that of the conversation so far", { before: "third", role }, "third"],
  ["that of the role, where the former one is gone", { before: "gone", role }, "second"],
  ["that of the role", { role }, "second"],
  ["the default, where the role names none", { role: { llmServiceId: null } }, "first"],
])("an agent talks to %s", (_which, choice, name) => {
  const models = openModels({ settings: {}, default: "first", environment: {}, own })
  expect(chooseModel(models, choice).name).toBe(name)
})

test("a chain and an agent that works by itself have the model of the role", async () => {
  const org = { roles: [{ name: "dev", llmServiceId: "second" }], agents: [{ id: "dev", role: "dev" }] }
  const app = await openTestApp({ org, models: { default: "first" } }, { models: own })
  expect(await app.chain("dev").run("Who are you?")).toMatchObject({ content: "I am second." })
  expect(await app.chain("operator").run("Who are you?")).toMatchObject({ content: "I am first." })
  app.society.start()
  const { id } = await app.society.message({ to: "dev", payload: "Who are you?", by: "ada" })
  expect(await app.society.answer(id)).toMatchObject({ payload: "I am second." })
})
