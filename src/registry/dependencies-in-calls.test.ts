import { expect, test } from "vitest"
import { deferred, openTestApp, tool } from "../testing/test-app.ts"

test("a tool whose need comes and goes is listed, called and explained accordingly", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ name: "cake", dependsOn: ["oven"], execute: () => "cake" }))
  const call = () => system.call({ agentId: "operator", tool: "cake", input: {} })
  expect(await call()).toMatchObject({
    code: "tool_not_available",
    error: expect.stringContaining(
      "Tool cake needs oven, which nobody has registered. It is off until then.",
    ) as string,
  })
  const why = await system.why({ agentId: "operator", tool: "cake" })
  expect(why).toMatchObject({
    reasons: [{ check: "dependency", source: "system:cake@1.0.0" }],
    change: ["Load the plugin, module or server that has oven"],
  })
  system.registry.register(tool({ name: "oven", execute: () => "hot" }))
  expect(await call()).toMatchObject({ result: "cake" })
  system.registry.unregister("oven")
  expect((await call()).code).toBe("tool_not_available")
})

test("a batch is made in the order of needs, whatever the order of the requests, and answered in theirs", async () => {
  const system = await openTestApp()
  const story: string[] = []
  const hot = deferred()
  const heated = async () => {
    await hot.promise
    story.push("oven")
  }
  const pour = () => {
    story.push("tea")
    hot.resolve()
  }
  system.registry.registerMany([
    tool({ name: "cake", dependsOn: ["oven"], execute: () => story.push("cake") }),
    tool({ name: "oven", execute: heated }),
    tool({ name: "tea", execute: pour }),
  ])
  const batch = ["cake", "oven", "tea"].map((name) => ({ agentId: "operator", tool: name, input: {} }))
  const results = await system.callMany(batch)
  expect(results.map(({ toolName, success }) => [toolName, success])).toEqual(batch.map((one) => [one.tool, true]))
  expect(story).toEqual(["tea", "oven", "cake"])
})
