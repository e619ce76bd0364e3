import { expect, test } from "vitest"
import { builtinGroups } from "../../registry/builtin-groups.ts"
import { openTeam, textOf } from "./testing/open-team.ts"

const roles = [
  ...[[], ...builtinGroups.map(([id]) => [id])].flatMap((toolGroups) =>
    (["native", "claude", "classic"] as const).map((dialect) => ({ toolGroups, dialect })),
  ),
  { toolGroups: undefined, dialect: "native" as const },
].map(({ toolGroups, dialect }, place) => ({ name: `r${place}`, rolePrompt: "Work.", toolGroups, dialect }))

test("the instructions of every role name only tools that its agents have, by the names their models know", async () => {
  const config = {
    org: { roles, agents: roles.map(({ name }) => ({ id: name, role: name })) },
    rules: [],
  }
  const app = await openTeam(() => ({ say: "Hello." }), config)
  const running = app.society.start()
  for (const { name } of roles) await app.society.message({ to: name, payload: "Hello?", by: "ada" })
  await running.idle()
  expect(app.model.requests).toHaveLength(roles.length)
  const everyName = new Set(
    roles.flatMap(({ name }) => app.mcpTools(name).map((tool) => tool.name)).concat([...app.registry.names()]),
  )
  let guides = 0
  for (const { messages, tools = [] } of app.model.requests) {
    const own = new Set(tools.map(({ name }) => name))
    const words = new Set(textOf(messages[0]!).match(/[A-Za-z]\w+/g))
    const named = [...everyName].filter((name) => /[_A-Z]/.test(name) && words.has(name))
    expect(named.filter((name) => !own.has(name))).toEqual([])
    if (named.length > 0) guides++
  }
  expect(guides).toBeGreaterThan(10)
})
