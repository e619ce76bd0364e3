import { expect, test } from "vitest"
import { tool, until } from "../../../testing/test-app.ts"
import { follow, serving } from "./testing.ts"

test("an agent is told of its own calls and messages only, and of no change of the organisation", async () => {
  const { app, served, token } = await serving()
  const stream = await follow(served.url, { authorization: `Bearer ${await token("ada")}` })
  const submit = (agentId: string) => app.call({ agentId, tool: "send", input: {} }, { waitMs: 0 })
  const ofBob = await submit("bob")
  await app.org.sendMessage({ from: "ada", to: "bob", payload: "for bob" })
  await app.org.createPerson({ id: "sue" }, { kind: "person", id: "someone" })
  await app.org.sendMessage({ from: "bob", to: "ada", payload: "for ada" })
  const own = await submit("ada")
  await until(() => stream.text.includes(own.callId), "its own call is told")
  await until(() => stream.text.includes("event: message"), "its message is told")
  expect(stream.text).not.toContain(ofBob.callId)
  expect(stream.text.match(/^event: message$/gm)).toHaveLength(1)
  expect(stream.text).not.toContain("event: document")
})

test("output that only people may see needs the scope approve, and agents never get it", async () => {
  const { app, served, signIn, token } = await serving({}, [{ id: "ray", scopes: ["read"] }])
  const says = (name: string, held: boolean) =>
    tool({
      name,
      effect: "read",
      ...(held ? { permission: { requireResultApproval: "always" } } : {}),
      execute: (_input: never, { emit }: { emit(chunk: unknown): void }) => {
        emit(`said by ${name}`)
        return 1
      },
    })
  app.registry.registerMany([says("open", false), says("secret", true)])
  const streams = {
    pat: await follow(served.url, (await signIn("pat", false)).session),
    ray: await follow(served.url, (await signIn("ray", false)).session),
    ada: await follow(served.url, { authorization: `Bearer ${await token("ada")}` }),
    bob: await follow(served.url, { authorization: `Bearer ${await token("bob")}` }),
  }
  await app.call({ agentId: "ada", tool: "secret", input: {} }, { waitMs: 0 })
  await app.call({ agentId: "ada", tool: "open", input: {} })
  await app.call({ agentId: "bob", tool: "look", input: {} })
  for (const name of ["pat", "ray", "ada"] as const)
    await until(() => streams[name].text.includes("said by open"), `${name} is told what is for all`)
  await until(() => streams.bob.text.includes("event: audit"), "bob is told of his own call")
  const toldSecret = Object.entries(streams).flatMap(([name, { text }]) =>
    text.includes("said by secret") ? name : [],
  )
  expect(toldSecret).toEqual(["pat"])
  expect(streams.bob.text).not.toContain("said by open")
})
